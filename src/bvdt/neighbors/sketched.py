"""Mixed points: candidates by inverted lists over a sketch of them, re-ranked by the divergence itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._support.arrays import Float, Index, Int, batches
from .._support.progress import Progress
from ..lifting import Lifted, sketch
from .exact import empty_lists, reranked
from .ground_truth import GroundTruth, Target
from .ivf import InvertedLists
from .nn_descent import Stop, never
from .params import IndexParams, SearchParams
from .recall import Recall

# Candidates of the sketch and how many of them are re-ranked; the middle one is the default.
LADDER = ((3_000, 60), (6_000, 120), (12_000, 250), (40_000, 500), (150_000, 1_000))


@dataclass(frozen=True, eq=False)
class SketchedLists:
    """Mixed points, and inverted lists of what stands for them."""

    points: Lifted
    lists: InvertedLists
    n_jobs: int | None

    @classmethod
    def build(cls, points: Lifted, params: IndexParams, n_jobs: int | None) -> SketchedLists:
        return cls(points, InvertedLists.build(sketch(points), params, n_jobs), n_jobs)

    def default(self, k: int) -> SearchParams:
        n_candidates, rerank = LADDER[1]
        return SearchParams(max(n_candidates, 8 * k), rerank=max(rerank, 4 * k))

    def default_graph(self, k: int) -> SearchParams:
        return self.default(k)

    def search(self, queries: Lifted, k: int, params: SearchParams) -> tuple[Int, Float]:  # (n, k) ×2
        """The k nearest points of other ones, lifted alike."""
        width = self._width(k, params)
        return self._best(queries, self.lists.search(sketch(queries), width, self._estimates(params))[0], k)

    def search_own(self, chosen: Index, k: int, params: SearchParams) -> tuple[Int, Float]:  # (n, k) ×2
        """Those of some of the points, without themselves."""
        width = self._width(k, params, 1)
        found = self.lists.search_own(chosen, width, self._estimates(params))[0]
        return self._best(self.points.take(chosen), found, k)

    def knn_graph(
        self, k: int, params: SearchParams, progress: Progress = False, stop: Stop = never
    ) -> tuple[Int, Float]:  # (N, k) ×2
        """Those of all points."""
        width = self._width(k, params, 1)
        found = self.lists.knn_graph(width, self._estimates(params), progress)[0]
        return self._best(self.points, found, k)

    # -- tuning -------------------------------------------------------------------------------------------

    def ground_truth(self, k: int, rng: np.random.Generator) -> GroundTruth:
        return GroundTruth.of(self.points, k, rng)

    def tune(self, target: Target) -> tuple[SearchParams, Recall]:
        """The first rung of the ladder that reaches the recall, or all points; and what it reaches."""
        k, n = target.k, self.points.n_points
        for n_candidates, rerank in (*LADDER, (n, n)):
            params = SearchParams(n_candidates, rerank=max(rerank, k))
            divergences = self.search_own(target.rows, k, params)[1]
            if target.enough(target.truth.hits(divergences)):
                break
        return params, target.measured(divergences)

    def graph_params(self, target: Target, alone: SearchParams) -> list[SearchParams]:
        return [alone]

    # -- inside -------------------------------------------------------------------------------------------

    def _width(self, k: int, params: SearchParams, fewer: int = 0) -> int:
        return min(max(k, params.rerank), self.points.n_points - fewer)

    def _estimates(self, params: SearchParams) -> SearchParams:
        return replace(params, rerank=0)

    def _best(self, queries: Lifted, found: Int, k: int) -> tuple[Int, Float]:
        """Ranked by the divergence, some queries at a time."""
        lists = empty_lists(len(found), k)
        for rows in batches(len(found), 16 * found.shape[1]):
            some = queries.slice(rows.start, rows.stop)
            lists[0][rows], lists[1][rows] = reranked(some, self.points, found[rows], k, self.n_jobs)
        return lists
