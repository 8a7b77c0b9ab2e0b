"""From the labels there are: accuracy to expect, suspected errors, and what more labels would bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..stacking.expectation import HELP

if TYPE_CHECKING:
    from ..estimators import LabelPropagation
    from ..stacking import Blended


@dataclass(frozen=True)
class Expectation:
    """Accuracy to expect over the documents without a label, with its 95 % interval."""

    n_labels: int
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True)
class SuspectedError:
    """A given label that the others contradict when it is hidden; classes are those of the model's labels."""

    document: int
    given: int
    instead: int
    confidence: float


def expectation(model: LabelPropagation) -> Expectation | None:
    """Expected accuracy with its 95 % interval; None from fewer than 20 labels or without a blend."""
    found = None if _blended(model) is None else model.expected_accuracy()
    if found is None:
        return None
    return Expectation(int((model.codes_ >= 0).sum()), found.value, found.low, found.high)


def suspected_errors(model: LabelPropagation, most: int = 20) -> list[SuspectedError]:
    """Given labels that are probably wrong, the least probable first: when hidden, another class has most."""
    if _blended(model) is None:
        return []
    found = model.label_issues().contradicted()
    sure = found.rows(np.flatnonzero(found.confidence > 0.5)[:most])
    return [SuspectedError(int(p), int(g), int(s), float(c)) for p, g, s, _, c in zip(*sure, strict=True)]


def gain_of(model: LabelPropagation, more: int) -> str | None:
    """What so many more labels would bring, from the learning curve of those there are, in one sentence."""
    curve = None if _blended(model) is None else model.learning_curve()
    if curve is None:
        return None
    said = curve.verdict()
    if said != HELP:
        return f"{said[0].upper()}{said[1:]}."
    n = int((model.codes_ >= 0).sum())
    doublings = float(np.log2((n + more) / n))
    return f"Another {more} labels would bring about {100 * doublings * curve.last_gain.value:.1f} points."


def _blended(model: LabelPropagation) -> Blended | None:
    return model.hidden_labels() if getattr(model, "blend_", None) is not None else None
