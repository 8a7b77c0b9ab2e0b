"""From scores of classes to distributions over them, and to the points whose labels would tell most."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .. import _core
from .._support.arrays import Float, Index, Int
from .pagerank import pagerank
from .solving import threads_for

_POWERS = (0.5, 0.0, 1.0)  # of class counts, that are tried
_UNEVEN, _EAGER = 0.01, 0.02  # levels of the tests for classes of unequal size, and for labels not at random


def class_distributions(scores: Float, prior: Float) -> Float:  # (N, k), (k,) -> (N, k)
    """Rows scaled to sum to 1; a row that no label reaches gets the prior."""
    return distribute(np.array(scores, np.float64, order="C"), prior, 1)[0]


def distribute(
    scores: Float, prior: Float, n_jobs: int | None, divisor: Float | None = None
) -> tuple[Float, Int]:  # (N, k), (k,) -> (N, k), (N,)
    """``class_distributions`` of scores/divisor, written over the scores, and each row's best class."""
    best = np.empty(len(scores), np.int32)
    divisor = np.ones(scores.shape[1]) if divisor is None else divisor
    _core.distribute_rows(scores, divisor, prior, best, threads_for(scores, n_jobs))
    return scores, best


def balanced_scores(scores: Float, counts: Float) -> Float:  # (N, k), (k,) -> (N, k)
    """Scores divided by the classes' label counts to the power γ, ½ to 1.

    Scores grow with the number of labels of a class, be the class large or only labelled more eagerly. γ = ½
    is better than 0 on labels drawn at random (digits, 3 %: 0.941 to 0.948; 1 % of BBC: 0.933 to 0.939).
    Scores divided by the counts themselves tell the classes' sizes without the labels' frequencies: where
    these are far apart, by their KL divergence, the labels were not drawn at random and γ goes to 1.
    Measured: 0.00 to 0.2 nats for labels drawn at random; 0.53 for 27 and 3 labels of two classes of about
    even size, where accuracy goes from 0.536 to 0.928. Labels of a class that is most of the points look like
    that, too: whether they were drawn at random is asked where γ is above ½ (``labels_look_random``).
    """
    return np.asarray(scores / balance_divisor(scores, counts))


def balance_divisor(scores: Float, counts: Float, n_jobs: int | None = 1) -> Float:  # (N, k), (k,) -> (k,)
    """What ``balanced_scores`` divides by."""
    known = np.flatnonzero(counts > 0)
    if len(known) < 2:
        return np.ones(len(counts))
    divisor, found = np.full(len(counts), np.inf), np.empty(len(counts), np.int64)
    divisor[known] = counts[known]  # a class without labels wins nowhere
    scores = np.ascontiguousarray(scores, np.float64)
    _core.count_classes(scores, divisor, found, threads_for(scores, n_jobs))
    return np.asarray(
        np.where(counts > 0, counts, 1.0) ** balance_power(found[known].astype(np.float64), counts[known])
    )


def balance_power(found: Float, counts: Float) -> float:  # (k,) ×2
    """γ of ``balanced_scores`` from how many points the balanced scores give each class that has labels."""
    labels, found = counts / counts.sum(), found + 1.0
    skew = float((labels * np.log(labels * found.sum() / found)).sum())
    return min(1.0, max(0.5, 0.5 + 2.5 * (skew - 0.1)))


def best_power(scores: Float, counts: Float, codes: Index) -> float:  # (n, k), (n, k) or (k,), (n,)
    """γ of ``balanced_scores`` by which most hidden random labels are predicted; ½ among equals."""
    counts = np.where(counts > 0, counts, np.inf)
    right = [((scores / counts**power).argmax(axis=1) == codes).mean() for power in _POWERS]
    return _POWERS[int(np.argmax(right))]


def power_of_half(
    scores: Float, seen: Any, codes: Index, fold: Index
) -> float | None:  # (N, k), CSR (N, k), (N,) ×2
    """``best_power`` by the scores of the labels ``seen``, outside fold 0; None for labels not at random.

    ``codes`` are −1 for unlabelled points; a label of fold −1, its class's only one, counts as predicted.
    """
    counts = np.asarray(seen.sum(axis=0)).ravel()
    best = (scores / np.where(counts > 0, counts, np.inf)).argmax(axis=1)
    best, reached = np.where((codes >= 0) & (fold < 0), codes, best), scores.any(axis=1)
    hidden = (codes >= 0) & (fold <= 0)
    of_hidden, of_others = (
        np.bincount(best[points & reached], minlength=len(counts)).astype(float)
        for points in (hidden, codes < 0)
    )
    if not labels_look_random(of_hidden, of_others, int(np.bincount(codes[codes >= 0]).argmax())):
        return None
    tested = np.flatnonzero((codes >= 0) & (fold == 0))
    return best_power(scores[tested], counts, codes[tested]) if len(tested) else 0.5


def uneven(counts: Float) -> bool:  # (k,)
    """Whether the largest class has more labels than chance gives one of equal classes."""
    k, largest = len(counts), float(counts.max())
    return k > 1 and k * _at_least(largest, counts.sum(), 1 / k) < _UNEVEN


def labels_look_random(hidden: Float, others: Float, largest: int) -> bool:  # (k,) ×2
    """Whether the labelled points could have been drawn at random, by what is predicted of them.

    ``hidden`` counts the classes predicted for labelled points whose labels were hidden, ``others`` those of
    unlabelled points by the same classifier. Points drawn at random are exchangeable with the others,
    whatever the classifier and however unequal the classes are (Lipton, Wang and Smola 2018); where the class
    of most labels was labelled more eagerly than others, it is predicted more often for labelled points.
    """
    share = (others[largest] + 0.5) / (others.sum() + 1.0)
    return _at_least(float(hidden[largest]), float(hidden.sum()), float(share)) > _EAGER


def _at_least(count: float, n: float, share: float) -> float:
    """Probability of so many or more among n draws."""
    return float(special.bdtrc(int(np.ceil(count)) - 1, int(np.ceil(n)), share)) if count >= 1 else 1.0


def match_class_mass(P: Float, unlabelled: NDArray[np.bool_], prior: Float) -> Float:  # (N, k) -> (N, k)
    """Class-mass normalisation (Zhu et al. 2003).

    Weights the classes so that their mass over the unlabelled points has the shares of ``prior``; then every
    row is scaled to sum to 1 again.
    """
    mass = P[unlabelled].sum(axis=0)
    if not mass.all():
        return P  # no unlabelled points, or a class that reaches none of them
    return class_distributions(P * (prior * mass.sum() / mass), prior)


def suggestion_scores(op: Any, P: Float, alpha: float) -> Float:  # (N, k) -> (N,)
    """What a label at each point would tell: its entropy times the mass it reaches.

    That mass is PageRank's with damping ``alpha``: the weight that the point's label has in Eq. (29), summed
    over all rows.
    """
    return np.asarray(special.entr(P).sum(axis=1) * pagerank(op, damping=min(alpha, 0.99), tol=1e-6))
