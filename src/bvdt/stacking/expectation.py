"""How accurate labels are to be expected over all points without one, and whether more labels would help."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float, Index, Numbers

LEAST = 20  # labels: with fewer an interval says next to nothing
WORTH = 0.01  # accuracy per doubling of the labels from which on more are worth their while
HELP, LITTLE = "more labels would help", "more labels would bring little"
_Z = 1.959964  # of a 95 % interval


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of_share(cls, right: float, n: float) -> Estimate:
        """A proportion: the interval stays inside 0 to 1 and is not empty at its ends (Wilson 1927)."""
        share, z2 = right / n, _Z * _Z / n
        middle = (share + z2 / 2) / (1 + z2)
        half = np.sqrt(z2 * (share * (1 - share) + z2 / 4)) / (1 + z2)
        return cls(share, float(max(0.0, middle - half)), float(min(1.0, middle + half)))

    @classmethod
    def of_scores(cls, scores: Numbers, codes: Index) -> Estimate | None:  # (n, k), (n,)
        """How often the largest is the right one's; None without labels."""
        right = scores.argmax(axis=1) == codes
        return cls.of_share(int(right.sum()), len(codes)) if len(codes) else None


def expected_accuracy(
    right: NDArray[np.bool_],
    codes: Index,
    n_labels: int,
    confidence: Float | None = None,
    others: Float | None = None,
) -> Estimate | None:
    """Accuracy over the points without a label; None from fewer than ``LEAST`` labels.

    A class's only label cannot be hidden. It stands for the points of classes that have no label yet, whose
    share is about that of such labels (Good 1953), and which no one can predict: all of these are wrong.
    Labels that someone was asked for are harder than the others. Where there are calibrated probabilities,
    the others' mean confidence says how hard these are, and the hidden labels how far confidence is off: a
    difference estimator (Cochran 1977). Both labels of a class that has two are right thanks to each other,
    which makes a class's share less certain than single trials would (Esty 1983): the interval is that of
    fewer trials. benchmarks/expected.py has how often it covers.

    Parameters
    ----------
    right, codes : (n,) of each label that was hidden, whether it was predicted, and its class.
    n_labels : of all labels, those never hidden among them.
    confidence, others : (n,) and of the points without a label: calibrated probability of the answer.
    """
    if n_labels < LEAST or not len(right):
        return None
    share = float(right.mean())
    if confidence is not None and others is not None and len(others):
        share = float(np.clip(others.mean() + share - confidence.mean(), 0.0, 1.0))
    share *= len(right) / n_labels
    n_pairs = int((right & (np.bincount(codes)[codes] == 2)).sum())
    p = (share * n_labels + 0.5) / (n_labels + 1)
    n_trials = n_labels / (1 + n_pairs / (n_labels * p * (1 - p)))
    return Estimate.of_share(share * n_trials, n_trials)


@dataclass(frozen=True)
class LearningCurve:
    """Accuracy on labels that were hidden, by how many were used: from few to most of them."""

    n_labels: tuple[int, ...]
    accuracy: tuple[Estimate, ...]
    gain: Estimate  # per doubling of the labels, from the first point to the last
    last_gain: Estimate  # from the last but one

    @classmethod
    def of(cls, n_labels: list[int], right: list[Numbers]) -> LearningCurve:
        """``right``: (n,) of all labels, −1 where used, else whether predicted; the last has all but used."""
        accuracy = [Estimate.of_share(int((hits > 0).sum()), int((hits >= 0).sum())) for hits in right]
        doublings = np.log2(n_labels[-1] / np.array(n_labels))
        gains = [_gain(right[i], right[-1], float(doublings[i])) for i in (0, len(right) - 2)]
        return cls(tuple(n_labels), tuple(accuracy), *gains)

    def verdict(self) -> str:
        """Only what the intervals bear out."""
        return verdict(self.gain, self.last_gain)


def verdict(gain: Estimate, last: Estimate) -> str:
    """What to say of more labels, by accuracies per doubling."""
    if gain.low > 0 and last.value >= WORTH:
        return HELP
    if last.high < 2 * WORTH:
        return LITTLE
    return "too few labels to tell whether more would help"


def _gain(few: Numbers, most: Numbers, doublings: float) -> Estimate:
    """Per doubling, on the labels that both were asked for: matched pairs (Agresti and Min 2005)."""
    both = few >= 0
    won, lost = int((most > few)[both].sum()), int((few > most)[both].sum())
    n = int(both.sum()) + 2
    middle = (won - lost) / n
    half = _Z * np.sqrt((won + lost + 1) / n - middle**2) / np.sqrt(n)
    return Estimate(
        (won - lost) / max(n - 2, 1) / doublings,
        float((middle - half) / doublings),
        float((middle + half) / doublings),
    )
