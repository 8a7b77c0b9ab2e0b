"""How accurate the labels are: each part of the given labels is hidden once and predicted from the rest.

The operator does not depend on the labels, so a fold costs one propagation and nothing is built twice; a
model with a prior has hidden the labels itself, to weigh its experts. Every label is tested once, which gives
the most that a few labels can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..blending.folds import wilson_interval
from ..walks.folds import label_folds

__all__ = ["Holdout", "label_folds", "measure_holdout", "n_folds_for", "why_not", "wilson_interval"]

MIN_LABELS = 10
MIN_SHARE, MAX_SHARE = 0.05, 0.5  # 20 folds to 2
WORTH = 0.01  # accuracy per doubling of the labels from which on more are worth their while


@dataclass(frozen=True)
class Measured:
    """An accuracy with its 95 % interval."""

    name: str  # of the expert; "" on the learning curve
    n: int  # labels tested; on the learning curve labels used
    accuracy: float
    low: float
    high: float


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
    alone: tuple[Measured, ...] = ()  # of a model with a prior: each expert on the same labels, by name
    curve: tuple[Measured, ...] = ()  # with a part of the labels; ``n`` are those used

    def __str__(self) -> str:
        return f"{self.accuracy:.3f} (95 % interval {self.low:.3f} to {self.high:.3f}, {self.n} labels)"

    def more_labels(self) -> str:
        """What the learning curve says about more labels; "" without one."""
        if len(self.curve) < 2:
            return ""
        earlier, last = self.curve[-2:]
        gain = (last.accuracy - earlier.accuracy) / np.log2(last.n / earlier.n)
        shown = ", ".join(f"{100 * p.accuracy:.1f} % from {p.n:,}" for p in self.curve)
        if last.low > earlier.high or gain >= WORTH:
            return f"more labels would help: {shown} labels"
        return f"more labels would bring little: {shown} labels"


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
    model : a ``LabelPropagation`` whose parameters to use; it is cloned, not changed. With a prior it has to
        be fitted to the codes: its own folds, drawn alike every time, and its learning curve are used.
    operator : the points' walk, as ``model.operator_`` of an earlier fit.
    codes : (N,) index of each point's class, −1 for the unlabelled.
    share : 0.05 to 0.5; there are 1/share folds.
    advance : told 1 after every fold.
    """
    from sklearn.base import clone

    reason = why_not(codes, classes, least=2)
    if reason:
        raise ValueError(f"a hold-out needs more labels: {reason}")
    if getattr(model, "blend_", None) is not None:
        return _of_blend(model, codes, classes, n_folds_for(share), advance)
    fold, n_folds = label_folds(codes, n_folds_for(share), random_state)
    confusion = np.zeros((len(classes), len(classes)), np.int64)
    for number in range(n_folds):
        hidden = fold == number
        fitted = clone(model).fit(y=np.where(hidden, -1, codes), operator=operator)
        np.add.at(confusion, (codes[hidden], fitted.transduction_[hidden]), 1)
        advance(1)
    return _holdout(confusion, codes, classes, n_folds)


def _holdout(
    confusion: NDArray[np.int64], codes: NDArray[np.intp], classes: Sequence[str], n_folds: int, **more: Any
) -> Holdout:
    n, right = int(confusion.sum()), int(np.trace(confusion))
    untested = tuple(classes[k] for k in _lone_classes(codes, len(classes)))
    interval = wilson_interval(right, n)
    return Holdout(n, right / n, *interval, list(classes), confusion, n_folds, untested, **more)


def _of_blend(
    model: Any,
    codes: NDArray[np.intp],
    classes: Sequence[str],
    n_folds: int,
    advance: Callable[[int], None],
) -> Holdout:
    """From the labels that a model with a prior has hidden from its experts."""
    if not np.array_equal(model.codes_, codes):
        raise ValueError("a hold-out of a model with a prior needs the labels that it was fitted to")
    blended = model.hidden_labels(n_folds)
    confusion = np.zeros((len(classes), len(classes)), np.int64)
    np.add.at(confusion, (blended.folds.hidden_codes(), blended.hidden.argmax(axis=1)), 1)
    curve = model.learning_curve()
    advance(n_folds)
    n = int(confusion.sum())
    alone = [Measured(name, n, a.value, a.low, a.high) for name, a in blended.outcome.alone.items()]
    used = [Measured("", p.n_labels, p.accuracy.value, p.accuracy.low, p.accuracy.high) for p in curve]
    n_folds = blended.folds.n_folds
    return _holdout(confusion, codes, classes, n_folds, alone=tuple(alone), curve=tuple(used))


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
