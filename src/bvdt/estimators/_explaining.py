"""Why a point has its label: from a fitted estimator to labeled points, features and parts of a blend."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .._support.arrays import Chosen, Float, Numbers, Single, checked_integer
from .._support.sparse import Points, PointsLike
from ..lifting import Views
from ..stacking import NewPoints, Reasons, Scored, blend_parts, reversible_step, rows_of_lifted, softmax
from ..walks import label_contributions, largest_contributions, symmetrized
from ._base import checked

if TYPE_CHECKING:
    from ..stacking.rows import Rows
    from .label_propagation import LabelPropagation


def explain_one(model: LabelPropagation, point: PointsLike, n: int, neighbors: int) -> Reasons:
    """Of one point of the fit, or of the features of a new one."""
    check_is_fitted(model)
    method, P = _method(model), model.label_distributions_
    if isinstance(point, numbers.Integral):
        index = checked_integer(point, "point", 0, len(model.codes_) - 1)
        points, weight, label = np.array([index]), np.ones(1), int(P[index].argmax())
        parts, features, feature_shares = _parts(model, n, points)
    else:
        # A table has the names of its columns.
        as_is = isinstance(point, Views) or sparse.issparse(point) or hasattr(point, "columns")
        new: Points = point if as_is else np.atleast_2d(np.asarray(point))
        new = new.reshape(1, -1) if new.ndim == 1 else new  # a row of a sparse array
        if new.shape[0] != 1:
            raise ValueError(f"explain needs one point at a time; its shape is {new.shape}")
        near, weights = model._nearest(new, neighbors)
        points, weight = near[0][weights[0] > 0], weights[0][weights[0] > 0]
        label = int(model.predict_proba(new)[0].argmax())
        parts, features, feature_shares = _parts_of_new(model, n, new, points, weight, label)
    walk = parts["walk"][0]
    givers = np.flatnonzero((model.codes_ == label) & (model.label_weights > 0))
    if not walk:  # which saves the solve
        return Reasons(parts, *_none(1, n), features, feature_shares)
    given = label_contributions(model.operator_, points, method=method, alpha=model.alpha_)[givers]
    given *= model.label_weights[givers, None]
    total = given.sum(axis=0)
    share = (given / np.where(total > 0, total, 1.0)) @ (weight * P[points, label])
    share *= walk / max(share.sum(), 1e-300)
    best = np.argsort(-share, kind="stable")[:n]
    return Reasons(parts, givers[best][None], share[best][None], features, feature_shares)


def explain_fitted(model: LabelPropagation, n: int, advance: Callable[[int], None]) -> Reasons:
    """The same for every point of the fit."""
    check_is_fitted(model)
    parts, features, feature_shares = _parts(model, n, None)
    givers = np.flatnonzero((model.codes_ >= 0) & (model.label_weights > 0))
    if not parts["walk"].any():
        advance(len(givers))
        return Reasons(parts, *_none(len(model.codes_), n), features, feature_shares)
    points, shares = largest_contributions(
        model.operator_,
        model.label_distributions_.argmax(axis=1),
        givers,
        model.codes_[givers],
        model.label_weights[givers],
        n_kept=n,
        method=_method(model),
        alpha=model.alpha_,
        advance=advance,
    )
    shares = shares * parts["walk"][:, None]
    return Reasons(parts, np.where(shares > 0, points, -1), shares, features, feature_shares)


_Parts = tuple[dict[str, Float], NDArray[np.intp], Float]


def _parts(model: LabelPropagation, n: int, points: NDArray[np.intp] | None) -> _Parts:
    """Of points of the fit, None for all."""
    state, P = model.new_points, model.label_distributions_
    chosen: Chosen = slice(None) if points is None else points
    label = P[chosen].argmax(axis=1)
    if state is None:
        return {"walk": np.ones(len(label))}, *_none(len(label), n)
    rows, given = _fitted_rows(model, state, chosen)
    if state.given is not None:
        given = state.given[chosen]
    stepped = reversible_step(symmetrized(model.operator_), state.unstepped)[chosen]
    seen = Scored(label, state.walk[chosen], given, rows, state.unstepped[chosen], stepped)
    return blend_parts(state, seen, n)


def _fitted_rows(
    model: LabelPropagation, state: NewPoints, chosen: Chosen
) -> tuple[Rows | None, Numbers | float]:
    """Rows of fitted points as the linear experts took them, and the scores of a user's classifier."""
    labeler = None if model._labeling is None else model._labeling[0]
    given: Single | float = 0.0
    if state.outside is not None and labeler is not None and labeler.X is not None:
        expert, weight = state.outside
        given = weight * expert.scores_of(labeler.X[chosen])
    if state.weights is None or state.scale is None:
        return None, given
    if labeler is not None and labeler.rows is not None:
        return labeler.rows.T[chosen], given
    X = rows_of_lifted(model.operator_.lifted)  # of a model file
    if isinstance(X, Views):
        widths = {name: view["n_features"] for name, view in model.views_.items()}
        return state.scale.rows(Views.of({n: x[:, : widths[n]][chosen] for n, x in X.blocks.items()})), given
    return state.scale.rows(X[:, : len(state.weights)][chosen]), given


def _parts_of_new(
    model: LabelPropagation, n: int, X: PointsLike, near: NDArray[np.intp], weight: Float, label: int
) -> _Parts:
    """Of one new point, from the fitted ones it is near."""
    state = model.new_points
    if state is None:
        return {"walk": np.ones(1)}, *_none(1, n)
    X = checked(model, X, reset=False)
    walk, stepped = (weight @ Z[near].astype(np.float64) for Z in (state.walk, state.unstepped))
    own = softmax(walk[None] + state.own_scores(X))
    given = state.outside_scores(X) if state.given is None else (weight @ state.given[near])[None]
    rows = None if state.weights is None else state.rows(X)
    seen = Scored(np.array([label]), walk[None], given, rows, own, stepped[None])
    return blend_parts(state, seen, n)


def _none(n_points: int, n: int) -> tuple[NDArray[np.intp], Float]:
    """No points or features."""
    return np.full((n_points, n), -1, np.intp), np.zeros((n_points, n))


def _method(model: LabelPropagation) -> str:
    """The walk's, which in a blend is always label spreading."""
    if model.new_points is not None:
        return "spread"
    if model.clamp or model.method not in ("walk", "spread"):
        raise ValueError(
            'explain needs method "walk" or "spread" without clamp; '
            f"got method={model.method!r}, clamp={model.clamp}"
        )
    return model.method
