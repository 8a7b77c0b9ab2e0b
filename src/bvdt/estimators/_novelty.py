"""Novelty of a fitted estimator's points and of new ones: from its operator, labels and probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._support.arrays import Float, Index, LabelArray, Mask
from .._support.defaults import N_NEIGHBORS
from .._support.sparse import Points, PointsLike
from ..walks import as_square
from ..walks.label_mass import label_mass
from ..walks.novelty import Novelty, mean_divergence, novelty, remoteness
from ._base import checked

if TYPE_CHECKING:
    from .label_propagation import LabelPropagation

MARK = "unknown"  # of rejected points among classes that are texts; −1 among numbers
_ROWS = 1 << 14  # of lists at once


def novelty_of(model: LabelPropagation) -> Novelty:
    """Of the fitted points."""
    check_is_fitted(model)
    weight = model.label_weights
    points = np.flatnonzero((model.codes_ >= 0) & (weight > 0))
    codes = model.codes_[points]
    mass, own = label_mass(as_square(model.operator_), points, codes, weight[points], len(model.classes_))
    P, hidden = model.label_distributions_, _hidden(model, points)
    remote = _fitted_remoteness(model)
    return novelty(mass, own, points, codes, weight[points], P, hidden, remote)


def novelty_of_new(model: LabelPropagation, X: PointsLike, neighbors: int) -> Float:  # (n_new,)
    """From the nearest fitted points, as ``predict_proba``, and from how far they are."""
    state = model.novelty_state
    index, weight = model._nearest(X, neighbors)
    P = model.predict_proba(X) if state.doubted else np.ones((len(index), 1))
    far = _remoteness_of_new(model, checked(model, X, reset=False))
    return state.of_new((weight * state.lack[index]).sum(axis=1), P, far)


def checked_reject(reject: object) -> float:
    """The share, refused unless it is one."""
    if isinstance(reject, int | float | np.number) and not isinstance(reject, bool) and 0 <= reject <= 1:
        return float(reject)
    raise ValueError(f"reject needs a share from 0 to 1, such as 0.05; got {reject!r}")


def with_unknown(labels: LabelArray, rejected: Mask, unknown: object, classes: LabelArray) -> LabelArray:
    """The labels, with ``unknown`` where they are rejected; of objects where its type is not theirs."""
    if unknown is None:
        unknown = MARK if isinstance(classes.tolist()[0], str | bytes) else -1
    if unknown in classes.tolist():
        raise ValueError(f"unknown needs a name that is no class; {unknown!r} is one")
    alike = classes.dtype.kind == "U" and isinstance(unknown, str)
    alike |= classes.dtype.kind in "if" and isinstance(unknown, int | float | np.number)
    found = labels.astype(np.result_type(labels, np.asarray(unknown)) if alike else object)
    found[rejected] = unknown
    return found


def _hidden(model: LabelPropagation, points: NDArray[np.intp]) -> Float | None:  # (n, k)
    """Probabilities of the labels while they were hidden, if the fit has hidden them."""
    blended = model._blended
    if blended is None or not blended.measured or not len(blended.hidden):
        return None
    P = np.full((len(model.codes_), len(model.classes_)), np.nan)
    P[blended.folds.labeled[blended.folds.tested]] = blended.hidden
    return P[points]


def _fitted_remoteness(model: LabelPropagation) -> Float | None:  # (N,)
    found = _neighborhoods(model.operator_)
    if found is None:
        return None
    index, own, typical = found
    return remoteness(own, _of(own, index), typical)


def _remoteness_of_new(model: LabelPropagation, X: Points) -> Float:  # (n_new,)
    found = _neighborhoods(model._walk())
    assert found is not None
    index, own, typical = found
    near, divergence = model._walk().nearest(X, index.shape[1])
    return remoteness(mean_divergence(divergence), _of(own, near), typical)


def _of(own: Float, index: Index) -> Float:  # (N,), (n, m) -> (n, m)
    """Of the neighbors, NaN where there are fewer."""
    return np.where(index >= 0, own[index], np.nan)


def _neighborhoods(op: Any) -> tuple[Index, Float, float] | None:  # (N, k), (N,), their median
    """Each fitted point's neighbors and mean divergence from them; None for a matrix of affinities."""

    def make() -> tuple[Index, Float, float]:
        field = op.near_field
        if field is None:  # the lists are the index's then
            k = min(N_NEIGHBORS, op.shape[0] - 1)
            index, divergence = op.index.search(op.lifted, k + 1)
            own, index = mean_divergence(divergence[:, 1:]), index[:, 1:]
        else:
            parts = np.split(np.arange(field.n_points), np.arange(_ROWS, field.n_points, _ROWS))
            own = np.concatenate([mean_divergence(field.divergences_of(part, op.n_jobs)) for part in parts])
            index = field.indices
        return index, own, float(np.nanmedian(own)) if np.isfinite(own).any() else 0.0

    return op.cached("neighborhoods", make) if hasattr(op, "nearest") else None
