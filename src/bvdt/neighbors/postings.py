"""Sparse points: an inverted index over the features, chunks of similar points, and NN-descent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _core
from .._support.arrays import Float, Index, Int
from .._support.progress import Progress
from .._support.running import n_threads
from ..lifting import Lifted
from ..lifting.lifted import KernelArrays
from ..tree import cut_into_chunks
from .exact import empty_lists, exact_lists, reranked
from .ground_truth import GroundTruth, Target
from .nn_descent import Stop, descend, never, read_lists
from .params import IndexParams, SearchParams
from .recall import Recall

CHUNK = 2000  # points compared with each other
ROUNDS = 3  # chunks that a point is in
# Search budgets, postings and re-ranked candidates, from which tuning chooses; the middle one is the default.
LADDER = ((5_000, 60), (20_000, 100), (80_000, 200), (320_000, 400), (1_280_000, 600))
N_ITER, MAX_ITER = 2, 6  # of a graph where no recall is asked for, and where one is


@dataclass(frozen=True, eq=False)
class PostingIndex:
    """Sparse points by their features."""

    points: Lifted
    seed: int
    kernel: _core.Postings
    n_jobs: int | None

    @classmethod
    def build(cls, points: Lifted, params: IndexParams, n_jobs: int | None) -> PostingIndex:
        return cls._filed(points, params.seed, n_jobs)

    @classmethod
    def _filed(cls, points: Lifted, seed: int, n_jobs: int | None) -> PostingIndex:
        arrays: KernelArrays = (*points.arrays, points.w, n_threads(n_jobs))
        return cls(points, seed, _core.Postings(*arrays), n_jobs)

    def __reduce__(self) -> tuple[object, ...]:
        return self._filed, (self.points, self.seed, self.n_jobs)

    def default(self, k: int) -> SearchParams:
        n_postings, rerank = LADDER[2]
        return SearchParams(n_postings=n_postings, rerank=max(rerank, k))

    def default_graph(self, k: int) -> SearchParams:
        return SearchParams(n_iter=N_ITER, n_forward=k)

    def search(self, queries: Lifted, k: int, params: SearchParams) -> tuple[Int, Float]:  # (n, k) ×2
        """The k nearest points of other ones, lifted alike."""
        found = self._read(queries, np.full(queries.n_points, -1, np.int32), k, params)
        short = np.flatnonzero(found[0][:, -1] < 0)  # whose features few points have
        if len(short):
            found[0][short], found[1][short] = exact_lists(queries, self.points, k, chosen=short)
        return found

    def search_own(self, chosen: Index, k: int, params: SearchParams) -> tuple[Int, Float]:  # (n, k) ×2
        """Those of some of the points, without themselves."""
        return self._read(self.points.take(chosen), chosen.astype(np.int32), k, params)

    def knn_graph(
        self, k: int, params: SearchParams, progress: Progress = False, stop: Stop = never
    ) -> tuple[Int, Float]:  # (N, k) ×2
        """Those of all points: by postings, or by chunks, then by NN-descent until ``stop`` says so."""
        n, width = self.points.n_points, min(max(k, params.n_forward), self.points.n_points - 1)
        if params.n_postings:
            index, divergence = self._read(self.points, np.arange(n, dtype=np.int32), width, params)
        else:
            index, divergence = empty_lists(n, width)
        order = np.arange(n, dtype=np.int32)
        short = np.flatnonzero(index[:, k - 1] < 0)  # points whose features few others have
        if params.n_postings and len(short) <= n // 100:
            index[short], divergence[short] = exact_lists(self.points, self.points, width, short, short)
        elif len(short):
            order = self._compare_chunks(index, divergence)
        if not params.n_iter:
            return reranked(self.points, self.points, index, k, self.n_jobs)
        threads = n_threads(self.n_jobs)
        start: KernelArrays = (*self.points.arrays, self.points.u, self.points.w, order, index)
        start += (params.n_forward or k, threads)
        lists = _core.SparseDescent(*start)

        def read(rows: Index) -> tuple[Int, Float]:  # (m,) -> (m, k) ×2
            found, _ = read_lists(lists, rows, width, threads)
            return reranked(self.points.take(rows), self.points, found, k, self.n_jobs)

        return descend(lists, n, read, k, params.n_iter, stop, self.n_jobs, progress)

    # -- tuning -------------------------------------------------------------------------------------------

    def ground_truth(self, k: int, rng: np.random.Generator) -> GroundTruth:
        return GroundTruth.of(self.points, k, rng)

    def tune(self, target: Target) -> tuple[SearchParams, Recall]:
        """The first rung of the ladder that reaches the recall, or all postings; and what it reaches."""
        k, n = target.k, self.points.n_points
        for n_postings, rerank in (*LADDER, (max(1, self.points.n_values), n)):
            params = SearchParams(n_postings=n_postings, rerank=max(rerank, k))
            divergences = self.search_own(target.rows, k, params)[1]
            if target.enough(target.truth.hits(divergences)):
                break
        return params, target.measured(divergences)

    def graph_params(self, target: Target, alone: SearchParams) -> list[SearchParams]:
        """Ways to the recall, tried in turn: more and more postings, or chunks before; always NN-descent."""
        k = target.k
        n_forward = min(k + k // 3, self.points.n_points - 1)
        ways = [SearchParams(0, max(k, r), n, n_iter=MAX_ITER, n_forward=n_forward) for n, r in LADDER[::2]]
        first = self.search_own(target.rows, k, ways[0])[1]
        if 3 * target.truth.hits(first).mean() < k:  # common features decide
            ways[0] = SearchParams(n_iter=MAX_ITER, n_forward=n_forward)
        return ways

    # -- inside -------------------------------------------------------------------------------------------

    def _read(self, queries: Lifted, own: Int, k: int, params: SearchParams) -> tuple[Int, Float]:
        found = empty_lists(queries.n_points, k)
        indptr, indices, x = queries.arrays[:3]
        budget = (params.n_postings, max(params.rerank, k))
        every, threads = np.arange(queries.n_points, dtype=np.int32), n_threads(self.n_jobs)
        self.kernel.search(indptr, indices, x, queries.u, own, every, *budget, *found, threads)
        return found

    def _compare_chunks(self, index: Int, divergence: Float) -> Int:  # (N,)
        """What is in the same chunk, in several clusterings; the last one's order."""
        rng, order = np.random.default_rng(self.seed), np.empty(0, np.int32)
        for _ in range(ROUNDS):
            order, bounds = cut_into_chunks(self.points, CHUNK, rng, self.n_jobs)
            call: KernelArrays = (*self.points.arrays, self.points.u, self.points.w, order, bounds)
            call += (index, divergence, n_threads(self.n_jobs))
            _core.compare_chunks(*call)
        return order
