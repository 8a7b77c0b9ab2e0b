"""Poisson learning (Calder et al. 2020) on the symmetrised walk.

Labels are sources and sinks: the potential u solves (D − W)·u = Σ_j δ_j·(y_j − ȳ)ᵀ over the labeled points
j, with W = (M + Mᵀ)/2, D its row sums and ȳ the mean label; a point takes the class whose potential is
largest. Scores do not fade with the distance from the labels as those of label spreading do, which matters
where labels are few.

Differs from the paper: conjugate gradients on I − S with V = √D·u instead of its iteration. Parts of the walk
that hardly touch (:mod:`bvdt.walks.components`) are problems of their own, each with its own mean label:
otherwise the potential of a part would be its surplus of labels divided by a link of 10⁻¹⁰ or less, and
drown all else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float, Index
from ..operators import SymmetrizedOperator
from .components import sparse_indicators, walk_parts
from .inputs import symmetrized, warn_unconverged
from .solving import solve_singular, solve_spread

MBO_STEPS = 10  # projections to classes of the given sizes
MBO_ALPHA = 0.9  # of a step of diffusion between two of them: time α/(1 − α) = 9
_MBO_TOL = 1e-2
_VOLUME_STEPS, _VOLUME_LEAST, _VOLUME_MOST = 100, 0.5, 2.0


def poisson_potential(
    M: Any, Y0: Float, *, tol: float = 1e-3, max_products: int = 300
) -> tuple[Float, Index, int]:  # (N, k), (N,), products
    """u of the module's head, Σ_i d_i·u_i = 0 in every part; each point's part; and the products it took.

    ``Y0`` holds the labels' weights, one column per class, rows of 0 for the unlabeled.
    """
    S = symmetrized(M)
    part = walk_parts(S)
    linked = S.degrees > 0
    root = np.sqrt(np.where(linked, S.degrees, 1.0))[:, None]
    null = sparse_indicators(part, np.sqrt(S.degrees))
    B = _sources(_linked(S, Y0), part) / root
    V, products = solve_singular(S, B, null, tol=tol, max_products=max_products)
    if products >= max_products:
        warn_unconverged("Poisson learning", max_products, tol)
    return V / root, part, products


def poisson_scores(
    M: Any, Y0: Float, *, tol: float = 1e-3, max_products: int = 300
) -> tuple[Float, int]:  # (N, k), products
    """Class scores exp(u/s), scaled to a largest of 1 per row, s the root mean square of all centered
    potentials.

    The order of the classes is that of the potentials. A part has scores only for the classes that it has
    labels of; one without labels has the scores of the parts that it is linked with, however weakly.
    """
    U, part, products = poisson_potential(M, Y0, tol=tol, max_products=max_products)
    S = symmetrized(M)
    return _extended(S, _scores_of(U, _present(_linked(S, Y0), part)), Y0), products


def _linked(S: SymmetrizedOperator, Y0: Float) -> Float:  # (N, k)
    """The labels of points with links: without links there is no potential."""
    return np.where(S.degrees[:, None] > 0, Y0, 0.0)


def _extended(S: SymmetrizedOperator, scores: Float, Y0: Float) -> Float:  # (N, k) ×2 -> (N, k)
    """Scores with those of parts without labels, by their links with others, and of isolated points: their
    labels, or what their rows of the walk lead to."""
    reached = scores.any(axis=1)
    if (S.degrees[~reached] > 0).any():
        from_others = np.asarray(S.mean_with_transpose(scores))[~reached]
        peak = from_others.max(axis=1, keepdims=True)
        scores[~reached] = from_others / np.where(peak > 0, peak, 1.0)
    S.extended(scores)
    given = S.isolated[Y0[S.isolated].any(axis=1)]
    scores[given] = Y0[given] / Y0[given].max(axis=1, keepdims=True)
    return scores


def poisson_mbo_scores(
    M: Any,
    Y0: Float,
    *,
    shares: Float | None = None,
    tol: float = 1e-3,
    max_products: int = 300,
) -> tuple[Float, int]:  # (N, k), products
    """Scores under which each class takes its share of the points: Poisson learning with volume constraints.

    From Poisson's classes, ``MBO_STEPS`` times: the classes' indicators diffuse, with the labels as sources;
    then each point takes a class again, weighted so that the classes' sizes are the ``shares``, the labels'
    own where none are given.

    Differs from the paper: diffusion follows the random walk, in one implicit step, (I + t·(I − S))·V = V⁰ +
    t·B, which is label spreading with α = t/(1 + t).
    """
    shares = np.asarray(Y0.sum(axis=0) / Y0.sum() if shares is None else shares)
    U, part, products = poisson_potential(M, Y0, tol=tol, max_products=max_products)
    S = symmetrized(M)
    Y, present = _linked(S, Y0), _present(_linked(S, Y0), part)
    root = np.sqrt(np.where(S.degrees > 0, S.degrees, 1.0))[:, None]
    time = MBO_ALPHA / (1 - MBO_ALPHA)
    source = time * _sources(Y, part) / root
    labeled = Y.any(axis=1)
    scores, V = _scores_of(U, present), None
    for _ in range(MBO_STEPS):
        taken = np.eye(Y0.shape[1])[(scores * volume_weights(scores, shares)).argmax(axis=1)]
        taken[labeled] = Y[labeled] / Y[labeled].sum(axis=1, keepdims=True)
        taken *= present
        V, more = solve_spread(
            S, (root * taken + source).astype(np.float32), MBO_ALPHA, tol=_MBO_TOL, start=V
        )
        scores = np.maximum(V / root, 0.0) * present
        products += more
    return _extended(S, scores, Y0) * volume_weights(scores, shares), products


def volume_weights(scores: Float, shares: Float) -> Float:  # (N, k), (k,) -> (k,)
    """Factors such that the largest weighted score gives each class about its share of the points."""
    weights, step = np.ones(len(shares)), 1.0
    reached = scores[scores.any(axis=1)]
    best, best_gap = weights, np.inf
    for _ in range(_VOLUME_STEPS if len(reached) else 0):
        got = np.bincount((reached * weights).argmax(axis=1), minlength=len(shares)) / len(reached)
        gap = float(np.abs(shares - got).sum())
        if gap < best_gap:
            best, best_gap = weights, gap
        else:
            step *= 0.9  # to and fro around the shares: shorter steps
        weights = np.clip(weights + step * (shares - got), _VOLUME_LEAST, _VOLUME_MOST)
    return best


def _sources(Y0: Float, part: Index) -> Float:  # (N, k)
    """Each label less the mean label of its part, by the label's weight."""
    weight = Y0.sum(axis=1)
    total = np.zeros((int(part.max()) + 1, Y0.shape[1]))
    np.add.at(total, part, Y0)
    of_part = np.bincount(part, weight)
    mean = total / np.where(of_part > 0, of_part, 1.0)[:, None]
    return np.asarray(Y0 - weight[:, None] * mean[part])


def _present(Y0: Float, part: Index) -> NDArray[np.bool_]:  # (N, k)
    """Whether the point's part has a label of the class."""
    found = np.zeros((int(part.max()) + 1, Y0.shape[1]), bool)
    rows, columns = np.nonzero(Y0)
    found[part[rows], columns] = True
    return np.asarray(found[part])


def _scores_of(U: Float, present: NDArray[np.bool_]) -> Float:
    U = np.where(present, U, 0.0)
    size = np.sqrt(np.mean(np.square(U - U.mean(axis=1, keepdims=True))))
    U = np.where(present, U / (size if size > 0 else 1.0), -np.inf)
    peak = U.max(axis=1, keepdims=True)
    return np.asarray(np.where(present, np.exp(U - np.where(np.isfinite(peak), peak, 0.0)), 0.0))
