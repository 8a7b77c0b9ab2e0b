"""From scores of classes to distributions over them, and to the points whose labels would tell most."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .. import _core
from .._support.arrays import Float, Int
from .._support.columns import threads_for
from .pagerank import pagerank


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


def match_class_mass(P: Float, unlabeled: NDArray[np.bool_], prior: Float) -> Float:  # (N, k) -> (N, k)
    """Class-mass normalisation (Zhu et al. 2003).

    Weights the classes so that their mass over the unlabeled points has the shares of ``prior``; then every
    row is scaled to sum to 1 again.
    """
    mass = P[unlabeled].sum(axis=0)
    if not mass.all():
        return P  # no unlabeled points, or a class that reaches none of them
    return class_distributions(P * (prior * mass.sum() / mass), prior)


def suggestion_scores(op: Any, P: Float, alpha: float) -> Float:  # (N, k) -> (N,)
    """What a label at each point would tell: its entropy times the mass it reaches.

    That mass is PageRank's with damping ``alpha``: the weight that the point's label has in Eq. (29), summed
    over all rows.
    """
    return np.asarray(special.entr(P).sum(axis=1) * pagerank(op, damping=min(alpha, 0.99), tol=1e-6))
