"""How accurate the labels are: each part of the given labels is hidden once and predicted from the rest.

The operator does not depend on the labels, so a fold costs one propagation and nothing is built twice; a
model with a blend has hidden the labels itself, to weigh its experts. Every label is tested once, which gives
the most that a few labels can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._support.running import RandomState
from .._support.sparse import Operator
from ..stacking.expectation import LEAST, Estimate, LearningCurve, expected_accuracy, verdict
from ..walks.folds import label_folds

if TYPE_CHECKING:
    from ..estimators import LabelPropagation

__all__ = ["Holdout", "Measured", "label_folds", "measure_holdout", "n_folds_for", "why_not"]

MIN_SHARE, MAX_SHARE = 0.05, 0.5  # 20 folds to 2
NAMED = 5  # untested classes


@dataclass(frozen=True)
class Measured:
    """An accuracy, or a gain of it, with its 95 % interval."""

    name: str  # of the expert; "" on the learning curve
    n: int  # labels tested; on the learning curve labels used
    accuracy: float
    low: float
    high: float

    @classmethod
    def of(cls, found: Estimate, n: int, name: str = "") -> Measured:
        return cls(name, n, found.value, found.low, found.high)

    def __str__(self) -> str:
        return f"{percent(self.accuracy)} ({100 * self.low:.0f} to {100 * self.high:.0f})"

    @property
    def estimate(self) -> Estimate:
        return Estimate(self.accuracy, self.low, self.high)


@dataclass(frozen=True)
class Holdout:
    """Accuracy to expect of the documents without a label, with its 95 % interval (``expected_accuracy``)."""

    n: int  # labels: hidden once, or their class's only one
    accuracy: float
    low: float
    high: float
    classes: list[str]
    confusion: NDArray[np.int64]  # (k, k) true × predicted
    folds: int = 0
    untested: tuple[str, ...] = ()  # classes with one label, which is never hidden
    alone: tuple[Measured, ...] = ()  # of a model with a blend: each expert on the same labels, by name
    curve: tuple[Measured, ...] = ()  # with a part of the labels; ``n`` are those used
    gains: tuple[Measured, ...] = ()  # per doubling: over the whole curve, and in its last step

    def __str__(self) -> str:
        return f"{self.accuracy:.3f} (95 % interval {self.low:.3f} to {self.high:.3f}, {self.n} labels)"

    def sentences(self) -> list[str]:
        """What the figure says, and what it does not know."""
        first = (
            f"Accuracy to expect: {percent(self.accuracy)} (95 % interval {100 * self.low:.1f} to "
            f"{100 * self.high:.1f}), from {self.n:,} labels, each hidden once and predicted from the others."
        )
        return [first, *self.unknown()]

    def unknown(self) -> list[str]:
        """Which classes could not be tested, and how many documents may be of classes without a label."""
        if not self.untested:
            return []
        n = len(self.untested)
        named = ", ".join(self.untested[:NAMED]) + (f" and {n - NAMED:,} more" if n > NAMED else "")
        classes = "1 class has" if n == 1 else f"{n:,} classes have"
        return [
            f"{classes} one label, which cannot be hidden ({named}): untested, and counted as wrong. About "
            f"{percent(n / self.n)} of the documents may be of classes without any label, which nothing can "
            "predict."
        ]

    def on_hidden(self) -> Measured:
        """Of the labels that could be hidden, as ``alone`` has it of the experts."""
        n = int(self.confusion.sum())
        return Measured.of(Estimate.of_share(int(np.trace(self.confusion)), n), n)

    def more_labels(self) -> str:
        """What the learning curve says about more labels; "" without one."""
        if not self.curve:
            return ""
        shown = ", ".join(f"{p} from {p.n:,}" for p in self.curve)
        said = verdict(*(gain.estimate for gain in self.gains)) + ": " if self.gains else ""
        return f"{said}{shown} labels"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def measure_holdout(
    model: LabelPropagation,
    operator: Operator,
    codes: NDArray[np.intp],
    classes: Sequence[str],
    *,
    share: float = 0.2,
    random_state: RandomState = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Holdout:
    """Hide ``share`` of the labels at a time and predict them from the others, until each was hidden once.

    Parameters
    ----------
    model : a ``LabelPropagation`` whose parameters to use; it is cloned, not changed. With a blend it has to
        be fitted to the codes: its own folds, drawn alike every time, and its learning curve are used.
    operator : the points' walk, as ``model.operator_`` of an earlier fit.
    codes : (N,) index of each point's class, −1 for the unlabeled.
    share : 0.05 to 0.5; there are 1/share folds.
    advance : called with 1 after every fold.
    """
    from sklearn.base import clone

    reason = why_not(codes, classes)
    if reason:
        raise ValueError(f"a hold-out needs more labels: {reason}")
    confusion = np.zeros((len(classes), len(classes)), np.int64)
    untested = tuple(classes[k] for k in _lone_classes(codes, len(classes)))
    n = int((codes >= 0).sum())
    if getattr(model, "blend_", None) is not None:
        if not np.array_equal(model.codes_, codes):
            raise ValueError("a hold-out of a model with a blend needs the labels that it was fitted to")
        n_folds = n_folds_for(share)
        blended, found = model.hidden_labels(n_folds), model.expected_accuracy(n_folds)
        np.add.at(confusion, (blended.folds.hidden_codes(), blended.hidden.argmax(axis=1)), 1)
        more = _curve(model.learning_curve())
        advance(n_folds)
        tested, n_folds = int(confusion.sum()), blended.folds.n_folds
        more["alone"] = tuple(Measured.of(a, tested, name) for name, a in blended.outcome.alone.items())
    else:
        fold, n_folds = label_folds(codes, n_folds_for(share), random_state)
        predicted, hidden_once = np.array(codes), fold >= 0
        for number in range(n_folds):
            hidden = fold == number
            fitted = clone(model).fit(y=np.where(hidden, -1, codes), operator=operator)
            predicted[hidden] = fitted.transduction_[hidden]
            advance(1)
        np.add.at(confusion, (codes[hidden_once], predicted[hidden_once]), 1)
        found, more = expected_accuracy((predicted == codes)[hidden_once], codes[hidden_once], n), {}
    assert found is not None  # by why_not
    return Holdout(n, found.value, found.low, found.high, list(classes), confusion, n_folds, untested, **more)


def _curve(found: LearningCurve | None) -> dict[str, tuple[Measured, ...]]:
    if found is None:
        return {}
    points = [Measured.of(a, n) for n, a in zip(found.n_labels, found.accuracy, strict=True)]
    gains = (Measured.of(found.gain, 0), Measured.of(found.last_gain, 0))
    return {"curve": tuple(points), "gains": gains}


def n_folds_for(share: float) -> int:
    """Number of folds in which a share of the labels is hidden at a time."""
    if not MIN_SHARE <= share <= MAX_SHARE:
        raise ValueError(f"a hold-out needs a share from {MIN_SHARE} to {MAX_SHARE}; got {share:g}")
    return round(1 / share)


def why_not(codes: NDArray[np.intp], classes: Sequence[str]) -> str | None:
    """Why the accuracy cannot be estimated from these labels, or None when it can."""
    known = codes[codes >= 0]
    if len(classes) < 2:
        return "the labels name only one class"
    if np.bincount(known, minlength=len(classes)).max() < 2:
        return "no class has two labels"
    if len(known) < LEAST:
        return f"{len(known)} labels; {LEAST} are needed"
    return None


def _lone_classes(codes: NDArray[np.intp], n_classes: int) -> list[int]:
    count = np.bincount(codes[codes >= 0], minlength=n_classes)
    return [int(k) for k in np.flatnonzero(count == 1)]
