"""Linear systems of the symmetrised walk, all columns at once, in the points' own order.

Stepping shrinks the error by α per product, conjugate gradients by about 1 − √(2(1 − α)): at α = 0.99 that is
tens of products instead of hundreds. S has a diagonal of about 0, so Jacobi's preconditioner is the identity.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from .._support.arrays import Int, Numbers
from .._support.columns import put_rows, take_rows
from ..operators import RealOperator
from ..solvers import ArraySystem
from .inputs import Square, operator_of


def solve_spread(
    S: Square,
    Y: Numbers,
    alpha: float,
    *,
    tol: float = 1e-4,
    max_products: int = 500,
    start: Numbers | None = None,
) -> tuple[Numbers, int]:  # (N, m), products
    """F with (I − α·S)·F = (1 − α)·Y, the fixed point of label spreading, and the products it took.

    Parameters
    ----------
    S : N×N, symmetric, with eigenvalues in [−1, 1], as ``symmetrized`` gives; 0 ≤ α < 1.
    Y : (N, m), float32 or float64, which is F's type too.
    tol : stop once every column's residual is at most this share of its right-hand side, by length.
    start : (N, m) to begin with, such as the solution for another α; costs one product.
    """
    if not 0 <= alpha < 1:
        raise ValueError(f"alpha needs a value from 0 to below 1; got {alpha}")
    return _solved(operator_of(S).inner, _columns(Y), alpha, 1 - alpha, tol, max_products, start)


def solve_singular(
    S: Square, B: Numbers, null: csr_array | Numbers, *, tol: float = 1e-4, max_products: int = 500
) -> tuple[Numbers, int]:  # (N, m), products
    """V with (I − S)·V = B, orthogonal to the columns of ``null``, and the products it took.

    ``null`` (N, c), an array or sparse matrix, has orthonormal columns that span the null space of I − S.
    What B has of them is taken off: the result is the pseudo-inverse's.
    """
    B = _columns(B)
    null = null.astype(B.dtype)
    V, products = _solved(operator_of(S).inner, _without(B, null), 1.0, 1.0, tol, max_products, None)
    return _without(V, null), products


def _solved(
    S: RealOperator,
    Y: Numbers,
    alpha: float,
    factor: float,
    tol: float,
    max_products: int,
    start: Numbers | None,
) -> tuple[Numbers, int]:
    """F with (I − α·S)·F = factor·Y."""
    B, n_jobs = _inside(Y, S.order, S.n_jobs, factor), S.n_jobs
    begin = None if start is None else _inside(np.ascontiguousarray(start, B.dtype), S.order, n_jobs)
    multiply = lambda P, out, dots: S.shifted(P, alpha, out, dots)  # noqa: E731
    F, products = ArraySystem(multiply, B, begin, n_jobs).solve(tol, max_products)
    return F if S.order is None else put_rows(F, S.order, n_jobs), products


def _inside(Y: Numbers, order: Int | None, n_jobs: int | None, factor: float = 1.0) -> Numbers:
    """factor·Y in an order, a new array."""
    return Y.dtype.type(factor) * Y if order is None else take_rows(Y, order, n_jobs, factor)


def _columns(Y: Numbers) -> Numbers:
    """Float32 or float64 columns, C-contiguous."""
    Y = np.asarray(Y)
    if Y.ndim != 2:
        raise ValueError(f"Y needs two dimensions, points × columns; its shape is {Y.shape}")
    return np.ascontiguousarray(Y, np.float32 if Y.dtype == np.float32 else np.float64)


def _without(V: Numbers, null: csr_array | Numbers) -> Numbers:
    """V less its part along the orthonormal columns of ``null``."""
    return np.asarray(V - null @ (null.T @ V))
