"""How much to spend: the least effort that reaches the recall asked for on rows with exact answers.

One half of the sampled rows chooses, the other tells what was reached: the choice does not flatter it.

A true neighbour is found if its cell is among those that the row is compared with, and, where points were
projected, if the estimate ranks it high enough. Both are known for every sampled row and true neighbour
without a search: the number of points in the cells up to its own, and its rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float, Int
from ..lifting import Lifted
from .cells import CellIndex, Effort, taken
from .exact import exact_lists, sampled_lists
from .projection import Estimates, Growing, Projection, principal
from .recall import Recall, count_hits, sure_share, surely

SAMPLE = 256  # rows in each half
_MANY = 1000  # points per sampled row, from which on up to twice as many rows are
MORE = 1.12  # effort over the last, while the recall is not reached
FEW = 64  # coordinates that are compared as they are
RANKS = (31, 47, 63, 95, 127, 191, 255)  # numbers of directions tried instead
_TOGETHER = 12  # sampled rows compared with all centres
_FIRST_DIRECTIONS = 127  # found at once; more if they pay
_TRIED = 32  # rows that projections are tried on
_AT_ONCE = 32  # of them
_REPRESENTATIVES = 15_000  # points that projections are tried on
_COMPLETE = 1000  # estimates of a row, among which all of its nearest are as a rule
_LONGEST = 160  # lists ranked again, over which a projection is too coarse
_FIRST_PAIRS = 2800  # what a row is usually compared with, links of links among them
# Nanoseconds, measured at 784: of a pair's coordinate in single precision, of one in double precision when
# lists are ranked again, of a place in a list, of a coordinate times a direction when points are projected.
_COMPARED, _RANKED, _LISTED, _PROJECTED = 0.06, 0.3, 600.0, 0.13


@dataclass(frozen=True, eq=False)
class Truth:
    """Sampled rows and their exact lists."""

    rows: NDArray[np.intp]  # (m,)
    indices: Int  # (m, k)
    divergences: Float  # (m, k)
    ranks: NDArray[np.intp] | None = None  # (m, k) how many others an estimate puts before each, if known

    @classmethod
    def of(cls, lifted: Lifted, k: int, rng: np.random.Generator) -> Truth:
        """Of 2·``SAMPLE`` rows."""
        rows = sampled_rows(lifted.n_points, rng)
        return cls(rows, *sampled_lists(lifted, rows, k))

    @classmethod
    def of_few(cls, lifted: Lifted, k: int, rng: np.random.Generator) -> Truth:
        """Of the rows that projections are tried on."""
        rows = sampled_rows(lifted.n_points, rng)[:_TRIED]
        return cls(rows, *exact_lists(lifted, lifted, k, rows, rows))

    @classmethod
    def by_bounds(cls, index: CellIndex, k: int, rng: np.random.Generator) -> Truth:
        """The same by estimates that no divergence is below: a list whose last is above the k-th is complete.

        Rows whose lists are not are compared with all.
        """
        lifted, n = index.lifted, index.lifted.n_points
        rows, width = sampled_rows(n, rng), min(_COMPLETE, n - 1)
        listed, bounds = index.compare_own(rows, width, n, _shared_homes(index.cell_of[rows]))
        indices, divergences = index.finished(rows, listed, bounds, k)
        short = divergences[:, -1] >= bounds[:, -1]
        if short.any():
            indices[short], divergences[short] = exact_lists(lifted, lifted, k, rows[short], rows[short])
        return cls(rows, indices, divergences, _positions(indices, listed))

    @classmethod
    def by_cells(cls, index: CellIndex, k: int, rng: np.random.Generator) -> Truth:
        """The same by a search through all cells, somewhat longer lists ranked again: faster."""
        n = index.lifted.n_points
        rows, width = sampled_rows(n, rng), min(2 * k, n - 1)
        found = index.compare_own(rows, width, n, _shared_homes(index.cell_of[rows]))
        indices, divergences = index.finished(rows, *found, k)
        return cls(rows, indices, divergences)

    @property
    def k(self) -> int:
        return int(self.indices.shape[1])

    def halves(self) -> tuple[Truth, Truth]:
        """The rows that choose, and those that tell."""
        middle = len(self.rows) // 2
        first, second = slice(None, middle), slice(middle, None)
        return self._part(first), self._part(second)

    def _part(self, part: slice) -> Truth:
        ranks = None if self.ranks is None else self.ranks[part]
        return Truth(self.rows[part], self.indices[part], self.divergences[part], ranks)

    def hits(self, divergences: Float) -> NDArray[np.intp]:  # (m, k) -> (m,)
        """How many of each row's true neighbours lists of these rows hold."""
        return count_hits(divergences, self.divergences)


