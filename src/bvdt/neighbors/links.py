"""Lists of all dense points by fewer cells, then by links: neighbours of neighbours (NN-descent's steps).

Of many points, cells find a point's first neighbours soon and its last ones late: from a recall of 0.8 to one
of 0.96 a million points take four times the comparisons. Links find those for less. The search in cells comes
first; a pass then compares the links of every point, whom it lists and who lists it, with each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float, Int
from .._support.progress import Progress, stage
from .._support.running import n_threads
from .cells import CellIndex, Effort
from .dial import Truth
from .recall import Recall, sure_share, surely

TRIED = 32  # rows that tell what a pass would find
_STARTS = (0.6, 0.78, 0.9)  # shares of the true neighbours that cells are to find
# Places of a list that lead on, beyond those that are asked for, and passes at most. Few links cost less and
# do not lead to the last neighbours; of many hard points many links find most.
_LINKS = ((1, 2), (9, 4), (25, 4))
_FASTER, _SLOWER = 1.4, 1.3  # what a second pass and later ones leave: see `_passes_needed`
_PROJECTED = 0.25  # of the misses that are allowed, for lists that an estimate makes
_POOR = 3.0  # misses of cells, over the root of those that are allowed, from which on no trial is made
_MORE_PASSES = 3  # than planned, while they help
_PARTS, _TOGETHER = 8, 16  # of a pass, after each of which it may be enough; cells side by side in one
_GAIN = 0.1  # of the misses, for which another pass is worth its time
# Nanoseconds, measured with 12 to 64 coordinates: of a comparison and of its coordinates,
# of one link in a first pass, of its coordinates and of each of the others, and what lists in places
# cost besides. A place that leads nowhere costs a part of one that does; later passes look at what is new.
_PAIR, _PAIR_COORDINATE = 0.5, 0.06
_LINK, _LINK_COORDINATE, _LINK_LINK, _PLACED = 250.0, 3.0, 8.0, 3000.0
_IDLE_PLACE = 0.3
_PASSES = (0.0, 1.0, 1.6, 2.0, 2.4)  # the cost of so many, in that of the first


@dataclass(frozen=True)
class Plan:
    """Centres that a row is compared with in cells, then passes over so many links of lists so wide."""

    pairs: int
    passes: int
    n_links: int = 0
    width: int = 0


def choose_plan(
    cells: CellIndex,
    truth: Truth,
    needed: NDArray[np.intp],
    ranks: NDArray[np.intp] | None,
    alone: Effort,
    recall: float,
) -> Plan:
    """The cheapest plan by what comparisons and passes take, and by what a first pass finds on some rows.

    ``needed`` as by ``needed_pairs``, ``ranks`` as by ``foretold_effort``.
    """
    d, k, most = cells.points.n_features, truth.k, cells.lifted.n_points - 1
    pair = _PAIR + _PAIR_COORDINATE * d
    best, least = Plan(alone.pairs, 0), alone.pairs * pair
    allowed, places = 1 - sure_share(recall, len(truth.rows), k), k
    if ranks is not None:
        places = int(np.quantile(ranks, 1 - _PROJECTED * allowed, method="higher")) + 1
        allowed *= 1 - _PROJECTED
    for start in _STARTS:
        pairs = int(np.quantile(needed, start, method="higher"))
        plans = [_plan(pairs, extra, k, places, most) for extra, _ in _LINKS]
        if min(_cost(plan, d, pair, 1) for plan in plans) >= least:
            break  # whatever a trial says
        if 1 - start > _POOR * np.sqrt(allowed):
            continue
        before, after = found_by_a_pass(cells, truth, ranks, pairs, [plan.n_links for plan in plans])
        for plan, share, (_, most_passes) in zip(plans, after, _LINKS, strict=True):
            passes = _passes_needed(1 - before, 1 - share, allowed, most_passes)
            if passes is not None and _cost(plan, d, pair, passes) < least:
                best, least = replace(plan, passes=passes), _cost(plan, d, pair, passes)
    return best


def _plan(pairs: int, extra: int, k: int, places: int, most: int) -> Plan:
    """One without passes, but with the lists that they need."""
    n_links = min(k + extra, most)
    return Plan(pairs, 0, n_links, min(max(places, n_links), most))


def _cost(plan: Plan, d: int, pair: float, passes: int) -> float:
    """Nanoseconds per row."""
    link = _LINK + _LINK_COORDINATE * d + _LINK_LINK * plan.n_links
    joined = plan.n_links + _IDLE_PLACE * (plan.width - plan.n_links)
    return plan.pairs * pair + _PLACED + _PASSES[passes] * joined * link


def _passes_needed(before: float, after: float, allowed: float, most: int) -> int | None:
    """How many passes leave no more misses than are allowed.

    ``before`` and ``after`` are the misses of a trial, which looks at links one way only. Where c is their
    ratio, a first pass leaves the share c of them, a second c^1.4 of that, later ones 1.3·c^1.4, by and
    large: on images, vectors, histograms and blobs of 12 to 64 coordinates c was 0.2 to 0.6, and a pass left
    0.5 to 1.6 times as much.
    """
    share, misses = after / max(before, 1e-9), after
    for number in range(1, most + 1):
        misses *= share if number == 1 else share**_FASTER * (1 if number == 2 else _SLOWER)
        if misses <= allowed:
            return number
    return None


def found_by_a_pass(
    cells: CellIndex,
    truth: Truth,
    ranks: NDArray[np.intp] | None,
    pairs: int,
    n_links: list[int],
) -> tuple[float, list[float]]:
    """The share of some rows' true neighbours that their lists hold; and they or those of whom they list.

    The latter for each number of places that lead on. Neighbours whom an estimate ranks beyond the lists, by
    ``ranks``, do not count: longer lists find them.
    """
    rows, width = truth.rows[:TRIED], min(max(n_links), cells.lifted.n_points - 1)
    own, _ = cells.compare_own(rows, width, pairs)
    links = np.unique(own[own >= 0]).astype(np.intp)
    theirs, _ = cells.compare_own(links, width, pairs)
    hits, is_met = np.zeros(1 + len(n_links)), np.zeros(cells.lifted.n_points + 1, bool)  # −1 is the last
    within = np.ones(truth.indices.shape, bool) if ranks is None else ranks < width
    for list_, true, count in zip(own, truth.indices, within, strict=False):
        via = np.searchsorted(links, list_[list_ >= 0])
        for which, met in enumerate((list_, *(theirs[via[:n], :n] for n in n_links))):
            is_met[list_], is_met[met] = True, True
            hits[which] += is_met[true[count]].sum()
            is_met[list_], is_met[met] = False, False
    before, *after = (float(share) for share in hits / max(within[:TRIED].sum(), 1))
    return before, after


class LinkedLists:
    """Lists of all points that fill up pass by pass."""

    def __init__(
        self, cells: CellIndex, width: int, n_links: int, pairs: int, progress: Progress = False
    ) -> None:
        """``n_links``: of a list's places, which lead on."""
        self.cells, self.width = cells, width
        self._lists = cells.cells.lists(width, n_links, n_threads(cells.n_jobs))
        for first, last, threads in cells.stretches("nearest centres", progress):
            cells.cells.begin(self._lists, first, last, max(pairs, width + 1), threads)

    def join(self, progress: Progress = False, is_enough: Callable[[], bool] = lambda: False) -> None:
        """A pass: offers the links of every point, and the point itself, to each other.

        It ends after a part of the points if that ``is_enough``. A pair that has several links in common is
        found by any of them, so the first part finds most; cells of one part lie apart, so all lists gain.
        """
        threads, bounds, n_cells = n_threads(self.cells.n_jobs), self.cells.bounds, len(self.cells.bounds) - 1
        self._lists.link(threads)
        with stage(progress, "neighbours of neighbours", n_cells) as advance:
            for part in range(_PARTS):
                for first in range(part * _TOGETHER, n_cells, _PARTS * _TOGETHER):
                    last = min(first + _TOGETHER, n_cells)
                    self._lists.join(int(bounds[first]), int(bounds[last]), threads)
                    advance(last - first)
                if part + 1 < _PARTS and is_enough():
                    return

    def listed(self, rows: NDArray[Any]) -> tuple[Int, Float]:  # (m, width) ×2
        """Whom some points list, −1 after the last, and estimates of their divergences, ascending."""
        index, estimate = np.empty((len(rows), self.width), np.int32), np.empty((len(rows), self.width))
        self._lists.read(rows.astype(np.int32), index, estimate, n_threads(self.cells.n_jobs))
        return index, estimate

    def hits(self, truth: Truth) -> NDArray[np.intp]:  # (m,)
        """How many of the sampled rows' true neighbours the lists hold."""
        return truth.hits(self.cells.ranked(truth.rows, *self.listed(truth.rows), truth.k)[1])

    def result(self, k: int) -> tuple[Int, Float]:  # (N, k) ×2
        """The k best of each list by the divergence itself."""
        lifted, threads = self.cells.lifted, n_threads(self.cells.n_jobs)
        lists = np.empty((lifted.n_points, k), np.int32), np.empty((lifted.n_points, k))
        arrays = (lifted.X, lifted.H, lifted.u, lifted.w)
        self._lists.rank(*arrays, self.cells.is_bound, *lists, threads)
        return lists


def linked_lists(
    cells: CellIndex,
    plan: Plan,
    halves: tuple[Truth, Truth],
    recall: float,
    progress: Progress = False,
) -> tuple[tuple[Int, Float], Recall] | None:
    """The lists and what they reach, or None if links do not lead to the recall."""
    choosing, telling = halves
    k = choosing.k
    lists = LinkedLists(cells, plan.width, plan.n_links, plan.pairs, progress)

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
        lists.join(progress, lambda: is_enough(lists.hits(choosing)))
        last, reached = reached, lists.hits(choosing)
        if number >= passes and reached.mean() - last.mean() < _GAIN * (choosing.k - last.mean()):
            break
    return is_enough(reached)
