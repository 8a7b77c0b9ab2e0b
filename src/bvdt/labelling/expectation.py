"""How accurate the labels are to be expected over all documents, from labels that were not drawn at random.

Labels that someone was asked for are the hard ones: how many of them are predicted right when hidden says
too little about the rest. The calibrated confidence of the other documents says it for them; what the hidden
labels show is how far that confidence is off. So the estimate is a difference estimator (Cochran 1977, on
regression estimators): the mean confidence of the unlabelled plus the mean of (right − confidence) over the
hidden labels, whose spread gives the interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..blending.folds import wilson_interval
from ..blending.outcome import gain_of_doubling

LEAST = 10  # hidden labels


@dataclass(frozen=True)
class Expectation:
    """Accuracy to expect over the documents without a label, with its 95 % interval."""

    n_labels: int
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True)
class Slip:
    """A given label that the others contradict when it is hidden; classes are those of the model's labels."""

    document: int
    given: int
    instead: int
    confidence: float


def expectation(model: Any) -> Expectation | None:
    """Of a LabelPropagation fitted with a prior; None with fewer than ten labels that could be hidden."""
    blended = _blended(model)
    if blended is None or len(blended.hidden) < LEAST:
        return None
    right = (blended.hidden.argmax(axis=1) == blended.folds.hidden_codes()).astype(float)
    off = right - blended.hidden.max(axis=1)
    rest = model.codes_ < 0
    sure = float(model.label_distributions_[rest].max(axis=1).mean()) if rest.any() else 1.0
    n = len(right)
    # All right or all wrong have no spread: never narrower than what n answers can tell by themselves.
    low, high = wilson_interval(round(n * min(max(sure, 0.0), 1.0)), n)
    half = max(1.96 * float(off.std(ddof=1)) / np.sqrt(n), (high - low) / 2)
    middle = float(np.clip(sure + off.mean(), 0.0, 1.0))
    return Expectation(
        int((model.codes_ >= 0).sum()), middle, max(0.0, middle - half), min(1.0, middle + half)
    )


def slips(model: Any, most: int = 20) -> list[Slip]:
    """Given labels that are probably wrong, the surest first: when hidden, another class has most."""
    blended = _blended(model)
    if blended is None:
        return []
    folds, P = blended.folds, blended.hidden
    points, given = folds.labelled[folds.tested], folds.hidden_codes()
    instead, confidence = P.argmax(axis=1), P.max(axis=1)
    wrong = np.flatnonzero((instead != given) & (confidence > 0.5))
    order = wrong[np.argsort(-confidence[wrong], kind="stable")[:most]]
    code = [int(k) for k in model.classes_]
    return [Slip(int(points[i]), code[given[i]], code[instead[i]], float(confidence[i])) for i in order]


def gain_of(model: Any, more: int) -> float | None:
    """Accuracy that so many more labels would bring, from the learning curve of those there are."""
    if _blended(model) is None:
        return None
    n = int((model.codes_ >= 0).sum())
    doubling = gain_of_doubling(model.learning_curve())
    return None if doubling is None else doubling * float(np.log2((n + more) / n))


def _blended(model: Any) -> Any:
    return model.hidden_labels() if getattr(model, "blend_", None) is not None else None
