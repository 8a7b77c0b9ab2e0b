"""The search as one object: prepared once for centres, asked for lists of their own points or of new ones."""

from __future__ import annotations

from dataclasses import dataclass
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._support.arrays import Float, Int
from .._support.progress import Progress
from .._support.running import n_threads
from ..lifting import Lifted
from ..tree import cut_into_chunks
from .cells import CellIndex, Effort, ranked_again, taken
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
from .differences import told_apart
from .exact import exact_lists
from .links import Plan, choose_plan, linked_lists
from .recall import Recall, surely

ALL_PAIRS = 3000  # points up to which all pairs are compared
_SIDE_BY_SIDE = 80  # points that are near to each other then, and passed over together by those far away
RECALL = 0.95
PAIRS = 6000  # centres that a dense point is compared with where no recall is asked for, or 8 per neighbour


@dataclass(frozen=True, eq=False)
class _Found:
    """Lists of the centres' own points, and what they reach; None: not measured."""

    index: Int  # (N, k)
    divergence: Float  # (N, k)
    recall: Recall | None


class NeighborIndex:
    """Centres ready to be searched for k neighbours, with what that takes and the recall it reaches.

    The lists of the centres' own points are found when they are first asked for, those of sparse points at
    once: there a list needs those of others. Threads may ask together; what one finds, all are given.
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
        self.cells: CellIndex | None = None
        self.effort = Effort(lifted.n_points, k)
        self.plan: Plan | None = None  # where links are cheaper than comparisons
        self._sampled: tuple[tuple[Truth, Truth], float] | None = None  # rows to try it on, recall asked for
        self._own: _Found | None = None
        self._tried: tuple[Effort, Recall | None] | None = None
        self._lock = RLock()  # over the two, each of which is found once
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
        if self.lifted.is_sparse:
            lists = search_by_rule(self.lifted, self.k, rng, self.n_jobs, progress)
            self._own = _Found(*lists, None)
            return
        self._tried = Effort(max(PAIRS, 8 * self.k), self.k), None
        self.cells = CellIndex.of(self.lifted, None, rng, self.n_jobs)

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
        self._sampled = halves, recall

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=RLock())

    @property
    def recall(self) -> Recall | None:
        """What was reached, or will be, of the lists of all points; None: not measured."""
        own = self._own
        return self._tried_effort()[1] if own is None else own.recall

    def _tried_effort(self) -> tuple[Effort, Recall | None]:
        """What lists of other points take, more than was foretold where it is too little; what they reach."""
        with self._lock:
            if self._tried is None:
                self._tried = self.effort, Recall.exact()
                if self.cells is not None and self._sampled is not None:
                    self._tried = tried_effort(self.cells, self._sampled[0], self.effort, self._sampled[1])
            return self._tried

    def _search_sparse(self, recall: float, rng: np.random.Generator, progress: Progress) -> None:
        lifted, k = self.lifted, self.k
        if recall == 1:
            return
        choosing, telling = Truth.of(lifted, k, rng).halves()

        def hits(divergences: Float) -> Any:
            return choosing.hits(divergences[choosing.rows, :k])

        lists = search_sparse(
            lifted,
            k,
            rng,
            self.n_jobs,
            choosing.rows,
            lambda divergences: float(hits(divergences).mean()) / k,
            lambda divergences: surely(hits(divergences), k) >= recall,
            progress,
        )
        self._own = _Found(*lists, Recall.of(telling.hits(lists[1][telling.rows]), k))

    def own_lists(self, progress: Progress = False) -> tuple[Int, Float]:  # (N, k) ×2
        """Each point's k nearest centres but itself, ascending; −1 and +∞ where fewer were found."""
        with self._lock:
            if self._own is None:
                found = self._search(progress)
                lists = told_apart(
                    self.lifted,
                    self.lifted,
                    (found.index, found.divergence),
                    self.lifted.n_points - 1,
                    self._wider,
                )
                self._own = _Found(*lists, found.recall)
            return self._own.index, self._own.divergence

    def first_lists(self, rows: int) -> tuple[Int, Float]:  # (rows, k) ×2
        """The same of so many first points; the others are centres alone."""
        if self._own is None and self.cells is not None:
            return self.cells.search_own(np.arange(rows), self.k, self._tried_effort()[0])
        index, divergence = self.own_lists()
        return index[:rows], divergence[:rows]

    def _search(self, progress: Progress) -> _Found:
        lifted, cells = self.lifted, self.cells
        if cells is None and lifted.n_points <= ALL_PAIRS:
            return _Found(*_all_pairs(lifted, self.k, self.n_jobs), Recall.exact())
        if cells is None:
            lists = exact_lists(lifted, lifted, self.k, np.arange(lifted.n_points))
            return _Found(*lists, Recall.exact())
        if self._sampled is None:
            effort, reached = self._tried_effort()
            return _Found(*cells.search_all(self.k, effort, progress), reached)
        if self.plan is not None:
            found = linked_lists(cells, self.plan, *self._sampled, progress)
            if found is not None:
                return _Found(*found[0], found[1])
        return self._search_cells(cells, *self._sampled, progress)

    def _search_cells(
        self, cells: CellIndex, halves: tuple[Truth, Truth], recall: float, progress: Progress
    ) -> _Found:
        """Spends what was foretold, as a rule enough: the lists tell, and a trial beforehand is saved."""
        lists = cells.search_all(self.k, self.effort, progress)
        chosen, told = (half.hits(lists[1][half.rows]) for half in halves)
        if is_enough(chosen, told, self.k, recall) or is_all(cells, self.effort):
            return _Found(*lists, Recall.of(told, self.k))
        effort, reached = tried_effort(cells, halves, more(cells, self.effort), recall)
        return _Found(*cells.search_all(self.k, effort, progress), reached)

    def lists_of(self, new: Lifted, k: int) -> tuple[Int, Float]:  # (n_new, k) ×2
        """The k nearest centres of other points, lifted alike, by the effort that was chosen or exactly."""

        def find(rows: NDArray[Any], width: int) -> tuple[Int, Float]:
            return self._lists_of(taken(new, rows), width)

        return told_apart(new, self.lifted, self._lists_of(new, k), self.lifted.n_points, find)

    def _lists_of(self, new: Lifted, k: int) -> tuple[Int, Float]:  # (n_new, k) ×2
        if self.cells is None:
            return exact_lists(new, self.lifted, k)
        effort, _ = self._tried_effort()
        return self.cells.search_new(new, k, Effort(effort.pairs, effort.ranked + max(0, k - self.k)))

    def _wider(self, rows: NDArray[Any], k: int) -> tuple[Int, Float]:  # (m,) -> (m, k) ×2
        """Longer lists of some of the centres' own points."""
        if self.cells is None:
            return exact_lists(self.lifted, self.lifted, k, rows, rows)
        effort = self._tried_effort()[0]
        return self.cells.search_own(rows, k, Effort(effort.pairs, effort.ranked + k - self.k))


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
    index = NeighborIndex(lifted, k, rng, recall=recall, n_jobs=n_jobs, progress=progress)
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
