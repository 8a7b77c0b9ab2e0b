"""Link analysis: PageRank (Brin and Page 1998) and the stationary distribution of any operator or matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import Float
from .inputs import as_square, check_finite, warn_unconverged


def pagerank(
    op: Any,
    restart: ArrayLike | None = None,
    damping: float = 0.85,
    *,
    max_iter: int = 1000,
    tol: float = 1e-12,
) -> Float:  # (N,)
    """PageRank x = damping·Mᵀx + (1 − damping)·restart, a distribution over the points.

    ``restart`` is where the walk jumps to (non-negative, any scale); None is everywhere alike. Mass that a
    row of M loses (a row of zeros) restarts too. Stops when Σ|change| ≤ tol.

    Examples
    --------
    >>> import bvdt
    >>> X = [[0.0], [1.0], [3.0], [4.5]]
    >>> op = bvdt.transition_matrix(X, "squared_euclidean", bandwidth=1.0, random_state=0)
    >>> bvdt.walks.pagerank(op, restart=[1, 0, 0, 0]).round(2)
    array([0.51, 0.43, 0.03, 0.03])
    """
    M = as_square(op)
    if not 0 <= damping < 1:
        raise ValueError(f"damping needs a value from 0 up to, not including, 1; got {damping}")
    restart = _distribution(restart, M.shape[0], "restart")
    x = restart
    for _ in range(max_iter):
        step = damping * np.asarray(M.T @ x)
        step += (1.0 - step.sum()) * restart
        previous, x = x, step
        if np.abs(x - previous).sum() <= tol:
            return x
    warn_unconverged("pagerank", max_iter, tol)
    return x


def stationary_distribution(
    op: Any, start: ArrayLike | None = None, *, max_iter: int = 10_000, tol: float = 1e-12
) -> Float:  # (N,)
    """Distribution π with Mᵀπ = π, by power iteration of the lazy walk ½(I + Mᵀ), which has no period.

    Stops when Σ|Mᵀπ − π| ≤ tol. A walk that falls apart into nearly closed groups mixes slowly; then a
    ConvergenceWarning says so.

    Examples
    --------
    >>> import bvdt
    >>> X = [[0.0], [1.0], [3.0], [4.5]]
    >>> op = bvdt.transition_matrix(X, "squared_euclidean", bandwidth=1.0, random_state=0)
    >>> bvdt.walks.stationary_distribution(op).round(2)
    array([0.32, 0.32, 0.18, 0.18])
    """
    M = as_square(op)
    x = _distribution(start, M.shape[0], "start")
    for _ in range(max_iter):
        moved = np.asarray(M.T @ x)
        moved /= moved.sum()
        if np.abs(moved - x).sum() <= tol:
            return moved
        x = (x + moved) / 2
    warn_unconverged("stationary_distribution", max_iter, tol)
    return x


def _distribution(weights: ArrayLike | None, n_points: int, name: str) -> Float:
    if weights is None:
        return np.full(n_points, 1.0 / n_points)
    x = np.asarray(weights, dtype=np.float64)
    if x.shape != (n_points,):
        raise ValueError(f"{name} needs {n_points} values, one per point; its shape is {x.shape}")
    check_finite(x, name)
    if (x < 0).any() or not x.sum() > 0:
        i = int(x.argmin())
        raise ValueError(f"{name} needs values ≥ 0 with a positive sum; {name}[{i}] = {x[i]:g}")
    return np.asarray(x / x.sum())
