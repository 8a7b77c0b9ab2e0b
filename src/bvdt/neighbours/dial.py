"""How much to spend: the least effort that reaches the recall asked for on rows with exact answers.

One half of the sampled rows chooses, the other tells what was reached: the choice does not flatter it.

A true neighbour is found if its cell is among those that the row is compared with, and, where points were
projected, if the estimate ranks it high enough. Both are known for every sampled row and true neighbour
without a search: the number of points in the cells up to its own, and its rank.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float, Int
from ..lifting import Lifted
from .cells import CellIndex, Effort, taken
from .exact import sampled_lists
from .projection import Projection, principal
from .recall import Recall, count_hits, surely

SAMPLE = 256  # rows in each half
MORE = 1.25  # effort over the last, while the recall is not reached
FEW = 64  # coordinates that are compared as they are
RANKS = (32, 64, 128, 256)  # numbers of directions tried instead
_TRIED = 64  # rows that projections are tried on
_LONGEST = 160  # lists ranked again, over which a projection is too coarse
_FIRST_PAIRS = 4000  # what a row is usually compared with
# Nanoseconds per coordinate, measured at 784: of a pair in single precision, of one ranked again.
_COMPARED, _RANKED = 0.04, 1.0


@dataclass(frozen=True, eq=False)
class Truth:
    """Sampled rows and their exact lists."""

    rows: NDArray[np.intp]  # (m,)
    indices: Int  # (m, k)
    divergences: Float  # (m, k)

    @classmethod
    def of(cls, lifted: Lifted, k: int, rng: np.random.Generator) -> Truth:
        """Of 2·``SAMPLE`` rows."""
        rows = sampled_rows(lifted.n_points, rng)
        return cls(rows, *sampled_lists(lifted, rows, k))

    @classmethod
    def by_cells(cls, index: CellIndex, k: int, rng: np.random.Generator) -> Truth:
        """The same by a search through all cells, somewhat longer lists ranked again: faster."""
        n = index.lifted.n_points
        rows, width = sampled_rows(n, rng), min(2 * k, n - 1)
        found = index.search_own(rows, width, Effort(n, width))
        return cls(rows, found[0][:, :k], found[1][:, :k])

    @property
    def k(self) -> int:
        return int(self.indices.shape[1])

    def halves(self) -> tuple[Truth, Truth]:
        """The rows that choose, and those that tell."""
        middle = len(self.rows) // 2
        first, second = slice(None, middle), slice(middle, None)
        return self._part(first), self._part(second)

    def _part(self, part: slice) -> Truth:
        return Truth(self.rows[part], self.indices[part], self.divergences[part])

    def hits(self, divergences: Float) -> NDArray[np.intp]:  # (m, k) -> (m,)
        """How many of each row's true neighbours lists of these rows hold."""
        return count_hits(divergences, self.divergences)


def sampled_rows(n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Of 2·``SAMPLE`` points, or of all if they are fewer, in random order."""
    return rng.choice(n, min(2 * SAMPLE, n), replace=False).astype(np.intp)


def choose_projection(
    lifted: Lifted, truth: Truth, recall: float, rng: np.random.Generator
) -> tuple[tuple[Projection, Lifted] | None, int]:
    """The cheapest projection that keeps the true neighbours, with the points in it, and how many must be
    ranked again; or None, k.

    Half of the misses that the recall allows are the projection's.
    """
    d, k = lifted.n_features, truth.k
    best: tuple[float, int, int] = (_FIRST_PAIRS * d * _COMPARED, 0, k)
    widest = principal(lifted, min(RANKS[-1], d), rng)
    some = truth._part(slice(None, _TRIED))
    projected = widest(lifted)
    lists = estimated_ranks(projected, some, [r for r in RANKS if 2 * r <= d])
    for r, rank in lists.items():
        ranked = max(k, int(np.quantile(rank, 1 - (1 - recall) / 2, method="higher")) + 1)
        cost = _FIRST_PAIRS * r * _COMPARED + ranked * d * _RANKED
        if ranked < _LONGEST and cost < best[0]:
            best = cost, r, ranked
    if not best[1]:
        return None, best[2]
    projection = widest.leading(best[1])
    return (projection, projection.leading_of(projected)), best[2]


def estimated_ranks(
    projected: Lifted, truth: Truth, directions: list[int]
) -> dict[int, NDArray[np.intp]]:  # (m, k) each
    """How many others each number of directions puts before a true neighbour; ``_LONGEST`` is many."""
    d = projected.w + projected.u[truth.rows, None]
    ranks, done, each = {}, 0, np.arange(len(d))
    for r in directions:
        d -= projected.X[truth.rows, done:r] @ projected.H[:, done:r].T
        done = r
        d[each, truth.rows] = np.inf
        most = min(_LONGEST, d.shape[1] - 1)
        nearest = np.sort(np.partition(d, most - 1, axis=1)[:, :most], axis=1)
        true = np.take_along_axis(d, truth.indices.astype(np.intp), axis=1)
        ranks[r] = np.stack([np.searchsorted(*pair) for pair in zip(nearest, true, strict=True)])
    return ranks


def needed_pairs(index: CellIndex, truth: Truth) -> NDArray[np.intp]:  # (m, k)
    """Points that a row is compared with until the cell of each true neighbour has come."""
    size = np.diff(index.bounds)
    scores = index.scores(taken(index.points, truth.rows), slice(None))
    order = np.argsort(scores, axis=1, kind="stable")
    held = np.cumsum(size[order], axis=1) - size[order] + 1  # a cell comes while fewer points are held
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(order.shape[1])[None, :], axis=1)
    return np.asarray(np.take_along_axis(held, np.take_along_axis(place, index.cell_of[truth.indices], 1), 1))


def choose_effort(
    index: CellIndex, truth: Truth, needed: NDArray[np.intp], ranked: int, recall: float
) -> Effort:
    """The least effort that surely reaches the recall on these rows; ``needed`` as by ``needed_pairs``."""
    k, n = truth.k, index.lifted.n_points
    tried = np.quantile(needed, np.linspace(recall, 1, 20), method="higher")
    sure = (pairs for pairs in tried if surely((needed <= pairs).sum(axis=1), k) >= recall)
    effort = Effort(int(next(sure, tried[-1])), ranked)
    while True:
        found = index.search_own(truth.rows, k, effort)[1]
        if surely(truth.hits(found), k) >= recall or (effort.pairs >= n and _ranks_all(index, effort)):
            return effort
        effort = more(effort, n)


def more(effort: Effort, n: int) -> Effort:
    """The next effort."""
    return Effort(min(int(MORE * effort.pairs) + 1, n), int(1.25 * effort.ranked) + 1)


def _ranks_all(index: CellIndex, effort: Effort) -> bool:
    return index.projection is None or effort.ranked >= index.lifted.n_points - 1


def measured(index: CellIndex, truth: Truth, effort: Effort) -> Recall:
    """What the effort reaches on these rows."""
    return Recall.of(truth.hits(index.search_own(truth.rows, truth.k, effort)[1]), truth.k)
