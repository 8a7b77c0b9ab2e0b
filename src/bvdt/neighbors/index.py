"""One index for neighbor searches: points prepared once, asked for lists of their own or of new points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from .._support.arrays import Float, Index, Int
from .._support.progress import Progress
from ..lifting import Lifted
from .differences import clamp_rounding, rerank_by_differences
from .exact import exact_lists
from .ground_truth import GroundTruth, Target
from .ivf import InvertedLists
from .nn_descent import Stop, never
from .params import IndexParams, SearchParams
from .postings import PostingIndex
from .projection import FEW_FEATURES, Projection
from .recall import Recall
from .sketched import SketchedLists

ALL_PAIRS = 3000  # points up to which all pairs are compared

Lists = tuple[Int, Float]  # (n, k) ×2: indices and divergences, ascending; −1 and +∞ where fewer were found


class Strategy(Protocol):
    """How candidates are found."""

    def default(self, k: int) -> SearchParams: ...
    def search(self, queries: Lifted, k: int, params: SearchParams) -> Lists: ...
    def search_own(self, chosen: Index, k: int, params: SearchParams) -> Lists: ...
    def knn_graph(
        self, k: int, params: SearchParams, progress: Progress = False, stop: Stop = never
    ) -> Lists: ...
    def default_graph(self, k: int) -> SearchParams: ...


@runtime_checkable
class Tunable(Strategy, Protocol):
    """One with a budget, which ground truth chooses for a recall."""

    def ground_truth(self, k: int, rng: np.random.Generator) -> GroundTruth: ...
    def tune(self, target: Target) -> tuple[SearchParams, Recall]: ...
    def graph_params(self, target: Target, alone: SearchParams) -> list[SearchParams]: ...


class AllPairs:
    """Every query is compared with every point, where ``SearchParams`` have no meaning."""

    def __init__(self, points: Lifted, n_jobs: int | None) -> None:
        self.points = points
        # Dense tiles compare all pairs faster than a matrix product and a partial sort do.
        kept = points.is_sparse or points.is_mixed
        self._lists = None if kept else InvertedLists.build(points, IndexParams(), n_jobs)

    def default(self, k: int) -> SearchParams:
        return SearchParams(self.points.n_points)

    default_graph = default

    def search(self, queries: Lifted, k: int, params: SearchParams) -> Lists:
        if self._lists is None:
            return exact_lists(queries, self.points, k)
        return self._lists.search(queries, k, self.default(k))

    def search_own(self, chosen: Index, k: int, params: SearchParams) -> Lists:
        if self._lists is None:
            return exact_lists(self.points, self.points, k, chosen, chosen)
        return self._lists.search_own(chosen, k, self.default(k))

    def knn_graph(
        self, k: int, params: SearchParams, progress: Progress = False, stop: Stop = never
    ) -> Lists:
        if self._lists is None:
            return self.search_own(np.arange(self.points.n_points), k, params)
        return self._lists.knn_graph(k, self.default(k), progress)


@dataclass(frozen=True, eq=False)
class NeighborIndex:
    """Points prepared for neighbor searches by any Bregman divergence; it never changes.

    Attributes
    ----------
    points : Lifted
        Neighbors are the nearest as centers (right); of ``dual_points`` they are the left ones.
    params : IndexParams
        With the same ones the same points give the same lists, for any number of threads and on any CPU.
    search_params : SearchParams or None
        Search parameters where a search is given no others; None: a default by the number of neighbors.
    recall : Recall or None
        What searches reach by them, measured on held-out queries; None: not measured.
    tuned_for : int
        Length of the lists that they were tuned for, or 0.

    Examples
    --------
    >>> import numpy as np
    >>> from bvdt.lifting import lift
    >>> from bvdt.neighbors import NeighborIndex
    >>> points = lift(np.array([[0.0], [1.0], [3.0], [7.0]]), "squared_euclidean")
    >>> NeighborIndex.build(points).knn_graph(1)[0].ravel()
    array([1, 0, 1, 2], dtype=int32)
    """

    points: Lifted
    params: IndexParams
    search_params: SearchParams | None
    recall: Recall | None
    strategy: Strategy
    tuned_for: int = 0

    @classmethod
    def build(
        cls,
        points: Lifted,
        params: IndexParams | None = None,
        *,
        search_params: SearchParams | None = None,
        n_jobs: int | None = None,
        projection: Projection | None = None,
    ) -> NeighborIndex:
        """An index by these parameters; ``autotuned`` chooses them for a recall.

        ``projection``: the points' principal directions by the same seed, where they are there already.
        """
        params = params or IndexParams()
        strategy = params.strategy
        if strategy == "auto":
            strategy = "exact" if is_few(points) else "postings" if points.is_sparse else "ivf"
        if strategy != "exact" and (strategy == "postings") != points.is_sparse:
            kind = "sparse" if points.is_sparse else "dense"
            raise ValueError(f'strategy "{strategy}" does not take {kind} points; "auto" does')
        params = replace(params, strategy=strategy)
        built: Strategy
        if strategy == "exact":
            built = AllPairs(points, n_jobs)
        elif points.is_mixed:
            built = SketchedLists.build(points, params, n_jobs)
        elif strategy == "ivf":
            built = InvertedLists.build(points, params, n_jobs, projection)
        else:
            built = PostingIndex.build(points, params, n_jobs)
        recall = Recall.exact() if strategy == "exact" else None
        return cls(points, params, search_params, recall, built)

    @property
    def serves_new_points(self) -> bool:
        """Whether it is worth keeping for them: not where many coordinates are compared as they are."""
        return self.recall is not None or self.points.is_sparse or self.points.n_features <= FEW_FEATURES

    def search(self, queries: Lifted, k: int, params: SearchParams | None = None) -> Lists:
        """The k nearest points of queries, lifted alike."""
        params = self._params(k, params)

        def wider(rows: Index, width: int) -> Lists:
            return self.strategy.search(queries.take(rows), width, params)

        lists = self.strategy.search(queries, k, params)
        lists = rerank_by_differences(queries, self.points, lists, self.points.n_points, wider)
        return clamp_rounding(queries, self.points, lists)

    def search_own(self, chosen: Index, k: int, params: SearchParams | None = None) -> Lists:
        """Those of some of the points, without themselves."""
        params = self._params(k, params)

        def wider(rows: Index, width: int) -> Lists:
            return self.strategy.search_own(chosen[rows], width, params)

        lists = self.strategy.search_own(chosen, k, params)
        return rerank_by_differences(
            self.points.take(chosen), self.points, lists, self.points.n_points - 1, wider
        )

    def knn_graph(self, k: int, params: SearchParams | None = None, progress: Progress = False) -> Lists:
        """Those of all points, without themselves."""
        params = self._params(k, params)
        return self.ranked(self.strategy.knn_graph(k, params, progress), params)

    def ranked(self, lists: Lists, params: SearchParams) -> Lists:
        """Lists of all points, ranked by differences where rounding hides who is nearer."""

        def wider(rows: Index, width: int) -> Lists:
            return self.strategy.search_own(rows, width, params)

        return rerank_by_differences(self.points, self.points, lists, self.points.n_points - 1, wider)

    def _params(self, k: int, params: SearchParams | None) -> SearchParams:
        """Those given, or those tuned, in proportion where longer lists are asked for than they are for."""
        if params is not None or self.search_params is None:
            return params or self.strategy.default(k)
        times, tuned = max(1.0, k / (self.tuned_for or k)), self.search_params
        return replace(
            tuned,
            n_candidates=round(times * tuned.n_candidates),
            n_postings=round(times * tuned.n_postings),
            rerank=round(times * tuned.rerank),
        )


def is_few(points: Lifted) -> bool:
    """Whether all pairs are compared."""
    return points.n_points <= ALL_PAIRS
