"""What the estimators share: data or a finished operator in, the operator and its features out."""

from __future__ import annotations

import warnings
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from .._support.arrays import Float
from .._support.defaults import DIVERGENCE, N_NEIGHBORS
from .._support.running import RandomState
from .._support.sparse import Operator, OperatorLike, Points, PointsLike
from ..divergences import BregmanDivergence, get
from ..lifting import Views, ViewsLifting, check_readable
from ..operators import near_weights, transition_matrix
from ..tree import Tree
from ..walks import as_square, looks_like_graph, warn_of_distances
from ._table import INSTEAD, TableEncoder, needs_encoding

if TYPE_CHECKING:
    from sklearn.utils import Tags

# The parameters that all estimators share; ``{walk}`` in a class's docstring stands for this.
_WALK_PARAMETERS = """divergence : str or BregmanDivergence, default="squared_euclidean"
        A name of ``bvdt.divergences.get`` or an instance. "squared_euclidean" takes any finite numbers; "gid"
        is for counts and other values ≥ 0, "cosine" for rows whose length has no meaning.
    bandwidth : float, "auto" or "learn", default="auto"
    smoothing : float, str or array of shape (n_features,), default="auto"
    tree : "ward", "anchor" or bvdt.Tree, default="ward"
    n_blocks : int or None, default=None
    n_trees : int, default=1
    n_neighbors : int, default=15
    random_state : int, RandomState, Generator or None, default=None
    n_jobs : int or None, default=None
    progress : bool, default=False
        Those of ``bvdt.transition_matrix``; ``random_state`` draws all that is random."""


class WalkEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator with the parameters of ``bvdt.transition_matrix`` and, once fitted, ``operator_``."""

    operator_: Operator
    _table: TableEncoder | None = None  # where X was a table of more than numbers
    _recall: float | None = None  # of sparse rows' neighbors; None: a fixed effort that serves labels

    def __init__(
        self,
        divergence: str | BregmanDivergence = DIVERGENCE,
        *,
        bandwidth: float | str = "auto",
        smoothing: float | str | ArrayLike = "auto",
        tree: str | Tree = "ward",
        n_blocks: int | None = None,
        n_trees: int = 1,
        n_neighbors: int = N_NEIGHBORS,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.divergence = divergence
        self.bandwidth = bandwidth
        self.smoothing = smoothing
        self.tree = tree
        self.n_blocks = n_blocks
        self.n_trees = n_trees
        self.n_neighbors = n_neighbors
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__doc__ = (cls.__doc__ or "").replace("{walk}", _WALK_PARAMETERS)

    def _fit_operator(
        self, X: PointsLike | None, operator: OperatorLike | None, neighbors: object = None
    ) -> Operator:
        """Set ``operator_``: from X, from neighbor lists, or the given one, beside which X only says what the
        features are."""
        if X is None and operator is None and neighbors is None:
            raise ValueError(f"{type(self).__name__}.fit needs X, operator or neighbors; all are None")
        if operator is not None and neighbors is not None:
            raise ValueError(f"{type(self).__name__}.fit needs operator or neighbors, not both")
        if X is None and operator is None:
            self.operator_ = transition_matrix(None, neighbors=neighbors)
            self._features_of_operator()
            return self.operator_
        points = None if X is None else checked(self, X, reset=True, ensure_min_samples=2)
        if operator is None:
            assert points is not None
            _warn_of_graph(self, points)
            arguments = {name: getattr(self, name) for name in signature(WalkEstimator).parameters}
            arguments["n_neighbors"] = min(
                self.n_neighbors, points.shape[0] - 1
            )  # few points: all others are near
            if neighbors is not None:
                arguments |= {"n_neighbors": 0, "neighbors": neighbors}
            self.operator_ = transition_matrix(points, recall=self._recall_for(points), **arguments)
            if getattr(self, "recall", None) is not None and neighbors is None:
                self.recall_ = self.operator_.near_field.recall
            return self.operator_
        self.operator_ = as_square(operator)
        warn_of_distances(self.operator_)
        if points is None:
            self._features_of_operator()
        elif points.shape[0] != self.operator_.shape[0]:
            n_points = self.operator_.shape[0]
            raise ValueError(f"X needs {n_points} rows, as the operator; it has {points.shape[0]}")
        return self.operator_

    def _recall_for(self, X: Points) -> float | None:
        """What the user asks for, or else of sparse rows the estimator: of dense ones a fixed effort does."""
        asked: float | None = getattr(self, "recall", None)  # only some have the parameter
        return self._recall if asked is None and issparse(X) else asked

    def _features_of_operator(self) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
        lifted = getattr(self.operator_, "lifted", None)
        if lifted is not None:
            self.n_features_in_ = lifted.dimension

    @property
    def views_(self) -> dict[str, dict[str, Any]]:
        """Where X was ``bvdt.Views``: of each its divergence, features, and the factor of its divergence."""
        check_is_fitted(self, "operator_")
        lifting = getattr(getattr(self.operator_, "lifted", None), "lifting", None)
        if not isinstance(lifting, ViewsLifting) or not lifting.names:
            raise AttributeError("views_ is there after a fit to bvdt.Views")
        return lifting.described()

    def _extend(self, X: PointsLike) -> Operator:  # n_new × N
        """Rows of new points."""
        return self._walk().extend(checked(self, X, reset=False))

    def _nearest(self, X: PointsLike, k: int) -> tuple[NDArray[np.intp], Float]:  # (n_new, k) ×2
        """Fitted points nearest to new ones, and their weights: all at an equal one, if there is one."""
        op = self._walk()
        index, divergence = op.nearest(checked(self, X, reset=False), min(k, op.shape[0]))
        same = divergence == 0
        alone = np.where(same.any(axis=1, keepdims=True) & ~same, np.inf, divergence)
        return index, near_weights(alone)

    def _walk(self) -> Operator:
        """The operator, if it can place new points."""
        check_is_fitted(self)
        if not hasattr(self.operator_, "extend"):
            raise ValueError(
                "new points need an operator with extend, as bvdt.transition_matrix gives; "
                f"this one is a {type(self.operator_).__name__}"
            )
        return self.operator_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = bool(get(self.divergence).domain.low >= 0)
        return tags


def _warn_of_graph(estimator: WalkEstimator, X: Points) -> None:
    looks = looks_like_graph(X)
    if looks:
        warnings.warn(
            f"X is {looks}, and its rows are taken as points; a graph of affinities goes in as "
            f"{type(estimator).__name__}.fit(operator=X)",
            UserWarning,
            stacklevel=4,
        )


def _checked_views(estimator: WalkEstimator, X: Views, reset: bool) -> Any:
    """Views have the features of all; whether they are those of the fit is checked where they are lifted."""
    if not len(X):
        raise ValueError("Views needs at least 1 point; they have 0")
    if reset:
        estimator._table = None
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                delattr(estimator, name)
        estimator.n_features_in_ = X.shape[1]
    return X


def _checked_table(estimator: WalkEstimator, X: Any, reset: bool) -> Views:
    """A table of numbers and categories as views."""
    if reset:
        estimator._table = TableEncoder.learn(X)
        estimator.feature_names_in_ = np.array(estimator._table.columns, object)
        estimator.n_features_in_ = len(estimator._table.columns)
    assert estimator._table is not None
    if not hasattr(X, "columns"):
        names = ", ".join(estimator._table.columns[:6])
        raise ValueError(f"X needs to be a table with the fit's columns, {names}; got {type(X).__name__}")
    return estimator._table.views(X)


def checked(estimator: WalkEstimator, X: PointsLike, **options: bool | int) -> Points:
    """X as an array, CSR or Views; values are checked where they are lifted, which names row and column."""
    reset = bool(options.get("reset", True))
    if isinstance(X, Views):
        return _checked_views(estimator, X, reset)
    if needs_encoding(X) if reset else getattr(estimator, "_table", None) is not None:
        return _checked_table(estimator, X, reset)
    if reset:
        estimator._table = None
    check_readable(X)
    try:
        return validate_data(
            estimator, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, **options
        )
    except ValueError:
        from ._texts import explain_text_error  # scikit-learn's part on texts, which numbers do not need

        with explain_text_error(X, INSTEAD):
            raise
