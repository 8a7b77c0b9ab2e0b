"""Inverted lists (IVF, Jégou et al. 2011) for any divergence: probes, candidates, re-rank (dense points).

Lists come from bisecting 2-means. Points of many coordinates are clustered and compared along their principal
directions (:mod:`.projection`), and the best of those re-ranked by the divergence itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .. import _core
from .._support.arrays import Float, Index, Int, Long, batches
from .._support.progress import Progress, stage
from .._support.running import n_threads
from ..lifting import Lifted
from ..tree import cut_into_chunks
from .exact import empty_lists, exact_lists
from .ground_truth import SAMPLE, GroundTruth, Target
from .nn_descent import Stop, descend, never, read_lists
from .params import IndexParams, SearchParams
from .projection import Projection, principal
from .recall import Recall

LIST_SIZE = 250
N_CANDIDATES = 6000  # where no recall is asked for


START_RECALL = 0.85  # of the lists that NN-descent begins with
MAX_ITER = 6
RERANK_COST = 12_000  # coordinates compared in registers that take as long as one candidate's re-rank
_JOIN_COST = 20  # comparisons of a search that take as long as all local joins do per pair of neighbors
_FORWARD_SLACK = 0.15  # forward neighbors beyond those asked for, times the misses that are allowed
_BUDGET_STEP = 1.1  # where a search falls short


@dataclass(frozen=True, eq=False)
class InvertedLists:
    """Points in inverted lists, ready to be searched."""

    points: Lifted
    projection: Projection | None
    compared: Lifted  # projected, or ``points``
    order: Int  # (N,)
    bounds: Long  # (n_lists + 1,)
    kernel: _core.InvertedLists
    n_jobs: int | None

    @classmethod
    def build(
        cls, points: Lifted, params: IndexParams, n_jobs: int | None, projection: Projection | None = None
    ) -> InvertedLists:
        rng = np.random.default_rng(params.seed)
        if params.n_directions:
            projection = (projection or principal(points, params.seed)).leading(params.n_directions)
        else:
            projection = None
        compared = points if projection is None else projection(points)
        size = params.list_size or max(LIST_SIZE, round(points.n_points**0.5 / 4))
        order, bounds = cut_into_chunks(compared, size, rng, n_jobs)
        return cls._packed(points, projection, compared, order, bounds, n_jobs)

    @classmethod
    def _packed(
        cls,
        points: Lifted,
        projection: Projection | None,
        compared: Lifted,
        order: Int,
        bounds: Long,
        n_jobs: int | None,
    ) -> InvertedLists:
        threads = n_threads(n_jobs, 16 * compared.n_values)
        arrays = (compared.X, compared.H, compared.u, compared.w, order, bounds)
        return cls(points, projection, compared, order, bounds, _core.InvertedLists(*arrays, threads), n_jobs)

    def __reduce__(self) -> tuple[object, ...]:
        """Without the packed lists: a copy packs its own."""
        return self._packed, (
            self.points, self.projection, self.compared, self.order, self.bounds, self.n_jobs
        )  # fmt: skip

    @property
    def is_bound(self) -> bool:
        """Whether no divergence is below its estimate."""
        return self.projection is None or self.projection.is_bound

    def default(self, k: int) -> SearchParams:
        return SearchParams(max(N_CANDIDATES, 8 * k))

    def default_graph(self, k: int) -> SearchParams:
        return self.default(k)

    # -- searches -----------------------------------------------------------------------------------------

    def search(self, queries: Lifted, k: int, params: SearchParams) -> tuple[Int, Float]:  # (n, k) ×2
        """The k nearest points of other ones, lifted alike."""
        compared = queries if self.projection is None else self.projection(queries)
        assigned = np.empty(queries.n_points, np.int32)
        for rows in batches(queries.n_points, len(self.bounds)):
            assigned[rows] = np.argmin(self.scores(compared, rows), axis=1)
        none = np.full(queries.n_points, -1, np.int32)
        return self._search(queries, compared, none, assigned, k, params)

    def search_own(self, chosen: Index, k: int, params: SearchParams) -> tuple[Int, Float]:  # (n, k) ×2
        """Those of some of the points, without themselves."""
        assigned = self.assignment[chosen]
        if params.n_candidates >= self.points.n_points:
            assigned = _shared(assigned)
        queries, compared = self.points.take(chosen), self.points
        compared = queries if self.projection is None else self.compared.take(chosen)
        return self._search(queries, compared, chosen.astype(np.int32), assigned, k, params)

    def knn_graph(
        self, k: int, params: SearchParams, progress: Progress = False, stop: Stop = never
    ) -> tuple[Int, Float]:  # (N, k) ×2
        """Those of all points: by the search, or by a poorer one and NN-descent until ``stop`` says so."""
        if params.n_iter:
            return self._descended(k, params, progress, stop)
        found = empty_lists(self.points.n_points, k)
        own = np.arange(self.points.n_points, dtype=np.int32)
        assigned = np.arange(len(self.bounds) - 1, dtype=np.int32)
        for first, last, threads in self._stretches(progress):
            groups = (self.order, self.bounds[first : last + 1], assigned[first:last])
            self._call(self.points, self.compared, own, groups, k, params, found, threads)
        return found

    # -- tuning -------------------------------------------------------------------------------------------

    def ground_truth(self, k: int, rng: np.random.Generator) -> GroundTruth:
        """Of sampled points, by probing all lists, which is faster than comparing all pairs.

        An estimate that no divergence is below makes a list complete where its k-th is below the last
        candidate re-ranked; the queries of others, and those of other estimates, are compared with all.
        """
        n = self.points.n_points
        rows = rng.choice(n, min(2 * SAMPLE, n), replace=False)
        if self.projection is None:
            return GroundTruth.measured_by(self.points, rows, self.search_own(rows, k, SearchParams(n)))
        width = min(4 * SAMPLE, n - 1)  # among which all of a query's nearest are as a rule
        estimates = replace(self, points=self.compared, projection=None)
        listed, estimate = estimates.search_own(rows, width, SearchParams(n))
        found = self.reranked(rows, listed, estimate, k)
        short = np.flatnonzero(found[1][:, -1] >= estimate[:, -1]) if self.is_bound else np.arange(len(rows))
        if len(short):
            exact = exact_lists(self.points, self.points, k, rows[short], rows[short])
            found[0][short], found[1][short] = exact
        at = found[0][:, :, None] == listed[:, None, :]
        ranks = np.where(at.any(axis=2), at.argmax(axis=2), n)
        return GroundTruth.measured_by(self.points, rows, found, ranks)

    def tune(self, target: Target) -> tuple[SearchParams, Recall]:
        """The least budget that promises the recall, by where the true neighbors lie; and what it reaches.

        A true neighbor is found if its list is probed and if its estimate is among those re-ranked. More is
        spent while a search of the queries falls short.
        """
        n, k, truth = self.points.n_points, target.k, target.truth
        needed = candidates_needed(self, truth)
        ranks = np.zeros_like(needed) if truth.ranks is None else truth.ranks
        shares = np.linspace(target.recall, 1, 20)
        lengths = np.unique(np.maximum(np.quantile(ranks, shares, method="higher") + 1, k))
        ladder = np.unique(np.quantile(needed, shares, method="higher"))
        best, least = SearchParams(n, int(lengths[-1])), np.inf
        for rerank in lengths:
            for n_candidates in ladder:
                cost = n_candidates * self.compared.n_features + (
                    RERANK_COST * rerank if truth.ranks is not None else 0
                )
                if cost < least and target.enough(((needed <= n_candidates) & (ranks < rerank)).sum(axis=1)):
                    best, least = SearchParams(int(n_candidates), int(rerank)), cost
        while True:
            divergences = self.search_own(target.rows, k, best)[1]
            if target.is_met(divergences) or best.n_candidates >= n:
                return best, target.measured(divergences)
            rerank = k if truth.ranks is None else int(_BUDGET_STEP * best.rerank) + 1
            best = SearchParams(min(int(_BUDGET_STEP * best.n_candidates) + 1, n), min(rerank, n - 1))

    def graph_params(self, target: Target, alone: SearchParams) -> list[SearchParams]:
        """Ways to the recall, tried in turn: NN-descent after a poorer search, if it is less; the search."""
        k, most = target.k, self.points.n_points - 1
        # The more forward neighbors, the closer NN-descent comes to all before it stands still.
        n_forward = min(k + min(k, round(_FORWARD_SLACK / (1 - target.recall))), most)
        needed = np.quantile(candidates_needed(self, target.truth), START_RECALL, method="higher")
        start = max(int(needed), 4 * k)
        if start + _JOIN_COST * n_forward**2 > alone.n_candidates:
            return [alone]
        return [SearchParams(start, alone.rerank, n_iter=MAX_ITER, n_forward=n_forward), alone]

    # -- inside -------------------------------------------------------------------------------------------

    @property
    def assignment(self) -> Int:  # (N,)
        """Each point's list."""
        out = np.empty(len(self.order), np.int32)
        out[self.order] = np.repeat(np.arange(len(self.bounds) - 1, dtype=np.int32), np.diff(self.bounds))
        return out

    def _descended(self, k: int, params: SearchParams, progress: Progress, stop: Stop) -> tuple[Int, Float]:
        most = self.points.n_points - 1
        width = min(max(k, params.rerank, params.n_forward), most)
        start = np.empty((self.points.n_points, width), np.int32)
        for first, last, threads in self._stretches(progress):
            self.kernel.candidates(first, last, max(params.n_candidates, width + 1), start, threads)
        threads = n_threads(self.n_jobs)
        lists = _core.DenseDescent(self.kernel, start, params.n_forward or k, threads)

        def read(rows: Index) -> tuple[Int, Float]:  # (m,) -> (m, k) ×2
            return self.reranked(rows, *read_lists(lists, rows, width, threads), k)

        return descend(lists, self.points.n_points, read, k, params.n_iter, stop, self.n_jobs, progress)

    def reranked(self, rows: Index, index: Int, estimate: Float, k: int) -> tuple[Int, Float]:  # (m, k) ×2
        """The k best of some points' candidates (m, width), by the divergence itself."""
        found, queries = empty_lists(len(rows), k), self.points.take(rows)
        arrays = (queries.X, self.points.H, queries.u, self.points.w, index, estimate, self.is_bound)
        _core.rerank(*arrays, *found, n_threads(self.n_jobs, float(index.size) * queries.n_features))
        return found

    def scores(self, queries: Lifted, rows: slice) -> Float:  # (n, n_lists)
        """⟨x − x̄, h − h̄⟩ of queries and the lists' means, less what depends on the query alone."""
        mean_x, mean_h, own = self._means()
        scores = queries.X[rows] @ mean_h
        scores += queries.H[rows] @ mean_x
        return np.asarray(np.subtract(own, scores, out=scores))

    def scores_from(self, lists: Int) -> Float:  # (n,) -> (n, n_lists)
        """The same of lists' means instead of queries: how near the others are to them."""
        mean_x, mean_h, own = self._means()
        return np.asarray(own - mean_x[:, lists].T @ mean_h - mean_h[:, lists].T @ mean_x)

    def _means(self) -> tuple[Float, Float, Float]:  # (d, n_lists) ×2, (n_lists,)
        turned, own = self.kernel.means()
        mean_h, mean_x = np.split(turned.reshape(-1, len(own)), 2)
        return mean_x, mean_h, own

    def _search(
        self, queries: Lifted, compared: Lifted, own: Int, assigned: Int, k: int, params: SearchParams
    ) -> tuple[Int, Float]:  # (n, k) ×2
        """Of queries that each have a list as their coarse assignment."""
        found = empty_lists(queries.n_points, k)
        order = np.argsort(assigned, kind="stable").astype(np.int32)
        lists, first = np.unique(assigned[order], return_index=True)
        groups = order, np.append(first, len(order)).astype(np.int64), lists.astype(np.int32)
        self._call(queries, compared, own, groups, k, params, found, n_threads(self.n_jobs))
        return found

    def _call(
        self,
        queries: Lifted,
        compared: Lifted,
        own: Int,
        groups: tuple[Int, Long, Int],
        k: int,
        params: SearchParams,
        found: tuple[Int, Float],
        threads: int,
    ) -> None:
        rerank = min(max(k, params.rerank), self.points.n_points)
        budget = (max(params.n_candidates, rerank + 1), rerank, self.is_bound)
        order, bounds, assigned = groups
        groups = order[bounds[0] : bounds[-1]], bounds - bounds[0], assigned
        exact = (queries.X, self.points.H, queries.u, self.points.w)
        self.kernel.search(compared.X, compared.H, compared.u, own, *groups, *budget, *exact, *found, threads)

    def _stretches(self, progress: Progress) -> Iterator[tuple[int, int, int]]:
        """Lists first … last − 1 and threads: short kernel calls, between which progress is shown."""
        threads, n_lists = n_threads(self.n_jobs), len(self.bounds) - 1
        step = 512 * threads
        with stage(progress, "neighbor search", n_lists) as advance:
            for first in range(0, n_lists, step):
                last = min(first + step, n_lists)
                yield first, last, threads
                advance(last - first)


