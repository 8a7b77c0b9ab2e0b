"""Scores of labeled points from all labels but their own, exactly: the walk is linear in the labels.

f_i without its label = f_i − w_i·(1 − α)·[(I − α·M)⁻¹]_ii   at its class, f_i at the others
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._support.arrays import Float, Index
from .contributions import BATCH, given_by
from .inputs import as_square


def leave_one_out_scores(
    op: Any,
    points: Index,
    codes: Index,
    weight: Float,
    n_classes: int,
    *,
    method: str = "spread",
    alpha: float = 0.9,
    tol: float = 1e-8,
    advance: Callable[[int], None] = lambda _: None,
) -> Float:  # (n, k)
    """Class scores of each labeled point while its own label is left out; one solve per label, in batches.

    Parameters
    ----------
    points, codes, weight : (n,) labeled points, their classes and weights > 0.
    method : "spread" or "walk".
    advance : called with how many labels were done.
    """
    M, scores = as_square(op), np.zeros((len(points), n_classes))
    for first in range(0, len(points), BATCH):
        batch = np.arange(first, min(first + BATCH, len(points)))
        found = given_by(M, points[batch], method, alpha, tol)[points] * weight[batch]
        found[batch, batch - first] = 0.0
        np.add.at(scores.T, codes[batch], found.T)
        advance(len(batch))
    return scores
