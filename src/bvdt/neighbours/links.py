"""Lists of all dense points by fewer cells, then by links: neighbours of neighbours (NN-descent's steps).

Of many points, cells find a point's first neighbours soon and its last ones late: from a recall of 0.8 to one
of 0.96 a million points take four times the comparisons. Links find those for less. The search in cells comes
first, with somewhat longer lists, for more links; a pass then looks at the links of links that lie in cells
which a point was not compared with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float, Int
from .._support.progress import Progress
from .cells import CellIndex, Effort
from .dial import Truth
from .recall import Recall, sure_share, surely

EXTRA = 9  # places of the lists beyond those that are asked for: more links
TRIED = 48  # rows that tell what a pass would find
# Misses that the trial of a first pass may show, over those that are allowed, by the number of passes. It
# looks at links one way only: passes left 0.2 to 0.5 of its misses, second ones 0.1 to 0.2 (vectors, blobs).
_LEFT = (2.5, 4)
_LESS = 0.55  # comparisons over the next that are tried
_MORE_PASSES = 3  # than planned, while they help
_GAIN = 0.1  # of the misses, for which another pass is worth its time
# Nanoseconds, measured with 20 to 50 coordinates: of a comparison and of its coordinates, of a pass with
# lists of 24 and of its coordinates, and how it grows with the lists.
_PAIR, _PAIR_COORDINATE, _PASS, _PASS_COORDINATE = 0.8, 0.008, 11_000.0, 40.0
_BY_LENGTH = 1.5
# Comparisons per place of a list, and the recall by them, without which lists are too poor to begin with.
_LEAST, _BEGINNING = 8, 0.65


@dataclass(frozen=True)
class Plan:
    """Centres that a row is compared with in cells, then passes over links."""

    pairs: int
    passes: int


def choose_plan(
    cells: CellIndex, truth: Truth, needed: NDArray[np.intp], alone: Effort, recall: float
) -> Plan:
    """The cheapest plan by what comparisons and passes take, and by what a first pass finds on some rows.

    ``needed`` as by ``needed_pairs``.
    """
    d, width = cells.points.n_features, truth.k + EXTRA
    pair = _PAIR + _PAIR_COORDINATE * d
    step = (_PASS + _PASS_COORDINATE * d) * (width / 24) ** _BY_LENGTH
    best, least = Plan(alone.pairs, 0), alone.pairs * pair
    allowed = 1 - sure_share(recall, len(truth.rows), truth.k)
    least_pairs = max(_LEAST * width, int(np.quantile(needed, _BEGINNING)))
    for pairs in _fewer(alone.pairs // 2, least_pairs):
        if pairs * pair + step >= least:
            break
        misses = 1 - found_by_a_pass(cells, truth, width, pairs)
        passes = next((number for number, left in enumerate(_LEFT, 1) if misses <= left * allowed), None)
        if passes is not None and pairs * pair + passes * step < least:
            best, least = Plan(pairs, passes), pairs * pair + passes * step
        if passes == 1:
            break
    return best


def _fewer(most: int, least: int) -> list[int]:
    """Comparisons to try, ascending: a trial with few is cheap."""
    pairs = [most]
    while _LESS * pairs[-1] > least:
        pairs.append(int(_LESS * pairs[-1]))
    return pairs[::-1] if most > least else []


def found_by_a_pass(cells: CellIndex, truth: Truth, width: int, pairs: int) -> float:
    """The share of some rows' true neighbours that their lists hold or the lists of whom they list."""
    rows = truth.rows[:TRIED]
    own, _ = cells.compare_own(rows, width, pairs)
    links = np.unique(own[own >= 0]).astype(np.intp)
    theirs, _ = cells.compare_own(links, width, pairs)
    hits = 0
    for list_, true in zip(own, truth.indices, strict=False):
        via = np.searchsorted(links, list_[list_ >= 0])
        hits += int(np.isin(true, np.append(theirs[via], list_)).sum())
    return hits / truth.indices[:TRIED].size


class LinkedLists:
    """Lists of all points that fill up pass by pass."""

    def __init__(
        self, cells: CellIndex, width: int, n_links: int, pairs: int, progress: Progress = False
    ) -> None:
        """``n_links``: of a list's places, which lead on."""
        self.cells, self.n_links = cells, min(n_links, width)
        self.pairs = max(pairs, width + 1)
        self.index, self.divergence = cells.compare_all(width, self.pairs, progress)
        self._before = np.empty((0, self.n_links), np.int32)

    def join(self, progress: Progress = False) -> None:
        """Offers every point the links of its links."""
        listed = self.index[:, : self.n_links].copy()
        self.cells.join_all(listed, self._before, self.pairs, (self.index, self.divergence), progress)
        self._before = listed

    def hits(self, truth: Truth) -> NDArray[np.intp]:  # (m,)
        """How many of the sampled rows' true neighbours the lists hold."""
        lists = self.index[truth.rows], self.divergence[truth.rows]
        return truth.hits(self.cells.finished(truth.rows, *lists, truth.k)[1])

    def result(self, k: int) -> tuple[Int, Float]:  # (N, k) ×2
        return self.cells.finished(None, self.index, self.divergence, k)


def linked_lists(
    cells: CellIndex,
    plan: Plan,
    width: int,
    halves: tuple[Truth, Truth],
    recall: float,
    progress: Progress = False,
) -> tuple[tuple[Int, Float], Recall] | None:
    """The lists and what they reach, or None if links do not lead to the recall."""
    choosing, telling = halves
    k = choosing.k
    lists = LinkedLists(cells, width, k + EXTRA, plan.pairs, progress)

    def is_enough(reached: NDArray[np.intp]) -> bool:
        return surely(reached, k) >= recall and lists.hits(telling).mean() / k >= recall

    if not _join_while_it_helps(lists, choosing, plan.passes, is_enough, progress):
        return None
    return lists.result(k), Recall.of(lists.hits(telling), k)


def _join_while_it_helps(
    lists: LinkedLists,
    choosing: Truth,
    passes: int,
    is_enough: Callable[[NDArray[np.intp]], bool],
    progress: Progress,
) -> bool:
    """Whether it is enough after the passes planned and some more."""
    reached = lists.hits(choosing)
    for number in range(passes + _MORE_PASSES):
        if is_enough(reached):
            return True
        lists.join(progress)
        last, reached = reached, lists.hits(choosing)
        if number >= passes and reached.mean() - last.mean() < _GAIN * (choosing.k - last.mean()):
            break
    return is_enough(reached)
