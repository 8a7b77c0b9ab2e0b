"""How accurate the labels are: each part of the given labels is hidden once and predicted from the rest.

The operator does not depend on the labels, so a fold costs one propagation and nothing is built twice. Every
label is tested once, which gives the most that a few labels can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..blending.folds import label_folds, wilson_interval

__all__ = ["Holdout", "label_folds", "measure_holdout", "n_folds_for", "why_not", "wilson_interval"]

MIN_LABELS = 10
MIN_SHARE, MAX_SHARE = 0.05, 0.5  # 20 folds to 2


@dataclass(frozen=True)
class Holdout:
    """Accuracy on hidden labels, with its 95 % interval (Wilson 1927, each hidden label one trial)."""

    n: int  # labels tested
    accuracy: float
    low: float
    high: float
    classes: list[str]
    confusion: NDArray[np.int64]  # (k, k) true × predicted
    folds: int = 0
    untested: tuple[str, ...] = ()  # classes with one label, which is never hidden

    def __str__(self) -> str:
        return f"{self.accuracy:.3f} (95 % interval {self.low:.3f} to {self.high:.3f}, {self.n} labels)"


def measure_holdout(
    model: Any,
    operator: Any,
    codes: NDArray[np.intp],
    classes: Sequence[str],
    *,
    share: float = 0.2,
    random_state: Any = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Holdout:
    """Hide ``share`` of the labels at a time and predict them from the others, until each was hidden once.

    Parameters
    ----------
    model : a ``LabelPropagation`` whose parameters to use; it is cloned, not changed.
    operator : the points' walk, as ``model.operator_`` of an earlier fit.
    codes : (N,) index of each point's class, −1 for the unlabelled.
    share : 0.05 to 0.5; there are 1/share folds.
    advance : told 1 after every fold.
    """
    from sklearn.base import clone

    reason = why_not(codes, classes, least=2)
    if reason:
        raise ValueError(f"a hold-out needs more labels: {reason}")
    fold, n_folds = label_folds(codes, n_folds_for(share), random_state)
    confusion = np.zeros((len(classes), len(classes)), np.int64)
    for number in range(n_folds):
        hidden = fold == number
        fitted = clone(model).fit(y=np.where(hidden, -1, codes), operator=operator)
        np.add.at(confusion, (codes[hidden], fitted.transduction_[hidden]), 1)
        advance(1)
    n, right = int(confusion.sum()), int(np.trace(confusion))
    lone = _lone_classes(codes, len(classes))
    untested = tuple(classes[k] for k in lone)
    return Holdout(n, right / n, *wilson_interval(right, n), list(classes), confusion, n_folds, untested)


def n_folds_for(share: float) -> int:
    """Number of folds in which a share of the labels is hidden at a time."""
    if not MIN_SHARE <= share <= MAX_SHARE:
        raise ValueError(f"a hold-out needs a share from {MIN_SHARE} to {MAX_SHARE}; got {share:g}")
    return round(1 / share)


def why_not(codes: NDArray[np.intp], classes: Sequence[str], least: int = MIN_LABELS) -> str | None:
    """Why so few labels cannot be held out, or None when they can."""
    known = codes[codes >= 0]
    if len(classes) < 2:
        return "the labels name only one class"
    count = np.bincount(known, minlength=len(classes))
    n_tested = int(count[count >= 2].sum())
    if n_tested == 0:
        return "no class has two labels"
    if n_tested < least:
        return f"{n_tested} labels in classes with two or more, {least} are needed"
    return None


def _lone_classes(codes: NDArray[np.intp], n_classes: int) -> list[int]:
    count = np.bincount(codes[codes >= 0], minlength=n_classes)
    return [int(k) for k in np.flatnonzero(count == 1)]
