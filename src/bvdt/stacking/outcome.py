"""What a blend says about itself: weights, and accuracy on hidden labels."""

from __future__ import annotations

from dataclasses import dataclass

from .expectation import Estimate


@dataclass(frozen=True)
class Blend:
    """How the experts were combined, and how right each was on labels hidden from it.

    The weights, a few numbers, were fitted on the same hidden labels: with few of them ``accuracy`` is a
    little too kind (docs/decisions.md). Classes with one label are not tested; ``expected_accuracy`` counts
    them.
    """

    weights: dict[str, float]  # of each expert's scores in the last blend
    temperature: float  # logarithms of probabilities are divided by it at the end
    share: float  # taken from the neighbors in the last step
    n_tested: int  # labels hidden once
    n_folds: int
    accuracy: Estimate | None  # of the blend; None where no label could be hidden
    alone: dict[str, Estimate]  # of each expert on the same labels
    shares: dict[str, float]  # of each expert in the answer, weight times usual size of its scores; sum 1

    def __str__(self) -> str:
        if self.accuracy is None:
            return "a blend that could not be tested: no class has two labels"
        parts = [f"{name} {accuracy.value:.3f}" for name, accuracy in self.alone.items()]
        return f"blend {self.accuracy.value:.3f} on {self.n_tested} hidden labels; {', '.join(parts)}"
