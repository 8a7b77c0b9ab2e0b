"""One index for neighbor searches: points prepared once, asked for lists of their own or of new points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from .._support.arrays import Float, Index, Int
from .._support.progress import Progress
from ..lifting import Lifted
from .autotune import (
    MOST_ITERATIONS,
    GroundTruth,
    Target,
    choose_directions,
    tune_graph,
    tune_lists,
    tune_postings,
)
from .differences import told_apart, zeroed
from .exact import exact_lists
from .ivf import InvertedLists
from .nn_descent import Stop, never
from .params import IndexParams, SearchParams
from .postings import LADDER, N_ITER, PostingIndex
from .projection import Projection, principal
from .recall import Recall

FEW_FEATURES = 64  # coordinates that are compared as they are
ALL_PAIRS = 3000  # points up to which all pairs are compared
RECALL = 0.95
K_NEW = 15  # neighbors of a new point that searches are tuned for

Lists = tuple[Int, Float]  # (n, k) ×2: indices and divergences, ascending; −1 and +∞ where fewer were found


class Strategy(Protocol):
    """How candidates are found."""

    @property
    def points(self) -> Lifted: ...
    def default(self, k: int) -> SearchParams: ...
    def search(self, queries: Lifted, k: int, params: SearchParams) -> Lists: ...
    def search_own(self, chosen: Index, k: int, params: SearchParams) -> Lists: ...
    def knn_graph(
        self, k: int, params: SearchParams, progress: Progress = False, stop: Stop = never
    ) -> Lists: ...


class AllPairs:
    """Every query is compared with every point, where ``SearchParams`` have no meaning."""

    def __init__(self, points: Lifted, n_jobs: int | None) -> None:
        self.points = points
        # Dense tiles compare all pairs faster than a matrix product and a partial sort do.
        self._lists = None if points.is_sparse else InvertedLists.build(points, IndexParams(), n_jobs)

    def default(self, k: int) -> SearchParams:
        return SearchParams(self.points.n_points)

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
        What a search spends where it is not told otherwise; None: a default by the number of neighbors.
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
    _strategy: Strategy
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
            few = points.n_points <= ALL_PAIRS
            strategy = "exact" if few else "postings" if points.is_sparse else "ivf"
        if (strategy == "ivf" and points.is_sparse) or (strategy == "postings" and not points.is_sparse):
            kind = "sparse" if points.is_sparse else "dense"
            raise ValueError(f'strategy "{strategy}" does not take {kind} points; "auto" does')
        params = replace(params, strategy=strategy)
        built: Strategy
        if strategy == "exact":
            built = AllPairs(points, n_jobs)
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
            return self._strategy.search(queries.take(rows), width, params)

        lists = self._strategy.search(queries, k, params)
        lists = told_apart(queries, self.points, lists, self.points.n_points, wider)
        return zeroed(queries, self.points, lists)

    def search_own(self, chosen: Index, k: int, params: SearchParams | None = None) -> Lists:
        """Those of some of the points, without themselves."""
        params = self._params(k, params)

        def wider(rows: Index, width: int) -> Lists:
            return self._strategy.search_own(chosen[rows], width, params)

        lists = self._strategy.search_own(chosen, k, params)
        return told_apart(self.points.take(chosen), self.points, lists, self.points.n_points - 1, wider)

    def knn_graph(self, k: int, params: SearchParams | None = None, progress: Progress = False) -> Lists:
        """Those of all points, without themselves."""
        params = self._params(k, params)
        return self._ranked(self._strategy.knn_graph(k, params, progress), params)

    def _ranked(self, lists: Lists, params: SearchParams) -> Lists:
        """Lists of all points, ranked by differences where rounding hides who is nearer."""

        def wider(rows: Index, width: int) -> Lists:
            return self._strategy.search_own(rows, width, params)

        return told_apart(self.points, self.points, lists, self.points.n_points - 1, wider)

    def _params(self, k: int, params: SearchParams | None) -> SearchParams:
        """Those given, or those tuned, in proportion where longer lists are asked for than they are for."""
        if params is not None or self.search_params is None:
            return params or self._strategy.default(k)
        times, tuned = max(1.0, k / (self.tuned_for or k)), self.search_params
        most = self.points.n_values if self.points.is_sparse else self.points.n_points
        return replace(
            tuned,
            n_candidates=min(round(times * tuned.n_candidates), max(most, 1)),
            rerank=round(times * tuned.rerank),
        )


def neighbor_graph(
    points: Lifted,
    k: int,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    progress: Progress = False,
    recall: float | None = RECALL,
) -> tuple[NeighborIndex, Lists, Recall | None]:
    """An index, its points' lists, and their recall; ``recall`` None: a fixed budget, unmeasured."""
    seed = int(rng.integers(2**63))
    if recall is not None:
        tuned = autotuned(points, k, recall, seed, n_jobs)
        lists, reached = tuned.knn_graph(progress)
        return tuned.index, lists, reached
    index = NeighborIndex.build(points, IndexParams(seed=seed), n_jobs=n_jobs)
    by_chunks = SearchParams(0, 0, N_ITER, k) if isinstance(index._strategy, PostingIndex) else None
    return index, index.knn_graph(k, by_chunks, progress), index.recall


