"""Autotune: an index and the least search budget that reach a recall, by ground truth.

Nothing is timed, so the same points, seed and recall give the same parameters, and so the same lists, on
every machine; where two ways lead to the recall, the one with fewer comparisons is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._support.progress import Progress
from ..lifting import Lifted
from .ground_truth import SAMPLE, GroundTruth, Target
from .index import Lists, NeighborIndex, Tunable, is_few
from .ivf import N_CANDIDATES, RERANK_COST
from .params import IndexParams
from .projection import FEW_FEATURES, Projection, principal
from .recall import Recall, sure_share

RECALL = 0.95  # of new points' neighbors, where none is asked for
K_NEW = 15  # that they are tuned for
_REPRESENTATIVES = 15_000  # points that directions are tried on


def choose_directions(
    points: Lifted, projection: Projection, k: int, recall: float, rng: np.random.Generator
) -> int:
    """How many principal directions to compare dense points in; 0 for all coordinates.

    The estimate ranks true neighbors behind others; how long lists have to be that are re-ranked is tried on
    some points that stand for all.
    """
    n, d = points.n_points, points.n_features
    truth = GroundTruth.of(points, k, rng, SAMPLE // 8)
    drawn = rng.choice(n, min(n, _REPRESENTATIVES), replace=False)
    some = np.unique(np.concatenate([truth.rows, truth.indices.ravel(), drawn]))
    sample, rows, true = points.take(some), *(np.searchsorted(some, i) for i in (truth.rows, truth.indices))
    allowed = (1 - sure_share(recall, SAMPLE, k)) / 2  # half of the misses are the estimate's
    guess = N_CANDIDATES
    best, least, projected = 0, float(guess * d), projection(sample)
    for r in _ladder(projection.directions.shape[1]):
        if (guess + d) * r + RERANK_COST * k >= least:
            break  # however short the lists were
        estimate = projection.shortened(projected, r).divergences(rows, slice(None))
        estimate[np.arange(len(rows)), rows] = np.inf
        of_true = np.take_along_axis(estimate, true, axis=1)
        before = (estimate[:, None, :] < of_true[:, :, None]).sum(axis=2)
        among = (of_true[:, None, :] < of_true[:, :, None]).sum(axis=2)
        ranks = among + n / len(some) * (before - among)
        rerank = int(np.quantile(ranks, 1 - allowed, method="higher")) + 1
        cost = (guess + d) * r + RERANK_COST * max(k, rerank)
        if cost < least:
            best, least = r, cost
    return best


def _ladder(most: int) -> list[int]:
    """Numbers of directions from 32 on, each √2 times the last, less the one coordinate of what is left."""
    return [r for r in (round(32 * 2 ** (rung / 2)) - 1 for rung in range(12)) if r <= most]


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
    return index, index.knn_graph(k, index.strategy.default_graph(k), progress), index.recall


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
        strategy, target, alone = self.index.strategy, self.target, self.index.search_params
        assert isinstance(strategy, Tunable)
        assert alone is not None
        for params in strategy.graph_params(target, alone):
            lists = strategy.knn_graph(self.k, params, progress, target.stop())
            if target.is_met(lists[1][target.rows]):
                break
        return self.index.ranked(lists, params), target.measured(lists[1][target.rows])


def autotuned(points: Lifted, k: int, recall: float, seed: int, n_jobs: int | None = None) -> Tuned:
    """An index for lists of k at a recall; 1 compares all pairs."""
    if recall == 1:
        return Tuned(NeighborIndex.build(points, IndexParams("exact", seed=seed), n_jobs=n_jobs), k, None)
    directions, projection = 0, None
    plain = not (points.is_sparse or points.is_mixed)
    if plain and points.n_features > FEW_FEATURES and not is_few(points):
        projection = principal(points, seed)
        directions = choose_directions(points, projection, k, recall, np.random.default_rng((seed, 2)))
    params = IndexParams("auto", directions, seed=seed)
    return tuned(NeighborIndex.build(points, params, n_jobs=n_jobs, projection=projection), k, recall)


def tuned(index: NeighborIndex, k: int, recall: float) -> Tuned:
    """An index that is there, with the search parameters that reach a recall for lists of k."""
    strategy, rng = index.strategy, np.random.default_rng((index.params.seed, 1))  # its own
    if not isinstance(strategy, Tunable):
        return Tuned(index, k, None)
    target = Target(recall, strategy.ground_truth(k, rng))
    search_params, reached = strategy.tune(target)
    return Tuned(replace(index, search_params=search_params, recall=reached, tuned_for=k), k, target)


def for_new_points(index: NeighborIndex | None, points: Lifted, n_jobs: int | None) -> NeighborIndex:
    """An index that finds new points' neighbors at ``RECALL``: that given, tuned where its recall is unknown.

    Sparse points have a fixed budget, as ground truth among them costs more than a search.
    """
    if index is not None and index.serves_new_points:
        known = points.is_sparse or points.is_mixed or index.recall is not None
        return index if known else tuned(index, K_NEW, RECALL).index
    if points.is_sparse or points.is_mixed:
        return NeighborIndex.build(points, n_jobs=n_jobs)
    return autotuned(points, K_NEW, RECALL, 0, n_jobs).index


def checked_recall(recall: object) -> float:
    """A number above 0 and at most 1."""
    if isinstance(recall, bool) or not isinstance(recall, int | float | np.number) or not 0 < recall <= 1:
        raise ValueError(f"recall needs a number above 0 and at most 1; got {recall!r}")
    return float(recall)
