"""The dense transition matrix P and its rows: what every approximation is held to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._support import memory
from .._support.arrays import Float
from .._support.defaults import DIVERGENCE
from ..divergences import BregmanDivergence
from ..lifting import Lifted, lift

_BATCH = 1 << 22  # entries computed at once


@memory.explain_memory_error("the exact matrix")
def exact_transition_matrix(
    X: Any,
    divergence: str | BregmanDivergence = DIVERGENCE,
    *,
    bandwidth: float = 1.0,
    smoothing: float | str | ArrayLike = "auto",
) -> Float:  # (N, N)
    """P with p_ij ∝ exp(−d_φ(x_i, x_j)/bandwidth) and p_ii = 0: the posterior of Eq. (17), N² numbers.

    X, divergence and smoothing are those of ``bvdt.lifting.lift``. A MemoryError refuses what does not fit.

    Examples
    --------
    >>> import bvdt
    >>> X = [[0.0], [1.0], [3.0], [4.5]]
    >>> bvdt.exact_transition_matrix(X, "squared_euclidean", bandwidth=1.0).round(3)
    array([[0.   , 0.982, 0.018, 0.   ],
           [0.815, 0.   , 0.182, 0.003],
           [0.024, 0.287, 0.   , 0.689],
           [0.   , 0.007, 0.993, 0.   ]])
    """
    lifted = lift(X, divergence, smoothing)
    n_points = lifted.n_points
    purpose = f"exact_transition_matrix of {n_points} points"
    memory.require(8.0 * n_points * n_points + 32.0 * _BATCH, purpose)
    P = np.empty((n_points, n_points))
    for start in range(0, n_points, max(1, _BATCH // n_points)):
        rows = np.arange(start, min(start + max(1, _BATCH // n_points), n_points))
        P[rows] = exact_rows(lifted, rows, bandwidth)
    return P


def exact_rows(lifted: Lifted, rows: ArrayLike, bandwidth: float = 1.0) -> Float:  # (n_rows, N)
    """Rows of P: the softmax of −d_ij/bandwidth over j ≠ i, in the log domain."""
    if not (np.ndim(bandwidth) == 0 and 0 < bandwidth < np.inf):
        raise ValueError(f"bandwidth needs a finite number > 0; got {bandwidth!r}")
    rows = np.atleast_1d(np.asarray(rows, dtype=np.intp))
    d = lifted.divergences(rows, slice(None))
    own = (np.arange(len(rows)), rows)
    d[own] = np.inf
    d -= d.min(axis=1, keepdims=True)
    with np.errstate(over="ignore"):  # a far point over a tiny bandwidth: exp(−∞) = 0 is right
        p = np.exp(-d / bandwidth)
    p /= p.sum(axis=1, keepdims=True)
    return p
