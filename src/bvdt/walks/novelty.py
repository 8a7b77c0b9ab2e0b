"""Which points are like no class that has labels (theory: Novelty).

A point's score adds up, in standard deviations of the labels,

    lack      how far the log of its label mass is below that of its class's labels, each without itself
    doubt     1 − the probability of its class
    distance  how much farther it is from its neighbors than these are from theirs, beyond three deviations

A new point, whose neighbors were fitted without it, scores the larger of lack and distance, and doubt. The
share of labels with a lower score, each judged without itself, makes novelty of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._support.arrays import Float, Index
from .label_mass import mass_left_out

SHRINKAGE = 10.0  # labels that a class's own level is averaged with
SEEN = 0.8  # of the labels that a fold sees; with all of them doubt is about as much smaller
FLOOR = 1e-3  # of the median mass, before its logarithm
FAR = 3.0  # deviations from which distance counts
MAD = 1.4826  # median absolute deviations of a Gaussian in a standard deviation
CLOSEST = 1e-3  # of the median divergence, added before its logarithm


@dataclass(frozen=True, eq=False)
class Ranks:
    """Scores of labels, ascending, and the share of the points of known classes that each lies above."""

    known: Float  # (n,)
    below: Float  # (n,)

    @classmethod
    def of(cls, score: Float, weight: Float) -> Ranks:
        """Of scores that stand for so many points each; i/(n + 1) for equal weights."""
        values, place = np.unique(score, return_inverse=True)
        share = np.bincount(place, weight) * (len(score) / max(weight.sum(), 1e-300))
        return cls(values, np.cumsum(share) / (len(score) + 1))

    def share_below(self, score: Float) -> Float:  # (n,)
        """Share of known points with a lower score; exponential beyond the least and the highest label."""
        values, last = self.known, self.below[-1]
        unit = max(float(values.std()), 1e-12)
        found = np.interp(score, values, self.below)
        low, high = score < values[0], score > values[-1]
        found[low] = self.below[0] * np.exp((score[low] - values[0]) / unit)
        found[high] = 1 - (1 - last) * np.exp((values[-1] - score[high]) / unit)
        return np.asarray(found)


@dataclass(frozen=True, eq=False)
class Novelty:
    """Scores of the fitted points and of the labels, from which novelty is read off.

    Attributes
    ----------
    lack : (N,) of label mass, labeled points without their own label.
    score : (N,)
    among : the labels' scores, each judged without itself.
    among_new : the same as scores of new points.
    usual : median and deviation of the distances' logarithms.
    doubted : whether scores hold the doubt: only where probabilities of hidden labels are known.
    """

    lack: Float
    score: Float
    among: Ranks
    among_new: Ranks
    usual: tuple[float, float] = (0.0, 1.0)
    doubted: bool = False

    @property
    def fitted(self) -> Float:  # (N,)
        """Novelty of the fitted points."""
        return self.among.share_below(self.score)

    def of_new(self, lack: Float, P: Float, remote: Float) -> Float:  # (n,), (n, k), (n,) -> (n,)
        """Novelty of new points from their neighbors' ``lack``, probabilities and remoteness."""
        score = np.maximum(lack, _deviations(remote, self.usual))
        return self.among_new.share_below(score + doubt(P) if self.doubted else score)


