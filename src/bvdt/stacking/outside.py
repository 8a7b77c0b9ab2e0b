"""A user's own expert: a scikit-learn classifier, refitted per fold, or an array of class probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.arrays import Float
from .._support.sparse import Points
from .blend import centered
from .folds import Folds, Single

LEAST = 1e-4  # probability before its logarithm: no expert is surer than that


Classifier: TypeAlias = "ClassifierMixin"  # scikit-learn has no types
BlendSpec: TypeAlias = "str | Classifier | ArrayLike"  # as ``Labeler`` takes it


@dataclass(frozen=True, eq=False)
class OutsideExpert:
    """A fitted classifier whose classes are codes 0 to k − 1."""

    classifier: Classifier
    n_classes: int

    @classmethod
    def fitted(
        cls, classifier: Classifier, X: Points, codes: NDArray[np.intp], n_classes: int, weight: Float
    ) -> OutsideExpert:
        """A clone fitted to the labeled rows X with their codes; weights are for those that take them."""
        from sklearn.base import clone
        from sklearn.utils.validation import has_fit_parameter

        weighed = (weight != 1).any() and has_fit_parameter(classifier, "sample_weight")
        options = {"sample_weight": weight} if weighed else {}
        return cls(clone(classifier).fit(X, codes, **options), n_classes)

    def scores_of(self, X: Points) -> Single:  # (n, k)
        """Centered log-probabilities, or the decision function where there are none."""
        if hasattr(self.classifier, "predict_proba"):
            Z = np.log(np.asarray(self.classifier.predict_proba(X)) + LEAST)
        else:
            Z = np.asarray(self.classifier.decision_function(X), np.float64)
            if Z.ndim == 1:
                Z = np.column_stack([-Z, Z])
        return centered(Z).astype(np.float32)


def check_classifier(classifier: object) -> None:
    """Refuse what cannot be blended."""
    able = hasattr(classifier, "decision_function") or hasattr(classifier, "predict_proba")
    if not (able and hasattr(classifier, "fit")):
        raise ValueError(
            'blend needs None, "auto", "linear", "naive_bayes", an array of class probabilities or a '
            f"classifier with decision_function or predict_proba; got {classifier!r}"
        )


def classifier_scores(
    classifier: Classifier, X: Points, folds: Folds
) -> tuple[Single, OutsideExpert]:  # (N, n_slices, k), of all labels
    """Scores of every slice, each by a clone that was fitted to the labels the slice may see."""
    check_classifier(classifier)
    scores = np.empty((folds.n_points, folds.n_slices, folds.n_classes), np.float32)
    for number, seen in enumerate(folds.sees().T):
        points, codes, weight = folds.labeled[seen], folds.codes[seen], folds.weight[seen]
        expert = OutsideExpert.fitted(classifier, X[points], codes, folds.n_classes, weight)
        scores[:, number] = expert.scores_of(X)
    return scores, expert


def given_scores(P: ArrayLike, folds: Folds) -> Single:  # (N, k) -> (N, n_slices, k)
    """Centered logs of given probabilities, alike in every slice: they should not come from these labels."""
    P = np.asarray(P, np.float64)
    if P.shape != (folds.n_points, folds.n_classes):
        needed = (folds.n_points, folds.n_classes)
        raise ValueError(f"blend needs an array of shape {needed}, points × classes; its shape is {P.shape}")
    if not (np.isfinite(P).all() and (P >= 0).all()):
        raise ValueError("blend needs probabilities, finite and ≥ 0; it has others")
    total = P.sum(axis=1, keepdims=True)
    Z = centered(np.log(P / np.where(total > 0, total, 1.0) + LEAST)).astype(np.float32)
    return np.repeat(Z[:, None], folds.n_slices, axis=1)
