"""From an estimator with a blend to the labeler that blends it with the walk."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .._support import memory
from .._support.mixed import blocks_of
from .._support.sparse import CSR, Operator, Points, PointsLike, is_sparse
from ..lifting import Views
from ..stacking import Labeler, rows_of_lifted
from ..stacking.folds import N_FOLDS
from ._base import checked

if TYPE_CHECKING:
    from ..lifting import Lifting
    from .label_propagation import LabelPropagation

_ARRAYS = 12  # of every fold's scores in single precision, that a blend holds at the most


def labeler_for(
    model: LabelPropagation, X: PointsLike, terms: tuple[str, ...] | None, earlier: Labeler | None
) -> Labeler:
    """The earlier labeler where it is of the same points, features, blend and α; else a new one.

    Features are X, or, where X is None, the data that the operator was made from; ``terms`` are their words.
    """
    key = _digest(X), _digest(model.blend), model.alpha, terms
    if earlier is not None and earlier.op is model.operator_ and earlier.made_from == key:
        return earlier
    rows, through = _features(model, X)
    columns = _term_columns(model, X)
    if terms is not None and columns is not None and len(terms) != columns:
        raise ValueError(f"terms needs one word for each of {columns} columns of X; it has {len(terms)}")
    labeler = Labeler(
        model.operator_,
        rows,
        model.blend,
        alpha=model.alpha,
        n_jobs=model.n_jobs,
        through=through,
        terms=terms,
        earlier=earlier if earlier is not None and earlier.made_from[-1] == terms else None,
    )
    labeler.made_from = key
    return labeler


def _term_columns(model: LabelPropagation, X: PointsLike | None) -> int | None:
    """How many columns terms may stand for: all, or those of the sparse views."""
    if not isinstance(X, Views):
        return getattr(model, "n_features_in_", None)
    return sum(int(block.shape[1]) for block in X.blocks.values() if is_sparse(block))


def knows_features(operator: Operator, X: PointsLike | None) -> bool:
    """Whether linear experts find the points' features in X or in the operator."""
    return X is not None or getattr(getattr(operator, "lifted", None), "lifting", None) is not None


def has_memory_to_blend(operator: Operator, n_classes: int) -> bool:
    """Whether the folds' scores fit into memory; warns where they do not."""
    n_points = int(operator.shape[0])
    needed, available = 4.0 * _ARRAYS * (N_FOLDS + 1) * n_points * n_classes, memory.available_bytes()
    if needed > available:
        warnings.warn(
            f'blend="auto" needs {needed / memory.GIB:.0f} GiB for {n_points} points and {n_classes} '
            f"classes; {available / memory.GIB:.0f} GiB are available, so the walk labels alone, as with "
            "blend=None",
            UserWarning,
            stacklevel=5,
        )
    return needed <= available


def as_words(terms: Iterable[object] | Callable[[], Iterable[object]] | None) -> tuple[str, ...] | None:
    """Of an array, or of a function that gives it."""
    if terms is None:
        return None
    return tuple(str(term) for term in (terms() if callable(terms) else terms))


def _digest(values: object) -> object:
    """A digest of arrays' values, whichever array holds them; anything else is itself."""
    if isinstance(values, Views):
        return tuple((name, *map(_digest, blocks_of(X))) for name, X in values.blocks.items())
    if is_sparse(values):
        rows: CSR = values.tocsr()
        return rows.shape, *map(_digest, (rows.data, rows.indices, rows.indptr))
    if values is None or isinstance(values, str) or hasattr(values, "fit"):
        return values
    array = np.ascontiguousarray(cast(ArrayLike, values))
    content = repr(array.tolist()).encode() if array.dtype.kind == "O" else array.data.cast("B")
    return array.shape, array.dtype.str, blake2b(content).digest()


def _features(model: LabelPropagation, X: PointsLike) -> tuple[Points, Lifting | None]:  # (N, d)
    if X is not None:
        X = checked(model, X, reset=False)
        if isinstance(X, Views):
            return (X.matrix() if hasattr(model.blend, "fit") else X), None
        values = X.data if sparse.issparse(X) else X
        if not np.isfinite(values).all():
            raise ValueError("X needs finite values with a blend; it has others")
        return X, None
    if not isinstance(model.blend, str) and not hasattr(model.blend, "fit"):
        return None, None  # class probabilities need no features
    lifted = getattr(model.operator_, "lifted", None)
    if lifted is None:
        raise ValueError(
            "a blend needs X, or an operator that knows its data, as bvdt.transition_matrix gives; "
            f"X is None and the operator is a {type(model.operator_).__name__}"
        )
    return rows_of_lifted(lifted), lifted.lifting
