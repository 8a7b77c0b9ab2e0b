"""How much of a point's score comes from which label."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._support.arrays import Float, Index
from .inputs import as_square, symmetrized
from .propagation import label_scores
from .solving import solve_spread

BATCH = 32  # labels solved for at once


def label_contributions(
    op: Any,
    points: Index,
    *,
    method: str = "spread",
    alpha: float = 0.9,
    tol: float = 1e-8,
    max_products: int = 1000,
) -> Float:  # (N, n_points)
    """Rows ``points`` of (1 − α)·(I − α·M)⁻¹, as columns: entry (j, e) is what a label of weight 1 at j adds
    to point e.

    M = op for method "walk", whose transpose is stepped, and the symmetrised walk for "spread", which is
    solved.
    """
    M = as_square(op)
    unit = np.zeros((M.shape[0], len(points)))
    unit[points, np.arange(len(points))] = 1.0
    if method == "spread" and alpha < 1:
        S = symmetrized(M)
        unit, own = S.pulled_back(unit, alpha)
        F, _ = solve_spread(S, unit, alpha, tol=tol, max_products=max_products)
        return np.asarray(np.maximum(F, 0.0) + own)
    if method == "walk" and alpha < 1:
        return label_scores(M.T, unit, method="walk", alpha=alpha, tol=tol, max_iter=10 * max_products)[0]
    raise ValueError(
        f'contributions need method "walk" or "spread" and alpha below 1; got {method!r} and {alpha}'
    )


def largest_contributions(
    op: Any,
    classes: Index,
    labeled: Index,
    codes: Index,
    weight: Float,
    *,
    n_kept: int = 3,
    method: str = "spread",
    alpha: float = 0.9,
    advance: Callable[[int], None] = lambda _: None,
) -> tuple[Index, Float]:  # (N, n_kept) ×2
    """Of every point the labels that gave its class most, and their shares of all that the class got.

    One column per label, ``BATCH`` at a time, where ``label_contributions`` has one per point: labels are
    fewer.

    Parameters
    ----------
    classes : (N,) class of each point.
    labeled, codes, weight : (n,) labeled points, their classes and weights > 0.
    advance : called with how many labels were done.

    Returns
    -------
    Points, −1 where fewer have given anything, and shares, the largest first.
    """
    points = np.full((len(classes), n_kept), -1, np.intp)
    given, total = np.zeros((len(classes), n_kept)), np.zeros(len(classes))
    M = as_square(op)
    for first in range(0, len(labeled), BATCH):
        batch = slice(first, first + BATCH)
        found = given_by(M, labeled[batch], method, alpha) * weight[batch]
        found[classes[:, None] != codes[batch]] = 0.0
        total += found.sum(axis=1)
        points, given = _largest(
            np.hstack([points, np.broadcast_to(labeled[batch], found.shape)]),
            np.hstack([given, found]),
            n_kept,
        )
        advance(found.shape[1])
    return np.where(given > 0, points, -1), given / np.where(total > 0, total, 1.0)[:, None]


def given_by(M: Any, labeled: Index, method: str, alpha: float, tol: float = 1e-8) -> Float:  # (N, n)
    """What a label of weight 1 at each of these points adds to every point."""
    if method != "spread":
        # Which takes the transpose.
        return label_contributions(M.T, labeled, method=method, alpha=alpha, tol=tol)
    unit = np.zeros((M.shape[0], len(labeled)))
    unit[labeled, np.arange(len(labeled))] = 1.0
    S = symmetrized(M)
    F, _ = solve_spread(S, unit, alpha, tol=tol, max_products=1000)
    return np.asarray(S.extended(np.maximum(F, 0.0), alpha, unit))


def _largest(points: Index, values: Float, n_kept: int) -> tuple[Index, Float]:  # (N, m) ×2 -> (N, n_kept) ×2
    order = np.argsort(-values, axis=1, kind="stable")[:, :n_kept]
    return np.take_along_axis(points, order, axis=1), np.take_along_axis(values, order, axis=1)