def candidates_needed(index: InvertedLists, truth: GroundTruth) -> Index:  # (m, k)
    """How many points the lists hold that are probed until that of each true neighbor is.

    It is probed if it is near to the query and, ``reach`` times as far, to the query's own list.
    """
    size, assignment = np.diff(index.bounds).astype(float), index.assignment
    from_query = index.scores(index.compared.take(truth.rows), slice(None))
    from_assigned = index.scores_from(assignment[truth.rows])
    per_list = len(assignment) / len(size) / index.kernel.reach
    needed = np.empty(truth.indices.shape, np.intp)
    for row, (score, assigned) in enumerate(zip(from_query, from_assigned, strict=True)):
        true = assignment[truth.indices[row]]
        before = np.count_nonzero(assigned < assigned[true][:, None], axis=1) * per_list
        needed[row] = np.maximum((score < score[true][:, None]) @ size, before) + 1
    return needed


def _shared(assigned: Int, together: int = 12) -> Int:  # (m,) -> (m,)
    """One list for each run of 12 queries from adjacent lists, so that they are compared in one tile."""
    order, out = np.argsort(assigned, kind="stable"), np.empty_like(assigned)
    for first in range(0, len(order), together):
        some = order[first : first + together]
        out[some] = assigned[some[len(some) // 2]]
    return out
