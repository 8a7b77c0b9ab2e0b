"""A map of the points in two dimensions as a scikit-learn estimator."""

from __future__ import annotations

from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from .._support.arrays import Float
from .._support.sparse import OperatorLike, PointsLike
from ..walks.layout import map_coordinates, placed_among
from ._base import WalkEstimator

_NEAREST = 15  # nearest fitted points that place a new one


class Map(ClassNamePrefixFeaturesOutMixin, TransformerMixin, WalkEstimator):  # type: ignore[misc]
    """A map in two dimensions, for the eye: points that the walk links are drawn near each other.

    t-SNE's forces on the walk's near field: every point is drawn to its neighbors and pushed off by all
    others (``bvdt.walks.layout``), in O(N) per step, from the walk's leading eigenvectors on. Its axes have
    no meaning, and distances between far groups little; for classifiers and clusters take
    ``SpectralEmbedding``.

    Parameters
    ----------
    {walk}

    Attributes
    ----------
    embedding_ : array of shape (n_points, 2)
    operator_ : WalkOperator
    n_features_in_ : int
    feature_names_in_ : array of str
        Where X had column names.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from bvdt import Map
    >>> X, _ = load_digits(return_X_y=True)
    >>> Map(random_state=0).fit_transform(X).shape
    (1797, 2)
    """

    embedding_: Float

    def fit(
        self,
        X: PointsLike | None = None,
        y: ArrayLike | None = None,
        *,
        operator: OperatorLike | None = None,
        neighbors: object = None,
    ) -> Map:
        """Lay out the points X, or those of a finished ``operator``; y is ignored.

        A graph of affinities ≥ 0 is such an operator: ``fit(operator=graph)``.
        ``neighbors`` are lists made elsewhere, beside X or as a graph of distances alone, as in
        ``bvdt.transition_matrix``: then ``n_neighbors`` has no effect.
        """
        self.embedding_ = map_coordinates(
            self._fit_operator(X, operator, neighbors), random_state=self.random_state
        )
        return self

    def fit_transform(
        self, X: PointsLike, y: ArrayLike | None = None, *, neighbors: object = None
    ) -> Float:  # (n_points, 2)
        """The places of the points X; ``transform`` would first look for each of them."""
        return self.fit(X, neighbors=neighbors).embedding_

    def transform(self, X: PointsLike) -> Float:  # (n_new, 2)
        """Coordinates of new points beside their nearest fitted points; equal points share theirs."""
        index, weight = self._nearest(X, _NEAREST)
        places = placed_among(self.embedding_, index, weight, self.n_jobs)
        equal = weight.max(axis=1) == 1.0  # all of the weight at an equal point
        places[equal] = self.embedding_[index[equal, weight[equal].argmax(axis=1)]]
        return places

    @property
    def _n_features_out(self) -> int:
        return 2