def _shared_homes(cell: Int) -> Int:  # (m,) -> (m,)
    """One cell for several rows of cells side by side: rows that set out together are compared together."""
    order, home = np.argsort(cell, kind="stable"), np.empty_like(cell)
    for first in range(0, len(order), _TOGETHER):
        some = order[first : first + _TOGETHER]
        home[some] = cell[some[len(some) // 2]]
    return home


def sampled_rows(n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Of 2·``SAMPLE`` points or somewhat more, or of all if they are fewer, in random order.

    More rows are surer of what they say, so a search of many points has to aim less high.
    """
    count = min(max(2 * SAMPLE, n // _MANY), 4 * SAMPLE)
    return rng.choice(n, min(count, n), replace=False).astype(np.intp)


def _positions(items: Int, lists: Int) -> NDArray[np.intp]:  # (m, k), (m, width) -> (m, k)
    """Where each item stands in its row's list; after the last, if nowhere."""
    at = items[:, :, None] == lists[:, None, :]
    return np.asarray(np.where(at.any(axis=2), at.argmax(axis=2), lists.shape[1]))


@dataclass(frozen=True, eq=False)
class Space:
    """Fewer directions, in which points are compared."""

    growing: Growing
    directions: int
    estimates: Estimates

    def indexed(self, rng: np.random.Generator, n_jobs: int | None) -> CellIndex:
        """The points in cells."""
        return CellIndex.of(self.growing.lifted, self.growing.points(self.directions), rng, n_jobs)

    def ranks(self, truth: Truth, times: float = 1.0) -> NDArray[np.intp]:  # (m, k)
        """How many others the estimate puts before each true neighbour.

        ``times``: for how many each point stands that is not a true neighbour.
        """
        ranks = np.empty(truth.indices.shape, np.intp)
        for first in range(0, len(ranks), _AT_ONCE):
            near = self.estimates.nearness(truth.rows[first : first + _AT_ONCE])
            for row, (values, true) in enumerate(zip(near, truth.indices[first:], strict=False), first):
                before = np.sort(-values[values > values[true].min()])
                rank, among = np.searchsorted(before, -values[true]), _places(-values[true])
                ranks[row] = among + times * (rank - among)
        return ranks


def _places(values: NDArray[Any]) -> NDArray[np.intp]:  # (k,)
    """How many are smaller."""
    return np.searchsorted(np.sort(values), values)


def choose_space(lifted: Lifted, truth: Truth, recall: float, rng: np.random.Generator) -> Space | None:
    """The cheapest directions that keep the true neighbours, or None if all coordinates are cheaper.

    Half of the misses that the recall allows are the projection's. Many points are represented by some.
    """
    d, k = lifted.n_features, truth.k
    pairs = _FIRST_PAIRS * (0.05 / (1 - recall)) ** 0.25
    allowed = 1 - sure_share(recall, SAMPLE, k)
    some, truth, times = _represented(lifted, truth, rng)
    best: tuple[float, int, Projection | None] = pairs * d * _COMPARED, 0, None
    growing, most = None, 0
    for r in (r for r in RANKS if 2 * r <= d):
        if _cost(pairs, k, r, d) >= best[0]:
            break  # however short the lists were
        if growing is None or r > most:
            most = min(d // 2, _FIRST_DIRECTIONS if r <= _FIRST_DIRECTIONS else RANKS[-1])
            growing = Growing(principal(lifted, most, rng), some)
        ranks = Space(growing, r, Estimates(growing, r)).ranks(truth, times)
        ranked = int(np.quantile(ranks, 1 - allowed / 2, method="higher")) + 1
        cost = _cost(pairs, max(k, ranked), r, d)
        if ranked < _LONGEST and cost < best[0]:
            best = cost, r, growing.projection
    if best[2] is None:
        return None
    growing = Growing(best[2], lifted)
    return Space(growing, best[1], Estimates(growing, best[1]))


def _represented(lifted: Lifted, truth: Truth, rng: np.random.Generator) -> tuple[Lifted, Truth, float]:
    """Some points, the truth in their numbers, and for how many each of them stands."""
    n = lifted.n_points
    if n <= 2 * _REPRESENTATIVES:
        return lifted, truth, 1.0
    drawn = rng.choice(n, _REPRESENTATIVES, replace=False)
    some = np.unique(np.concatenate([truth.rows, truth.indices.ravel(), drawn]))
    rows, indices = np.searchsorted(some, truth.rows), np.searchsorted(some, truth.indices)
    return taken(lifted, some), Truth(rows, indices.astype(np.int32), truth.divergences), n / len(drawn)


def _cost(pairs: float, ranked: float, r: int, d: int) -> float:
    """Nanoseconds per row."""
    return pairs * r * _COMPARED + ranked * (_LISTED + d * _RANKED) + r * d * _PROJECTED


def needed_pairs(index: CellIndex, truth: Truth) -> NDArray[np.intp]:  # (m, k)
    """Points that a row is compared with until the cell of each true neighbour has come.

    It comes if it is near to the row and, so many times as far, to the row's own cell.
    """
    size, cell_of = np.diff(index.bounds).astype(float), index.cell_of
    per_cell = len(cell_of) / len(size) / index.cells.reach
    scores = index.scores(taken(index.points, truth.rows), slice(None))
    from_home = index.scores_from(cell_of[truth.rows])
    needed = np.empty(truth.indices.shape, np.intp)
    for row, (score, home) in enumerate(zip(scores, from_home, strict=True)):
        cells = cell_of[truth.indices[row]]
        held = (score < score[cells][:, None]) @ size
        before = np.count_nonzero(home < home[cells][:, None], axis=1) * per_cell
        needed[row] = np.maximum(held, before) + 1  # a cell comes while fewer points are held
    return needed


def needed_ranks(truth: Truth, space: Space | None) -> NDArray[np.intp] | None:  # (m, k)
    """How many others an estimate puts before each true neighbour; None where points are not projected."""
    if space is None:
        return None
    return space.ranks(truth) if truth.ranks is None else truth.ranks


def foretold_effort(
    index: CellIndex,
    truth: Truth,
    needed: NDArray[np.intp],
    ranks: NDArray[np.intp] | None,
    recall: float,
) -> Effort:
    """The cheapest effort by which the cells and the ranks of true neighbours promise the recall.

    ``needed`` as by ``needed_pairs``, ``ranks`` as by ``needed_ranks``, of the rows that choose and of those
    that tell.
    """
    shares, k = np.linspace(recall, 1, 20), truth.k
    pairs_tried = np.quantile(needed, shares, method="higher").astype(int)

    def promises(met: NDArray[np.bool_]) -> bool:  # (m, k)
        hits, middle = met.sum(axis=1), len(met) // 2
        return is_enough(hits[:middle], hits[middle:], k, recall)

    if ranks is None:
        sure = (pairs for pairs in pairs_tried if promises(needed <= pairs))
        return Effort(int(next(sure, pairs_tried[-1])), k)
    r, d = index.points.n_features - 1, index.lifted.n_features
    ranked_tried = np.maximum(np.quantile(ranks, shares, method="higher").astype(int) + 1, k)
    efforts = sorted(
        (_cost(pairs, ranked, r, d), int(pairs), int(ranked))
        for pairs in np.unique(pairs_tried)
        for ranked in np.unique(ranked_tried)
    )
    for _, pairs, ranked in efforts:
        if promises((needed <= pairs) & (ranks < ranked)):
            return Effort(pairs, ranked)
    return Effort(int(pairs_tried[-1]), int(ranked_tried[-1]))


def is_enough(chosen: NDArray[np.intp], told: NDArray[np.intp], k: int, recall: float) -> bool:  # (m,) ×2
    """Whether the recall is surely reached by hits of rows that choose, and not missed by those that tell."""
    return bool(surely(chosen, k) >= recall and told.mean() / k >= recall)


def tried_effort(
    index: CellIndex, halves: tuple[Truth, Truth], effort: Effort, recall: float
) -> tuple[Effort, Recall]:
    """The least effort, from this one on, that surely reaches the recall on rows that choose.

    And what it reaches on those that tell: no less than was asked for, or everything was compared.
    """
    k = halves[0].k
    while True:
        chosen, told = _hits(index, halves, effort)
        if is_enough(chosen, told, k, recall) or is_all(index, effort):
            return effort, Recall.of(told, k)
        effort = more(index, effort)


def _hits(
    index: CellIndex, halves: tuple[Truth, Truth], effort: Effort
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:  # (m,) ×2
    """Of both in one search: rows near to each other share its work."""
    first, second = halves
    found = index.search_own(np.concatenate([first.rows, second.rows]), first.k, effort)[1]
    return first.hits(found[: len(first.rows)]), second.hits(found[len(first.rows) :])


def more(index: CellIndex, effort: Effort) -> Effort:
    """The next effort."""
    return Effort(min(int(MORE * effort.pairs) + 1, index.lifted.n_points), int(MORE * effort.ranked) + 1)


def is_all(index: CellIndex, effort: Effort) -> bool:
    """Whether no more can be spent."""
    n = index.lifted.n_points
    return effort.pairs >= n and (index.projection is None or effort.ranked >= n - 1)