def novelty(
    mass: Float,
    own: Float,
    points: Index,
    codes: Index,
    weight: Float,
    P: Float,
    hidden: Float | None = None,
    remote: Float | None = None,
) -> Novelty:
    """Of points with the label mass (N, k), their own parts, and labels (n,) as in ``label_mass``.

    Parameters
    ----------
    P : (N, k) probabilities.
    hidden : (n, k) of the labels while they were hidden, NaN for those that never were.
    remote : (N,) of each point, as ``remoteness`` gives it.
    """
    left_out = mass_left_out(mass, own, points, codes, weight)
    total = mass.sum(axis=1)
    tested = np.isfinite(left_out)
    total[points[tested]] = left_out[tested]
    logs = np.log(np.maximum(total, FLOOR * max(float(np.median(total)), 1e-300)))
    of_labels = logs[points[tested]]
    level, deviation = class_levels(of_labels, codes[tested], mass.shape[1])
    expected = P @ level
    expected[points] = level[codes]
    lack = (expected - logs) / deviation
    usual, remote = _usual(remote), np.full(len(P), -np.inf) if remote is None else remote
    apart = _deviations(remote, usual)
    score, new = lack + np.maximum(apart - FAR, 0.0), np.maximum(lack, apart)
    if hidden is not None:
        doubts = doubt(P)
        doubts[points] = SEEN * np.nan_to_num(doubt(hidden))
        score, new = score + doubts, new + doubts
        tested &= np.isfinite(hidden).all(axis=1)
    judged, stands_for = np.arange(len(P)), np.ones(len(P))
    if tested.any():
        # Labels stand for the points: each for as many as its class seems to have for each of its labels.
        judged, count = points[tested], np.bincount(codes[tested], minlength=mass.shape[1])
        stands_for = (P.sum(axis=0) / np.maximum(count, 1))[codes[tested]]
    ranks, ranks_new = (Ranks.of(values[judged], stands_for) for values in (score, new))
    return Novelty(lack, score, ranks, ranks_new, usual, hidden is not None)


def class_levels(logs: Float, codes: Index, n_classes: int) -> tuple[Float, float]:  # (n,) ×2 -> (k,)
    """Mean log mass of each class's labels, shrunk to that of all, and their deviation from it.

    Levels follow the classes as far as these differ by more than their labels do, τ² beside σ², with
    ``SHRINKAGE`` labels of the common mean: where classes or their numbers of labels are very unequal.
    """
    if not len(logs):
        return np.zeros(n_classes), 1.0
    count = np.bincount(codes, minlength=n_classes)
    seen, common = count > 0, float(logs.mean())
    mean = np.where(seen, np.bincount(codes, logs, n_classes) / np.maximum(count, 1), common)
    within = float(np.sum((logs - mean[codes]) ** 2) / max(len(logs) - seen.sum(), 1))
    between = 0.0
    if seen.sum() > 1:
        between = max(0.0, float(mean[seen].var(ddof=1) - within * np.mean(1 / count[seen])))
    trust = min(1.0, between / within) if within > 0 else 0.0
    level = common + trust * count / (count + SHRINKAGE) * (mean - common)
    return level, float((logs - level[codes]).std()) or 1.0


def doubt(P: Float) -> Float:  # (n, k) -> (n,)
    """1 − the largest probability."""
    return np.asarray(1.0 - P.max(axis=1))


def remoteness(own: Float, neighbors: Float, typical: float) -> Float:  # (n,), (n, m) -> (n,)
    """Log of each point's mean divergence to its neighbors over theirs to their own; NaN is left out.

    ``typical`` is the fitted points' median: a thousandth of it is added, for points on top of each other.
    """
    least = max(CLOSEST * typical, 1e-300)
    theirs, missing = np.log(neighbors + least), np.isnan(neighbors)
    count = np.maximum((~missing).sum(axis=1), 1)
    mean = np.where(missing, 0.0, theirs).sum(axis=1) / count
    return np.asarray(np.where(np.isnan(own), 0.0, np.log(own + least) - mean))


def mean_divergence(divergences: Float) -> Float:  # (n, m) -> (n,)
    """Mean of each row's finite divergences; NaN without any."""
    found = np.isfinite(divergences)
    count = found.sum(axis=1)
    total = np.where(found, divergences, 0.0).sum(axis=1)
    return np.asarray(np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0))


def _usual(remote: Float | None) -> tuple[float, float]:
    """Median and deviation."""
    if remote is None:
        return 0.0, 1.0
    middle = float(np.median(remote))
    return middle, MAD * float(np.median(np.abs(remote - middle))) or 1.0


def _deviations(remote: Float, usual: tuple[float, float]) -> Float:  # (n,)
    """Remoteness in deviations from the usual."""
    middle, deviation = usual
    return (remote - middle) / deviation
