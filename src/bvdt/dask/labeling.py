"""Label propagation for data in many places, with the manners of ``bvdt.LabelPropagation``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.arrays import Float, Int, LabelArray
from .._support.defaults import ALPHA, DIVERGENCE, N_NEIGHBORS
from .._support.progress import Progress
from .._support.running import RandomState
from .._support.sparse import PointsLike
from ..divergences import BregmanDivergence
from ..estimators._labels import check_classes, one_hot, unlabeled_points
from ..sharded import Columns
from ..sharded import columns as column
from ..sharded.executors import Reference
from ..sharded.labels import distributions, hidden_by_halves, spread_scores, walk_scores
from ..sharded.new_points import new_distributions
from ..walks import HiddenLabels
from ..walks.folds import label_folds
from .inputs import labels_of, slabs_of
from .walk import DaskOperator, as_dask_array, transition_matrix

if TYPE_CHECKING:
    from distributed import Client
    from pandas import Series

    from ..dask.inputs import Collection, DaskArray

METHODS = ("spread", "walk")


class LabelPropagation:
    """Classes of all points from the labels of a few, by y ← α·M·y + (1 − α)·y⁰, Eq. (29), on Dask.

    Parameters
    ----------
    divergence, bandwidth, smoothing, n_neighbors, shard_points, random_state
    client, memory_limit, folder, n_jobs, retries, progress
        Those of ``bvdt.dask.transition_matrix``.
    alpha, max_iter, tol, class_balance
        Those of ``bvdt.LabelPropagation``.
    method : "spread" or "walk", default="spread"
        "walk": M is the transition matrix. "spread": M is its symmetrised form.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    transduction_ : Dask array of shape (n_points,)
        Class of each point of the fit, in X's order.
    label_distributions_ : Dask array of shape (n_points, n_classes)
        Its probabilities; rows sum to 1.
    n_iter_ : int
        Products taken.
    operator_ : DaskOperator
        To be given to ``fit`` for other labels of the same points.

    Examples
    --------
    >>> import numpy as np
    >>> import bvdt.dask
    >>> X = np.concatenate([np.random.default_rng(0).normal(size=(300, 3)) + c for c in (0, 9)])
    >>> y = np.array([""] * 600, dtype="U4")
    >>> y[0], y[-1] = "low", "high"
    >>> model = bvdt.dask.LabelPropagation("squared_euclidean", memory_limit="1GiB", random_state=0).fit(X, y)
    >>> model.transduction_.compute()[[1, -2]].tolist()
    ['low', 'high']
    >>> model.predict(np.full((1, 3), 8.0)).compute().tolist()
    ['high']
    """

    classes_: LabelArray
    operator_: DaskOperator

    def __init__(
        self,
        divergence: str | BregmanDivergence = DIVERGENCE,
        *,
        bandwidth: float | str = "auto",
        smoothing: float | str | ArrayLike = "auto",
        n_neighbors: int = N_NEIGHBORS,
        shard_points: int | None = None,
        random_state: RandomState = None,
        alpha: float = ALPHA,
        max_iter: int = 300,
        tol: float = 1e-4,
        method: str = "spread",
        class_balance: bool = True,
        client: Client | None = None,
        memory_limit: float | str | None = None,
        folder: str | None = None,
        n_jobs: int | None = None,
        retries: int = 2,
        progress: Progress = False,
    ) -> None:
        self.divergence = divergence
        self.bandwidth = bandwidth
        self.smoothing = smoothing
        self.n_neighbors = n_neighbors
        self.shard_points = shard_points
        self.random_state = random_state
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.method = method
        self.class_balance = class_balance
        self.client = client
        self.memory_limit = memory_limit
        self.folder = folder
        self.n_jobs = n_jobs
        self.retries = retries
        self.progress = progress

    def fit(
        self,
        X: Collection | PointsLike | None = None,
        y: Collection | ArrayLike | None = None,
        *,
        operator: DaskOperator | None = None,
    ) -> LabelPropagation:
        """Propagate the labels y over the points X.

        Parameters
        ----------
        X : Dask array or DataFrame of shape (n_points, n_features), or an array; None with ``operator``.
        y : Dask array or Series, or array, of shape (n_points,)
            Unlabeled: −1 or NaN among numbers, "" among strings.
        operator : DaskOperator, default=None
            The points' transition matrix if it is there already: new labels then cost only products.
        """
        if self.method not in METHODS:
            raise ValueError(f"method needs one of {', '.join(METHODS)}; got {self.method!r}")
        if y is None:
            raise ValueError("LabelPropagation requires y to be passed, but the target y is None")
        if X is None and operator is None:
            raise ValueError("LabelPropagation.fit needs X or operator; both are None")
        if isinstance(self.alpha, str):
            raise ValueError(
                f'alpha needs a number from 0 to 1 here, not chosen ("auto"); got {self.alpha!r}'
            )
        op = operator if operator is not None else self._operator(X)
        executor, layout = op.shards.executor, op.shards.layout
        slabs = labels_of(y, layout.lengths.tolist(), executor)
        known = executor.gather(executor.map("labels", known_labels, slabs))
        self.classes_ = _classes(known)
        k = len(self.classes_)
        classes = executor.put(self.classes_)
        each = [classes] * len(slabs)
        Y0 = _columns(op, executor.map("labels", encoded_labels, slabs, each), k)
        counts = np.sum([self._counts(labels, n) for labels, n in known], axis=0)
        scores, self.n_iter_ = self._scores(op, Y0)

        def hidden() -> HiddenLabels:
            codes = executor.gather(executor.map("labels", label_codes, slabs, each))
            fold, _ = label_folds(np.concatenate(codes), 2, 0)
            kept = np.split(fold != 0, np.cumsum([len(c) for c in codes])[:-1])
            seen = _columns(op, executor.map("labels", encoded_labels, slabs, each, kept), k)
            return hidden_by_halves(op, Y0, seen, scores, self._scores(op, seen)[0])

        self._distributions, best = distributions(op, scores, counts, self.class_balance, hidden)
        self.operator_ = op
        self.label_distributions_ = op.to_dask(self._distributions)
        self.transduction_ = self._named(op, best, classes)
        return self

    def _scores(self, op: DaskOperator, Y0: Columns) -> tuple[Columns, int]:
        solve = spread_scores if self.method == "spread" else walk_scores
        return solve(op, Y0, self.alpha, self.max_iter, self.tol)

    def _operator(self, X: Collection | PointsLike) -> DaskOperator:
        names = ("bandwidth", "smoothing", "n_neighbors", "shard_points", "random_state", "client")
        more = ("memory_limit", "folder", "n_jobs", "retries", "progress")
        options = {name: getattr(self, name) for name in (*names, *more)}
        return transition_matrix(X, self.divergence, **options)

    def _counts(self, labels: LabelArray, count: Int) -> Float:  # (k,)
        out = np.zeros(len(self.classes_))
        out[np.searchsorted(self.classes_, labels)] = count
        return out

    def _named(self, op: DaskOperator, best: Columns, classes: Reference) -> DaskArray:
        """Class names of every row, as a Dask array."""
        executor = op.shards.executor
        slabs = column.to_slabs(executor, op.shards.layout, best)
        named = executor.map("classes", class_names, slabs, [classes] * len(slabs))
        return as_dask_array(executor, named, op.shards.layout.lengths.tolist(), None, self.classes_.dtype)

    def predict_proba(self, X: Collection | PointsLike) -> DaskArray:  # Dask array (n_new, n_classes)
        """Probabilities of the classes of new points: the mean of their nearest fitted points', by nearness.

        A new point is compared with the points of the shards that hold the regions nearest to its own.
        """
        return self._predict(X, None)

    def predict(self, X: Collection | PointsLike) -> DaskArray:  # Dask array (n_new,)
        """Most probable class of each new point."""
        return self._predict(X, self.classes_)

    def _predict(self, X: Collection | PointsLike, classes: LabelArray | None) -> DaskArray:
        if not hasattr(self, "operator_"):
            raise ValueError("LabelPropagation needs fit before predict; it was not called")
        shards = self.operator_.shards
        executor, new = shards.executor, slabs_of(X, shards.executor)
        slabs = new_distributions(shards, self._distributions, new.parts)
        if classes is None:
            return as_dask_array(executor, slabs, new.lengths, len(self.classes_), np.float64)
        slabs = executor.map("classes", best_names, slabs, [executor.put(classes)] * len(slabs))
        return as_dask_array(executor, slabs, new.lengths, None, classes.dtype)


def _classes(known: list[tuple[LabelArray, Int]]) -> LabelArray:
    found = [labels for labels, _ in known if len(labels)]
    if not found:
        raise ValueError("y needs at least one label; every point is unlabeled")
    classes = np.unique(np.concatenate(found))
    check_classes(classes)
    return classes


def _columns(op: DaskOperator, slabs: list[Reference], width: int) -> Columns:
    return column.from_slabs(op.shards.executor, op.shards.layout, slabs, width, np.float64, op.places)


# -- on slabs and shards ------------------------------------------------------------------------------------


def known_labels(y: LabelArray | Series) -> tuple[LabelArray, Int]:
    """The labels of a slab, ascending, and how many points have each."""
    y = _labels(y)
    labels, counts = np.unique(y[~unlabeled_points(y)], return_counts=True)
    return labels, counts.astype(np.int32)


def _labels(y: LabelArray | Series) -> LabelArray:
    y = y.to_numpy() if hasattr(y, "to_numpy") else y
    y = np.asarray(y)
    if y.dtype.kind == "O":  # names, with "" for what is missing
        missing = unlabeled_points(y)
        y = np.array(["" if gone else label for label, gone in zip(y, missing, strict=True)])
    return np.asarray(y)


def label_codes(y: LabelArray | Series, classes: LabelArray) -> Int:  # (n_labeled,)
    """Class numbers of a slab's labels, in order."""
    y = _labels(y)
    return np.asarray(np.searchsorted(classes, y[~unlabeled_points(y)]), np.int32)


def encoded_labels(
    y: LabelArray | Series, classes: LabelArray, kept: NDArray[np.bool_] | None = None
) -> Float:  # (n, k); (n_labeled,)
    """y⁰ of Eq. (29), one column per class; of the labels that are ``kept``."""
    y = _labels(y)
    codes = np.full(len(y), -1, np.intp)
    labeled = np.flatnonzero(~unlabeled_points(y))
    labeled = labeled if kept is None else labeled[kept]
    codes[labeled] = np.searchsorted(classes, y[labeled])
    return one_hot(codes, len(classes))


def class_names(codes: Int, classes: LabelArray) -> LabelArray:  # (n, 1) -> (n,)
    return np.asarray(classes[codes[:, 0]])


def best_names(P: Float, classes: LabelArray) -> LabelArray:  # (n, k) -> (n,)
    return np.asarray(classes[P.argmax(axis=1)])
