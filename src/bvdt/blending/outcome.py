"""What a blend says about itself: weights, accuracy on hidden labels, and what more labels would bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Index
from .folds import wilson_interval


@dataclass(frozen=True)
class Accuracy:
    """Share of hidden labels that were predicted right, with its 95 % interval (Wilson 1927)."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, scores: NDArray[Any], codes: Index) -> Accuracy | None:  # (n, k), (n,)
        """Of the largest scores; None without labels."""
        if not len(codes):
            return None
        right = int((scores.argmax(axis=1) == codes).sum())
        return cls(right / len(codes), *wilson_interval(right, len(codes)))


@dataclass(frozen=True)
class CurvePoint:
    """Accuracy on the labels left out when only ``n_labels`` were used."""

    n_labels: int
    accuracy: Accuracy


@dataclass(frozen=True)
class Blend:
    """How the experts were combined, and how right each was on labels hidden from it.

    The weights, a few numbers, were fitted on the same hidden labels: with few of them ``accuracy`` is a
    little too kind (docs/decisions.md). Classes with one label are not tested.
    """

    weights: dict[str, float]  # of each expert's scores in the last blend
    temperature: float  # logarithms of probabilities are divided by it at the end
    share: float  # taken from the neighbours in the last step
    n_tested: int  # labels hidden once
    n_folds: int
    accuracy: Accuracy | None  # of the blend; None where no label could be hidden
    alone: dict[str, Accuracy]  # of each expert on the same labels
    shares: dict[str, float]  # of each expert in the answer, weight times usual size of its scores; sum 1

    def __str__(self) -> str:
        if self.accuracy is None:
            return "a blend that could not be tested: no class has two labels"
        parts = [f"{name} {accuracy.value:.3f}" for name, accuracy in self.alone.items()]
        return f"blend {self.accuracy.value:.3f} on {self.n_tested} hidden labels; {', '.join(parts)}"


def gain_of_doubling(points: list[CurvePoint]) -> float | None:
    """Accuracy that twice the labels brought, last on the curve; None where it has fewer than two points.

    Per doubling: accuracy grows about evenly with the logarithm of the number of labels.
    """
    if len(points) < 2:
        return None
    first, last = points[-2], points[-1]
    doublings = np.log2(last.n_labels / first.n_labels)
    return float((last.accuracy.value - first.accuracy.value) / doublings) if doublings > 0 else None
