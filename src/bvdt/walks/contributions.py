"""How much of a point's score comes from which label."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._support.arrays import Float, Index
from .inputs import as_square, symmetrized
from .propagation import label_scores
from .solving import solve_spread


def label_contributions(
    op: Any,
    points: Index,
    *,
    mode: str = "spread",
    alpha: float = 0.9,
    tol: float = 1e-8,
    max_products: int = 1000,
) -> Float:  # (N, n_points)
    """Rows ``points`` of (1 − α)·(I − α·M)⁻¹, as columns: entry (j, e) is what a label of weight 1 at j adds
    to point e.

    M = op for mode "walk", whose transpose is stepped, and the symmetrised walk for "spread", which is
    solved.
    """
    M = as_square(op)
    unit = np.zeros((M.shape[0], len(points)))
    unit[points, np.arange(len(points))] = 1.0
    if mode == "spread" and alpha < 1:
        F, _ = solve_spread(symmetrized(M), unit, alpha, tol=tol, max_products=max_products)
        return np.asarray(np.maximum(F, 0.0))
    if mode == "walk" and alpha < 1:
        return label_scores(M.T, unit, mode="walk", alpha=alpha, tol=tol, n_iter=10 * max_products)[0]
    raise ValueError(
        f'contributions need mode "walk" or "spread" and alpha below 1; got {mode!r} and {alpha}'
    )