@dataclass(frozen=True, eq=False)
class Tuned:
    """An index whose search parameters reach a recall, and what that was measured by."""

    index: NeighborIndex
    k: int
    target: Target | None  # None: exact

    def knn_graph(self, progress: Progress = False) -> tuple[Lists, Recall]:
        """The lists of all points, and what they reach on the held-out queries."""
        if self.target is None:
            return self.index.knn_graph(self.k, progress=progress), Recall.exact()
        strategy, target = self.index._strategy, self.target
        for params in self._graph_params(target):
            lists = strategy.knn_graph(self.k, params, progress, target.stop())
            if target.is_met(lists[1][target.rows]):
                break
        return self.index._ranked(lists, params), target.measured(lists[1][target.rows])

    def _graph_params(self, target: Target) -> list[SearchParams]:
        """Ways to the recall, the cheapest first; the last is what sampled searches reached it by."""
        strategy, alone = self.index._strategy, self.index.search_params
        assert alone is not None
        if isinstance(strategy, InvertedLists):
            return [tune_graph(strategy, target, alone), alone]
        assert isinstance(strategy, PostingIndex)
        k = self.k
        n_links = min(k + k // 3, self.index.points.n_points - 1)
        ways = [SearchParams(n, max(k, rerank), MOST_ITERATIONS, n_links) for n, rerank in LADDER[::2]]
        first = strategy.search_own(target.rows, k, ways[0])[1]
        if 3 * target.truth.hits(first).mean() < k:  # common features decide
            ways = [SearchParams(0, 0, MOST_ITERATIONS, n_links), *ways[1:]]
        return ways


def autotuned(points: Lifted, k: int, recall: float, seed: int, n_jobs: int | None = None) -> Tuned:
    """An index for lists of k at a recall; 1 compares all pairs."""
    if recall == 1:
        return Tuned(NeighborIndex.build(points, IndexParams("exact", seed=seed), n_jobs=n_jobs), k, None)
    directions, projection = 0, None
    if not points.is_sparse and points.n_features > FEW_FEATURES and points.n_points > ALL_PAIRS:
        projection = principal(points, seed)
        directions = choose_directions(points, projection, k, recall, np.random.default_rng((seed, 2)))
    params = IndexParams("auto", directions, seed=seed)
    return tuned(NeighborIndex.build(points, params, n_jobs=n_jobs, projection=projection), k, recall)


def tuned(index: NeighborIndex, k: int, recall: float) -> Tuned:
    """An index that is there, with the search parameters that reach a recall for lists of k."""
    strategy, rng = index._strategy, np.random.default_rng((index.params.seed, 1))  # its own
    if isinstance(strategy, InvertedLists):
        target = Target(recall, GroundTruth.by_lists(strategy, k, rng))
        search_params, reached = tune_lists(strategy, target)
    elif isinstance(strategy, PostingIndex):
        target = Target(recall, GroundTruth.of(index.points, k, rng))
        search_params, reached = tune_postings(strategy, target)
    else:
        return Tuned(index, k, None)
    tuned = replace(index, search_params=search_params, recall=reached, tuned_for=k)
    return Tuned(tuned, k, target)


def for_new_points(index: NeighborIndex | None, points: Lifted, n_jobs: int | None) -> NeighborIndex:
    """An index that finds new points' neighbors at ``RECALL``: that given, tuned where its recall is unknown.

    Sparse points have a fixed budget, as ground truth among them costs more than a search.
    """
    if index is not None and index.serves_new_points:
        known = points.is_sparse or index.recall is not None
        return index if known else tuned(index, K_NEW, RECALL).index
    if points.is_sparse:
        return NeighborIndex.build(points, n_jobs=n_jobs)
    return autotuned(points, K_NEW, RECALL, 0, n_jobs).index


def checked_recall(recall: Any) -> float:
    """A number above 0 and at most 1."""
    if isinstance(recall, bool) or not isinstance(recall, int | float | np.number) or not 0 < recall <= 1:
        raise ValueError(f"recall needs a number above 0 and at most 1; got {recall!r}")
    return float(recall)
