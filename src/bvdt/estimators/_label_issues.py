"""Given labels beside what all other labels say of their points."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._support.arrays import Float, Index, LabelArray
from ..walks import class_distributions
from ..walks.leave_one_out import leave_one_out_scores

if TYPE_CHECKING:
    from .label_propagation import LabelPropagation


class LabelIssues(NamedTuple):
    """Labels that were judged without themselves, the least probable first, (n,) each."""

    points: Index
    given: LabelArray
    suggested: LabelArray  # the most probable class
    probability: Float  # of the given class
    confidence: Float  # of the suggested class

    def contradicted(self) -> LabelIssues:
        """Those whose most probable class is another."""
        return self.rows(np.flatnonzero(self.suggested != self.given))

    def rows(self, chosen: Index) -> LabelIssues:
        """Some of them, in that order."""
        return LabelIssues(
            self.points[chosen],
            self.given[chosen],
            self.suggested[chosen],
            self.probability[chosen],
            self.confidence[chosen],
        )


def label_issues(model: LabelPropagation, n_folds: int, advance: Callable[[int], None]) -> LabelIssues:
    """See ``LabelPropagation.label_issues``."""
    check_is_fitted(model)
    points, P = _of_blend(model, n_folds) if model._blended is not None else _of_walk(model, advance)
    codes = model.codes_[points]
    given, most, classes = P[np.arange(len(points)), codes], P.max(axis=1), model.classes_
    found = LabelIssues(points, classes[codes], classes[P.argmax(axis=1)], given, most)
    return found.rows(np.lexsort((-most, given)))


def _of_blend(model: LabelPropagation, n_folds: int) -> tuple[Index, Float]:  # (n,), (n, k)
    """Labels that were hidden, and their probabilities then."""
    blended = model.hidden_labels(n_folds)
    return blended.folds.labeled[blended.folds.tested], np.asarray(blended.hidden, np.float64)


def _of_walk(model: LabelPropagation, advance: Callable[[int], None]) -> tuple[Index, Float]:  # (n,), (n, k)
    """Classes with two labels or more; by label spreading where the method is neither it nor the walk."""
    k = len(model.classes_)
    points = np.flatnonzero((model.codes_ >= 0) & (model.label_weights > 0))
    codes, weight = model.codes_[points], model.label_weights[points]
    method = model.method if model.method in ("walk", "spread") else "spread"
    scores = leave_one_out_scores(
        model.operator_, points, codes, weight, k, method=method, alpha=model.alpha_, advance=advance
    )
    counts = np.bincount(codes, weight, k) - weight[:, None] * np.eye(k)[codes]
    if model.class_balance:
        scores /= np.sqrt(np.where(counts > 0, counts, 1.0))
    judged = np.bincount(codes, minlength=k)[codes] > 1
    prior = np.bincount(codes, weight, k) / weight.sum()
    return points[judged], class_distributions(scores[judged], prior)
