"""Class balance: a walk's scores are divided by the classes' label counts to a power γ, 0 to 1.

Scores grow with the number of labels of a class, be the class large or only labeled more eagerly. γ = ½ is
better than 0 on random labels of even classes. Fully balanced scores (γ = 1) estimate the classes' shares of
all points without the labels' frequencies: where the two are far apart, by their KL divergence, labels were
not drawn at random and γ goes to 1 (random labels of even classes: 0.00 to 0.2 nats; 27 against 3 labels of
two even classes: 0.53). Random labels of a class that is most of the points look like that, too; which of the
two it is, hidden labels decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from .. import _core
from .._support.arrays import Float, Index
from .._support.columns import threads_for

_POWERS = (0.5, 0.0, 1.0)  # that hidden labels choose from, the first among equals
_UNEVEN = 0.01  # level of the test for classes of unequal size
# Of the test for labels not drawn at random: low, as a class labeled five times as eagerly is far below
# it, and random labels mistaken for such cost half of the accuracy.
_EAGER = 0.002


@dataclass(frozen=True, eq=False)
class HiddenLabels:
    """Labeled points with out-of-fold scores."""

    codes: Index  # (n,)
    scores: Float  # (n, k)
    counts: Float  # (n, k) labels that the scores come from
    others: Float  # (k,) how many unlabeled points balanced scores give each class, mean over the folds
    alone: Float  # (k,) labels that were never hidden, which count as predicted

    @classmethod
    def by_halves(
        cls, scores: Float, half: Float, counts: Float, half_counts: Float, codes: Index, fold: Index
    ) -> HiddenLabels:  # (N, k) ×2, (k,) ×2, (N,) ×2
        """Scores of all labels less those of ``half``, all but fold 0, are those of fold 0: a walk is linear.

        ``codes`` are −1 for unlabeled points, ``fold`` is 0, 1, or −1 for labels that are never hidden.
        """
        rest, rest_counts = np.maximum(scores - half, 0.0), counts - half_counts
        unlabeled = codes < 0
        others = np.zeros(len(counts))
        for Z, seen in ((half, half_counts), (rest, rest_counts)):
            reached = unlabeled & Z.any(axis=1)
            best = _balanced(Z[reached], seen).argmax(axis=1)
            others += np.bincount(best, minlength=len(counts)) / 2
        hidden = np.flatnonzero((codes >= 0) & (fold >= 0))
        by_half = (fold[hidden] == 0)[:, None]
        alone = codes[(codes >= 0) & (fold < 0)]
        return cls(
            codes[hidden],
            np.where(by_half, half[hidden], rest[hidden]),
            np.where(by_half, half_counts, rest_counts),
            others,
            np.bincount(alone, minlength=len(counts)).astype(float),
        )

    @classmethod
    def joined(cls, parts: Sequence[HiddenLabels]) -> HiddenLabels:
        """Of parts of the points, one."""
        codes, scores, counts = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("codes", "scores", "counts")
        )
        others, alone = (
            np.sum([getattr(part, name) for part in parts], axis=0) for name in ("others", "alone")
        )
        return cls(codes, scores, counts, others, alone)

    def look_random(self, largest: int) -> bool:
        """Whether the labeled points could have been drawn at random."""
        best = _balanced(self.scores, self.counts).argmax(axis=1)
        found = np.bincount(best, minlength=len(self.others)) + self.alone
        return labels_look_random(found, self.others, largest)

    def best_power(self) -> float:
        """γ by which most labels are predicted; ½ among equals."""
        counts = np.where(self.counts > 0, self.counts, np.inf)
        right = [((self.scores / counts**power).argmax(axis=1) == self.codes).sum() for power in _POWERS]
        return _POWERS[int(np.argmax(right))]


def class_balance(
    counts: Float, found: Float, hidden: Callable[[], HiddenLabels] | None = None
) -> tuple[float, bool]:  # (k,) ×2
    """γ, and whether classes are of unequal size, by labels that look as if drawn at random.

    ``found`` are the numbers of points that balanced scores give each class; ``hidden`` is asked only where
    one class has more labels than chance gives one of equal classes.
    """
    if hidden is not None and uneven(counts):
        evidence = hidden()
        if evidence.look_random(int(counts.argmax())):
            return evidence.best_power(), True
    known = counts > 0
    labels, share = counts[known] / counts.sum(), found[known] + 1.0
    skew = float((labels * np.log(labels * share.sum() / share)).sum())
    return min(1.0, max(0.5, 0.5 + 2.5 * (skew - 0.1))), False


def count_balanced(scores: Float, counts: Float, n_jobs: int | None = 1) -> Float:  # (N, k), (k,) -> (k,)
    """How many points balanced scores give each class; points that no label reaches are left out."""
    found = np.empty(len(counts), np.int64)
    scores = np.ascontiguousarray(scores, np.float64)
    divisor = np.where(counts > 0, counts, np.inf)  # a class without labels wins nowhere
    _core.count_classes(scores, divisor, found, threads_for(scores, n_jobs))
    return found.astype(np.float64)


def balance_divisor(
    scores: Float, counts: Float, n_jobs: int | None = 1, hidden: Callable[[], HiddenLabels] | None = None
) -> Float:  # (N, k), (k,) -> (k,)
    """What the scores of a walk are divided by: the classes' label counts to the power γ."""
    if np.count_nonzero(counts) < 2:
        return np.ones(len(counts))
    power, _ = class_balance(counts, count_balanced(scores, counts, n_jobs), hidden)
    return to_power(counts, power)


def to_power(counts: Float, power: float) -> Float:  # (k,)
    """The counts' power; 1 for a class without labels."""
    return np.asarray(np.where(counts > 0, counts, 1.0) ** power)


def uneven(counts: Float) -> bool:  # (k,)
    """Whether the largest class has more labels than chance gives one of equal classes."""
    k, largest = len(counts), float(counts.max())
    return k > 1 and k * _at_least(largest, counts.sum(), 1 / k) < _UNEVEN


def labels_look_random(hidden: Float, others: Float, largest: int) -> bool:  # (k,) ×2
    """Whether the labeled points could have been drawn at random, by what is predicted of them.

    ``hidden`` counts the classes predicted for labeled points whose labels were hidden, ``others`` those of
    unlabeled points by the same classifier. Points drawn at random are exchangeable with the others,
    whatever the classifier and however unequal the classes are (Lipton et al. 2018); where the class
    of most labels was labeled more eagerly than others, it is predicted more often for labeled points.
    """
    share = (others[largest] + 0.5) / (others.sum() + 1.0)
    return _at_least(float(hidden[largest]), float(hidden.sum()), float(share)) > _EAGER


def _balanced(scores: Any, counts: Float) -> Any:  # (n, k), (k,) or (n, k)
    return scores / np.where(counts > 0, counts, np.inf)


def _at_least(count: float, n: float, share: float) -> float:
    """Probability of so many or more among n draws."""
    return float(special.bdtrc(int(np.ceil(count)) - 1, int(np.ceil(n)), share)) if count >= 1 else 1.0
