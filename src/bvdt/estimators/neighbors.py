"""Nearest neighbors by any Bregman divergence, with scikit-learn's contracts (theory: Neighbor search)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._support.arrays import Float, Int, checked_integer
from .._support.running import RandomState, generator
from .._support.sparse import PointsLike
from ..divergences import BregmanDivergence
from ..lifting import Lifted, lift
from ..neighbors import (
    NeighborIndex,
    Recall,
    Tuned,
    autotuned,
    checked_recall,
    clamp_rounding,
    dual_points,
    ranking_divergence,
)
from ._base import checked

if TYPE_CHECKING:
    from sklearn.utils import Tags


class _Neighbors(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What both classes share: a fitted index, asked for lists and graphs."""

    n_neighbors: int
    metric: str | BregmanDivergence
    side: str
    recall: float
    smoothing: float | str | ArrayLike
    random_state: RandomState
    n_jobs: int | None
    n_samples_fit_: int

    def fit(self, X: PointsLike, y: ArrayLike | None = None) -> Self:
        """Prepare the search among the points X; y is ignored."""
        if self.side not in ("right", "left"):
            raise ValueError(f'side needs "right" or "left"; got {self.side!r}')
        checked_recall(self.recall)
        X = checked(self, X, reset=True, ensure_min_samples=2)
        lifted = lift(X, ranking_divergence(self.metric), self.smoothing)
        self._lifting = lifted.lifting
        self.n_samples_fit_ = lifted.n_points
        self._tuned = self._autotuned(self._sided(lifted), min(self._k(None), lifted.n_points - 1))
        self._own: tuple[Int, Float] | None = None
        self.recall_ = cast(Recall, self._tuned.index.recall)
        return self

    def kneighbors(
        self, X: PointsLike | None = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> NDArray[np.intp] | tuple[Float, NDArray[np.intp]]:
        """Distances and indices of the nearest fitted points, ascending; both (n, n_neighbors).

        Without X those of the fitted points themselves, each without itself. −1 and infinity where fewer were
        found.
        """
        check_is_fitted(self)
        chosen, distances = self._lists(X, self._k(n_neighbors))
        return (distances, chosen) if return_distance else chosen

    def kneighbors_graph(
        self, X: PointsLike | None = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> sparse.csr_matrix:
        """The lists as a CSR matrix (n, n_samples_fit): 1, or the distance; each row ascends by distance."""
        check_is_fitted(self)
        return _graph(*self._lists(X, self._k(n_neighbors)), self.n_samples_fit_, mode)

    def _lists(self, X: PointsLike, k: int) -> tuple[NDArray[np.intp], Float]:  # (n, k) ×2
        most = self.n_samples_fit_ - (X is None)
        if k > most:
            raise ValueError(f"n_neighbors needs at most {most}, the other fitted points; got {k}")
        if X is None:
            index, d = self._own_lists(k)
        else:
            assert self._lifting is not None
            queries = self._sided(self._lifting.transform(checked(self, X, reset=False)))
            index, d = self._index.search(queries, k)
        return index.astype(np.intp), self._distances(d)

    @property
    def _index(self) -> NeighborIndex:
        return self._tuned.index

    def _own_lists(self, k: int) -> tuple[Int, Float]:  # (N, k) ×2
        """Of the fitted points, found once; longer lists need a search of their own."""
        points = self._index.points
        if k > self._tuned.k:
            lists, _ = self._autotuned(points, k).knn_graph()
            return clamp_rounding(points, points, lists)
        if self._own is None:  # threads that ask together find the same
            lists, self.recall_ = self._tuned.knn_graph()
            self._own = clamp_rounding(points, points, lists)
        index, d = self._own
        return index[:, :k], d[:, :k]

    def _autotuned(self, points: Lifted, k: int) -> Tuned:
        seed = int(generator(self.random_state).integers(2**63))
        return autotuned(points, k, self.recall, seed, self.n_jobs)

    def _sided(self, lifted: Lifted) -> Lifted:
        return lifted if self.side == "right" else dual_points(lifted)

    def _distances(self, d: Float) -> Float:
        """In the metric's own values."""
        if self.metric == "euclidean":
            return np.asarray(np.sqrt(2 * d))
        return np.asarray(2 * d if self.metric == "sqeuclidean" else d)

    def _k(self, n_neighbors: int | None) -> int:
        return checked_integer(self.n_neighbors if n_neighbors is None else n_neighbors, "n_neighbors", 1)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = bool(ranking_divergence(self.metric).domain.low >= 0)
        return tags


class NearestNeighbors(_Neighbors):
    """The nearest neighbors of points by any Bregman divergence, to a recall that one asks for.

    Up to 3 000 points the lists are exact. Beyond, the search measures itself on some rows with exact
    answers, spends as much as the recall takes, with 95 % confidence, and says what it reached: ``recall_``.
    The result does not depend on the number of threads.

    Parameters
    ----------
    n_neighbors : int, default=5
    metric : str or BregmanDivergence, default="euclidean"
        "euclidean", "sqeuclidean" and "cosine" as in scikit-learn, a name of ``bvdt.divergences.get``, or an
        instance: then the values are the divergence's own ("squared_euclidean" has a factor ½).
    side : "right" or "left", default="right"
        "right": the fitted points nearest as centers, by d(x, fitted); "left": nearest as points, by
        d(fitted, x). They differ where the divergence is not symmetric.
    recall : float, default=0.95
        Share of the true neighbors that the lists are to hold, above 0 and at most 1; 1 compares all pairs.
    smoothing : float, str or array of shape (n_features,), default="auto"
        As in ``bvdt.transition_matrix``.
    random_state : int, RandomState, Generator or None, default=None
    n_jobs : int or None, default=None
        Threads; None or −1 for all cores.

    Attributes
    ----------
    recall_ : Recall
        ``estimate``, ``low`` and ``high`` of its 95 % interval, and ``n_rows`` that it was measured on: of
        lists of new points, and of the fitted points' own once those were asked for.
    n_samples_fit_ : int
    n_features_in_ : int
    feature_names_in_ : array of str
        Where X had column names.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from bvdt import NearestNeighbors
    >>> X, y = load_digits(return_X_y=True)
    >>> nearest = NearestNeighbors(n_neighbors=3, metric="gid").fit(X)
    >>> divergences, indices = nearest.kneighbors(X[:2])
    >>> [[int(label) for label in labels] for labels in y[indices]]
    [[0, 0, 0], [1, 1, 1]]
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        metric: str | BregmanDivergence = "euclidean",
        side: str = "right",
        recall: float = 0.95,
        smoothing: float | str | ArrayLike = "auto",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.side = side
        self.recall = recall
        self.smoothing = smoothing
        self.random_state = random_state
        self.n_jobs = n_jobs


class KNeighborsTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Neighbors):  # type: ignore[misc]
    """Points to the graph of their nearest neighbors, for whatever takes a precomputed one.

    ``Isomap``, ``TSNE`` and ``DBSCAN(metric="precomputed")`` take it in a scikit-learn pipeline,
    ``scanpy.pp.neighbors(transformer=...)`` as it is. A fitted point is its own first neighbor, so that mode
    "distance" stores n_neighbors + 1 entries per row, as scikit-learn's does.

    Parameters
    ----------
    mode : "distance" or "connectivity", default="distance"
    n_neighbors : int, default=5
    metric : str or BregmanDivergence, default="euclidean"
    side : "right" or "left", default="right"
    recall : float, default=0.95
    smoothing : float, str or array of shape (n_features,), default="auto"
    random_state : int, RandomState, Generator or None, default=None
    n_jobs : int or None, default=None
        As in :class:`NearestNeighbors`.

    Attributes
    ----------
    recall_ : Recall
    n_samples_fit_ : int
    n_features_in_ : int
    feature_names_in_ : array of str
        Where X had column names.

    Examples
    --------
    >>> from sklearn.cluster import DBSCAN
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.pipeline import make_pipeline
    >>> from bvdt import KNeighborsTransformer
    >>> X, _ = load_digits(return_X_y=True)
    >>> clusters = make_pipeline(KNeighborsTransformer(n_neighbors=10), DBSCAN(eps=20, metric="precomputed"))
    >>> int(clusters.fit_predict(X).max()) > 8
    True
    """

    def __init__(
        self,
        *,
        mode: str = "distance",
        n_neighbors: int = 5,
        metric: str | BregmanDivergence = "euclidean",
        side: str = "right",
        recall: float = 0.95,
        smoothing: float | str | ArrayLike = "auto",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.mode = mode
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.side = side
        self.recall = recall
        self.smoothing = smoothing
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: PointsLike, y: ArrayLike | None = None) -> KNeighborsTransformer:
        """Prepare the search among the points X; y is ignored."""
        super().fit(X)
        self._n_features_out = self.n_samples_fit_
        return self

    def transform(self, X: PointsLike) -> sparse.csr_matrix:
        """The graph of points X and their nearest fitted points, (n, n_samples_fit)."""
        check_is_fitted(self)
        return _graph(*self._lists(X, self._entries()), self.n_samples_fit_, self.mode)

    def fit_transform(self, X: PointsLike, y: ArrayLike | None = None) -> sparse.csr_matrix:
        """The graph of the points X themselves, each its own first neighbor."""
        index, d = self.fit(X)._lists(None, max(1, self._entries() - 1))
        own = np.arange(self.n_samples_fit_)[:, None]
        index, d = np.hstack([own, index]), np.hstack([np.zeros(own.shape), d])
        return _graph(index[:, : self._entries()], d[:, : self._entries()], self.n_samples_fit_, self.mode)

    def _entries(self) -> int:
        return self._k(None) + (self.mode == "distance")


def _graph(index: NDArray[np.intp], d: Float, n_fitted: int, mode: str) -> sparse.csr_matrix:
    if mode not in ("distance", "connectivity"):
        raise ValueError(f'mode needs "distance" or "connectivity"; got {mode!r}')
    found = index >= 0
    data = d[found] if mode == "distance" else np.ones(int(found.sum()))
    first = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
    return sparse.csr_matrix((data, index[found], first), shape=(len(index), n_fitted))
