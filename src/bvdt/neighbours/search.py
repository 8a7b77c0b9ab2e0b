"""The search as one object: prepared once for centres, asked for lists of their own points or of new ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._support.arrays import Float, Int
from .._support.progress import Progress
from .._support.running import n_threads
from ..lifting import Lifted
from ..tree import cut_into_chunks
from .cells import CellIndex, Effort, ranked_again
from .chunks import search_by_rule, search_sparse
from .dial import (
    FEW,
    Truth,
    choose_space,
    foretold_effort,
    is_all,
    is_enough,
    more,
    needed_pairs,
    needed_ranks,
    tried_effort,
)
from .exact import exact_lists
from .links import Plan, choose_plan, linked_lists
from .recall import Recall, surely

ALL_PAIRS = 3000  # points up to which all pairs are compared
_SIDE_BY_SIDE = 80  # points that are near to each other then, and passed over together by those far away
RECALL = 0.95
PAIRS = 6000  # centres that a dense point is compared with where no recall is asked for, or 8 per neighbour


class NeighbourIndex:
    """Centres ready to be searched for k neighbours, with what that takes and the recall it reaches.

    The lists of the centres' own points are found when they are first asked for, those of sparse points at
    once: there a list needs those of others.
    """

    def __init__(
        self,
        lifted: Lifted,
        k: int,
        rng: np.random.Generator,
        *,
        recall: float | None = RECALL,
        n_jobs: int | None = None,
        progress: Progress = False,
    ) -> None:
        self.lifted, self.k, self.n_jobs = lifted, k, n_jobs
        self._recall: Recall | None = Recall.exact()
        self.cells: CellIndex | None = None
        self.effort = Effort(lifted.n_points, k)
        self._lists: tuple[Int, Float] | None = None
        self.plan: Plan | None = None  # where links are cheaper than comparisons
        self._sampled: tuple[tuple[Truth, Truth], float] | None = None  # rows to try it on, recall asked for
        self._is_tried = True
        if recall is not None:
            recall = checked_recall(recall)
        if lifted.n_points <= ALL_PAIRS:
            return
        if recall is None:
            self._follow_the_rule(rng, progress)
        elif lifted.is_sparse:
            self._search_sparse(recall, rng, progress)
        else:
            self._choose_cells(recall, rng)

    def _follow_the_rule(self, rng: np.random.Generator, progress: Progress) -> None:
        """A fixed effort that serves a walk's near field; what it reaches is not measured."""
        self._recall = None
        if self.lifted.is_sparse:
            self._lists = search_by_rule(self.lifted, self.k, rng, self.n_jobs, progress)
            return
        self.cells = CellIndex.of(self.lifted, None, rng, self.n_jobs)
        self.effort = Effort(max(PAIRS, 8 * self.k), self.k)

    def _choose_cells(self, recall: float, rng: np.random.Generator) -> None:
        """Cells and what promises the recall by sampled rows; whether it holds is told by the lists."""
        lifted, k = self.lifted, self.k
        if recall == 1:
            self.cells = CellIndex.of(lifted, None, rng, self.n_jobs)
            return
        space = None
        if lifted.n_features > FEW:
            space = choose_space(lifted, Truth.of_few(lifted, k, rng), recall, rng)
        if space is not None:
            cells = space.indexed(rng, self.n_jobs)
            bounded = space.growing.projection.is_bound
            truth = Truth.by_bounds(cells, k, rng) if bounded else Truth.of(lifted, k, rng)
        else:
            cells = CellIndex.of(lifted, None, rng, self.n_jobs)
            truth = Truth.by_cells(cells, k, rng)
        halves = truth.halves()
        needed, ranks = needed_pairs(cells, truth), needed_ranks(truth, space)
        effort = foretold_effort(cells, truth, needed, ranks, recall)
        self.cells, self.effort = cells, effort
        choosing = slice(len(halves[0].rows))
        plan_ranks = None if ranks is None else ranks[choosing]
        plan = choose_plan(cells, halves[0], needed[choosing], plan_ranks, effort, recall)
        self.plan = plan if plan.passes else None
        self._sampled, self._is_tried = (halves, recall), False

    @property
    def recall(self) -> Recall | None:
        """What was reached, or will be, of the lists of all points; None: not measured."""
        if self._lists is None:
            self._try_effort()
        return self._recall

    def _try_effort(self) -> None:
        """What the effort that was foretold reaches; more is spent where that is too little."""
        if self._is_tried or self.cells is None or self._sampled is None:
            return
        halves, recall = self._sampled
        self.lifted.unchanged()
        self.effort, reached = tried_effort(self.cells, halves, self.effort, recall)
        self._is_tried = True
        if self._lists is None:
            self._recall = reached

    def _search_sparse(self, recall: float, rng: np.random.Generator, progress: Progress) -> None:
        lifted, k = self.lifted, self.k
        if recall == 1:
            return
        choosing, telling = Truth.of(lifted, k, rng).halves()

        def hits(divergences: Float) -> Any:
            return choosing.hits(divergences[choosing.rows, :k])

        self._lists = search_sparse(
            lifted,
            k,
            rng,
            self.n_jobs,
            choosing.rows,
            lambda divergences: float(hits(divergences).mean()) / k,
            lambda divergences: surely(hits(divergences), k) >= recall,
            progress,
        )
        self._recall = Recall.of(telling.hits(self._lists[1][telling.rows]), k)

    def own_lists(self, progress: Progress = False) -> tuple[Int, Float]:  # (N, k) ×2
        """Each point's k nearest centres but itself, ascending; −1 and +∞ where fewer were found."""
        if self._lists is None:
            self._lists = self._search(progress)
        return self._lists

    def first_lists(self, rows: int) -> tuple[Int, Float]:  # (rows, k) ×2
        """The same of so many first points; the others are centres alone."""
        if self._lists is None and self.cells is not None:
            self._try_effort()
            return self.cells.search_own(np.arange(rows), self.k, self.effort)
        index, divergence = self.own_lists()
        return index[:rows], divergence[:rows]

    def _search(self, progress: Progress) -> tuple[Int, Float]:
        self.lifted.unchanged()
        if self.plan is not None and self.cells is not None and self._sampled is not None:
            found = linked_lists(self.cells, self.plan, *self._sampled, progress)
            if found is not None:
                lists, self._recall = found
                return lists
        if self.cells is not None:
            return self._search_cells(self.cells, progress)
        if self.lifted.n_points <= ALL_PAIRS:
            return _all_pairs(self.lifted, self.k, self.n_jobs)
        return exact_lists(self.lifted, self.lifted, self.k, np.arange(self.lifted.n_points))

    def _search_cells(self, cells: CellIndex, progress: Progress) -> tuple[Int, Float]:
        """Spends what was foretold, as a rule enough: the lists tell, and a trial beforehand is saved."""
        if not self._is_tried and self._sampled is not None:
            halves, recall = self._sampled
            lists = cells.search_all(self.k, self.effort, progress)
            chosen, told = (half.hits(lists[1][half.rows]) for half in halves)
            if is_enough(chosen, told, self.k, recall) or is_all(cells, self.effort):
                self._is_tried, self._recall = True, Recall.of(told, self.k)
                return lists
            self.effort = more(cells, self.effort)
            self._try_effort()
        return cells.search_all(self.k, self.effort, progress)

    def lists_of(self, new: Lifted, k: int) -> tuple[Int, Float]:  # (n_new, k) ×2
        """The k nearest centres of other points, lifted alike, by the effort that was chosen or exactly."""
        self._hold_points()
        if self.cells is None:
            return exact_lists(new, self.lifted, k)
        self._try_effort()
        ranked = self.effort.ranked + max(0, k - self.k)
        return self.cells.search_new(new, k, Effort(self.effort.pairs, ranked))

    def _hold_points(self) -> None:
        """A copy of the user's own array: whoever asks about one point does not wait for a check of all."""
        if self.lifted.shared:
            self.lifted = self.lifted.held()
            self.cells = None if self.cells is None else self.cells.reading(self.lifted)


