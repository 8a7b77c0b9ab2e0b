"""New points and new labels for a fitted estimator: what was fitted is kept where it still holds."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._support.arrays import Float, LabelArray, checked_integer
from .._support.sparse import Operator, PointsLike
from ..stacking import Decided, Start
from ._base import checked
from ._labels import checked_weights, encode_labels

if TYPE_CHECKING:
    from .label_propagation import LabelPropagation

MORE_LABELS = 1.5  # times those that weighed the experts: then they are weighed anew


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of all points: classes, each point's index among them or −1, and the labels' weights."""

    classes: LabelArray  # (k,)
    codes: NDArray[np.intp]  # (N,)
    weight: Float  # (N,)

    def joined(self, others: Labels) -> Labels:
        """These points and others after them, over the classes of both."""
        classes = _classes_of_both(self.classes, others.classes)
        codes = np.concatenate([_among(classes, labels) for labels in (self, others)])
        return Labels(classes, codes, np.concatenate([self.weight, others.weight]))

    def changed(self, points: NDArray[np.intp], others: Labels) -> Labels:
        """With other labels at some points."""
        n_points = len(self.codes)
        both = self.joined(others)
        codes, weight = both.codes[:n_points].copy(), both.weight[:n_points].copy()
        codes[points], weight[points] = both.codes[n_points:], 1.0
        return Labels(both.classes, codes, weight)

    def in_use(self) -> Labels:
        """Without classes that no point has a label of."""
        used = np.unique(self.codes[self.codes >= 0])
        if not len(used):
            raise ValueError("update needs to leave at least one label; all of them are taken back")
        number = np.full(len(self.classes) + 1, -1, np.intp)
        number[used] = np.arange(len(used))
        return Labels(self.classes[used], number[self.codes], self.weight)


def update_fitted(
    model: LabelPropagation,
    X_new: PointsLike,
    y_new: ArrayLike | None,
    sample_weight: ArrayLike | None,
    labels: Mapping[int, object] | None,
) -> LabelPropagation:
    """See ``LabelPropagation.update``; a model that is refused something stays as it was."""
    check_is_fitted(model)
    if X_new is None and (y_new is not None or sample_weight is not None):
        raise ValueError("y_new and sample_weight need X_new, the points they are of; it is None")
    if X_new is None and labels is None:
        raise ValueError("update needs X_new, new points, or labels, a mapping of fitted points to labels")
    op, given = model.operator_, Labels(model.classes_, model.codes_, model.label_weights)
    if labels is not None:
        given = _relabeled(given, labels)
    if X_new is not None:
        X_new = checked(model, X_new, reset=False)
        given = given.joined(_labels_of(X_new.shape[0], y_new, sample_weight))
    given = given.in_use()
    _check_prior(model, len(given.codes))
    if X_new is not None:
        learns = isinstance(model.bandwidth, str) and model.bandwidth == "learn"
        op = model._walk().add_points(X_new, "learn" if learns else None)
    updated = copy.copy(model)
    updated.operator_ = op
    updated._label(None, given.classes, given.codes, given.weight, *_known(model, op, given))
    model.__dict__ = updated.__dict__
    return model


def _labels_of(n_points: int, y: ArrayLike | None, sample_weight: ArrayLike | None) -> Labels:
    """Of new points, which may have none."""
    y = np.full(n_points, -1) if y is None else y
    classes, codes = encode_labels(y, joining=True)
    if len(codes) != n_points:
        raise ValueError(f"y_new needs {n_points} labels, one per row of X_new; it has {len(codes)}")
    return Labels(classes, codes, checked_weights(sample_weight, n_points))


def _relabeled(given: Labels, labels: Mapping[int, object]) -> Labels:
    """With the labels of some fitted points changed."""
    last = len(given.codes) - 1
    points = np.array([checked_integer(point, "a point of labels", 0, last) for point in labels], np.intp)
    y = np.empty(len(labels), object)
    y[:] = list(labels.values())
    return given.changed(points, _labels_of(len(points), y, None))


def _classes_of_both(old: LabelArray, new: LabelArray) -> LabelArray:  # (k,), (m,) -> (≥ k,)
    """Sorted, of the old ones' type; labels are all texts, or none is."""
    if not len(new):
        return old
    old_type, new_type = (np.asarray(classes.tolist()).dtype.kind for classes in (old, new))
    if (old_type in "US") != (new_type in "US"):
        raise ValueError(f"y_new needs labels as those of the fit, such as {old[0]!r}; it has {new[0]!r}")
    if old.dtype.kind in "iu" and new_type == "f" and (new == np.rint(new.astype(float))).all():
        new = new.astype(old.dtype)
    return old if np.isin(new, old).all() else np.unique(np.concatenate([old, new]))


def _among(classes: LabelArray, labels: Labels) -> NDArray[np.intp]:  # (N,)
    """Each point's index among other classes, which hold its own."""
    return np.append(np.searchsorted(classes, labels.classes), -1)[labels.codes]


def _check_prior(model: LabelPropagation, n_points: int) -> None:
    blend = model.blend
    if blend is None and model.new_points is not None:
        raise ValueError(
            "update needs the blend of the fit, which was an array; a model file does not hold it: "
            "set_params(blend=...) with a row per point, new points last"
        )
    if blend is None or isinstance(blend, str) or hasattr(blend, "fit"):
        return
    if len(blend := np.asarray(blend)) != n_points:
        raise ValueError(
            f"update needs a blend of {n_points} rows, one per point, new points last; it has {len(blend)}: "
            "set_params(blend=...) first"
        )


def _known(model: LabelPropagation, op: Operator, given: Labels) -> tuple[Start | None, Decided | None]:
    """What the blend takes from the last fit; nothing where it has to be weighed anew."""
    if model.solution is None:
        return None, None
    start, decided = model.solution
    if (given.codes >= 0).sum() > MORE_LABELS * decided.n_labels:
        return None, None
    kept = np.isin(model.classes_, given.classes)
    place = np.where(kept, np.searchsorted(given.classes, model.classes_), -1)
    return start.joined(op.shape[0], place, len(given.classes)), decided
