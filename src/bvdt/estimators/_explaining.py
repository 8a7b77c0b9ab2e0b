"""Why a point has its label: from a fitted estimator to the labelled points that gave it."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .._support.arrays import Float, checked_integer
from ..walks import label_contributions, largest_contributions

if TYPE_CHECKING:
    from .label_propagation import LabelPropagation


def explain_one(
    model: LabelPropagation, point: Any, n: int, neighbours: int
) -> tuple[NDArray[np.intp], Float]:  # (≤ n,) ×2
    """Labelled points of the point's class and their shares, the largest first."""
    check_is_fitted(model)
    mode, P = _mode(model), model.label_distributions_
    if isinstance(point, numbers.Integral):
        index = checked_integer(point, "point", 0, len(model.codes_) - 1)
        points, weight, label = np.array([index]), np.ones(1), int(P[index].argmax())
    else:
        new = point if sparse.issparse(point) else np.atleast_2d(np.asarray(point))
        if new.shape[0] != 1:
            raise ValueError(f"explain needs one point at a time; its shape is {new.shape}")
        near, weights = model._nearest(new, neighbours)
        points, weight = near[0][weights[0] > 0], weights[0][weights[0] > 0]
        label = int(model.predict_proba(new)[0].argmax())
    givers = np.flatnonzero((model.codes_ == label) & (model.label_weights > 0))
    given = label_contributions(model.operator_, points, mode=mode, alpha=model.alpha_)[givers]
    given *= model.label_weights[givers, None]
    total = given.sum(axis=0)
    share = (given / np.where(total > 0, total, 1.0)) @ (weight * P[points, label])
    share /= max(share.sum(), 1e-300)
    best = np.argsort(-share, kind="stable")[:n]
    return givers[best], share[best]


def explain_fitted(
    model: LabelPropagation, n: int, advance: Callable[[int], None]
) -> tuple[NDArray[np.intp], Float]:  # (n_points, n) ×2
    """The same for every point of the fit."""
    check_is_fitted(model)
    givers = np.flatnonzero((model.codes_ >= 0) & (model.label_weights > 0))
    return largest_contributions(
        model.operator_,
        model.label_distributions_.argmax(axis=1),
        givers,
        model.codes_[givers],
        model.label_weights[givers],
        n_kept=n,
        mode=_mode(model),
        alpha=model.alpha_,
        advance=advance,
    )


def _mode(model: LabelPropagation) -> str:
    """The walk's, which in a blend is always label spreading."""
    if model.new_points is not None:
        return "spread"
    if model.clamp or model.mode not in ("walk", "spread"):
        raise ValueError(
            'explain needs mode "walk" or "spread" without clamp; '
            f"got mode={model.mode!r}, clamp={model.clamp}"
        )
    return model.mode