def nearest_centres(
    lifted: Lifted,
    k: int,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    progress: Progress = False,
    recall: float | None = RECALL,
    *,
    rows: int | None = None,
) -> tuple[Int, Float, Recall | None]:  # (N, k) ×2
    """Each point's k nearest centres and their divergences, ascending; −1 and +∞ where fewer were found.

    ``rows``: only the lists of so many first points are wanted, (rows, k) ×2.
    """
    index = NeighbourIndex(lifted, k, rng, recall=recall, n_jobs=n_jobs, progress=progress)
    lists = index.own_lists(progress) if rows is None else index.first_lists(rows)
    return *lists, index.recall


def checked_recall(recall: Any) -> float:
    """A number above 0 and at most 1."""
    if isinstance(recall, bool) or not isinstance(recall, int | float | np.number) or not 0 < recall <= 1:
        raise ValueError(f"recall needs a number above 0 and at most 1; got {recall!r}")
    return float(recall)


def _all_pairs(lifted: Lifted, k: int, n_jobs: int | None) -> tuple[Int, Float]:
    n = lifted.n_points
    index, divergence = np.full((n, k), -1, np.int32), np.full((n, k), np.inf)
    order = np.arange(n, dtype=np.int32)
    if not lifted.is_sparse:  # near points side by side: lists are nearly done at once, whatever the seed
        order = cut_into_chunks(lifted, _SIDE_BY_SIDE, np.random.default_rng(0), 1)[0]
    one = order, np.array([0, n])
    threads = n_threads(n_jobs, lifted.n_values * n / 64)  # so many at once
    call = (*lifted.arrays, lifted.u, lifted.w, *one, index, divergence, threads)
    _core.chunk_neighbors(*call)
    return ranked_again(lifted, lifted, index, k, n_jobs) if lifted.is_sparse else (index, divergence)
