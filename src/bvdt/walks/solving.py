"""Linear systems of the symmetrised walk by conjugate gradients, all columns at once.

Stepping shrinks the error by α per product, conjugate gradients by about 1 − √(2(1 − α)): at α = 0.99 that is
tens of products instead of hundreds. S has a diagonal of about 0, so Jacobi's preconditioner is the identity.
Every column has its own step length; a column that is solved stands still while the others go on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._support.arrays import Float, Int
from .._support.running import n_threads
from ..operators import SymmetrizedOperator, in_tree_order

SERIAL = 1 << 17  # values below which threads would cost more than they bring


def solve_spread(
    S: Any,
    Y: NDArray[Any],
    alpha: float,
    *,
    tol: float = 1e-4,
    max_products: int = 500,
    start: NDArray[Any] | None = None,
) -> tuple[NDArray[Any], int]:  # (N, m), products
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
    Y = _columns(Y)
    S, order = ordered(S)
    B = (Y.dtype.type(1 - alpha) * Y) if order is None else taken(Y, order, 1 - alpha, jobs_of(S))
    begin = start if start is None or order is None else start[order]
    F, products = solve_for(S, B, alpha, tol, max_products, begin)
    return put_back(F, order, jobs_of(S)), products


def solve_for(
    S: Any, B: NDArray[Any], alpha: float, tol: float, max_products: int, start: NDArray[Any] | None
) -> tuple[NDArray[Any], int]:
    """F with (I − α·S)·F = B, all in the order of S; B is used up."""
    return _solve(_shifted(S, alpha), B, tol, max_products, start, n_jobs=jobs_of(S))


def solve_singular(
    S: Any,
    B: NDArray[Any],
    null: Any,
    *,
    tol: float = 1e-4,
    max_products: int = 500,
) -> tuple[NDArray[Any], int]:  # (N, m), products
    """V with (I − S)·V = B, orthogonal to the columns of ``null``, and the products it took.

    ``null`` (N, c), an array or sparse matrix, has orthonormal columns that span the null space of I − S.
    What B has of them is taken off: the result is the pseudo-inverse's.
    """
    B = _columns(B)
    null = null.astype(B.dtype)
    S, order = ordered(S)
    right = _without(B, null)
    right = right if order is None else right[order]
    V, products = _solve(_shifted(S, 1.0), right, tol, max_products, None, n_jobs=jobs_of(S))
    return _without(put_back(V, order, jobs_of(S)), null), products


def ordered(S: Any) -> tuple[Any, Int | None]:
    """S in the order of its tree, where it has one that makes products fast, and that order; else None."""
    if not isinstance(S, SymmetrizedOperator):
        return S, None
    sorted_S, order = in_tree_order(S)
    return sorted_S, None if sorted_S is S else order


def put_back(F: NDArray[Any], order: Int | None, n_jobs: int | None = None) -> NDArray[Any]:
    """Rows in the points' own order again."""
    if order is None:
        return F
    out = np.empty_like(F)
    if F.dtype not in (np.float32, np.float64):
        out[order] = F
        return out
    _core.put_rows(F, order, None, out, threads_for(F, n_jobs))
    return out


def taken(Y: NDArray[Any], order: Int, factor: float, n_jobs: int | None) -> NDArray[Any]:
    """factor·Y[order]."""
    out = np.empty_like(Y)
    _core.take_rows(Y, order, factor, out, threads_for(Y, n_jobs))
    return out


def threads_for(Y: NDArray[Any], n_jobs: int | None) -> int:
    """One for so few values that others would cost more than they bring."""
    return 1 if Y.size < SERIAL else n_threads(n_jobs)


def _columns(Y: NDArray[Any]) -> NDArray[Any]:
    """Float32 or float64 columns, C-contiguous."""
    Y = np.asarray(Y)
    if Y.ndim != 2:
        raise ValueError(f"Y needs two dimensions, points × columns; its shape is {Y.shape}")
    return np.ascontiguousarray(Y, np.float32 if Y.dtype == np.float32 else np.float64)


def jobs_of(S: Any) -> int | None:
    """The threads that the walk was given."""
    return getattr(S.operator, "n_jobs", None) if isinstance(S, SymmetrizedOperator) else None


def _without(V: NDArray[Any], null: Any) -> NDArray[Any]:
    """V less its part along the orthonormal columns of ``null``."""
    return np.asarray(V - null @ (null.T @ V))


# P, and where its product may be written -> the product, and the columns' inner products of both, if known
Times = Callable[[NDArray[Any], NDArray[Any] | None], tuple[NDArray[Any], Float | None]]


def _shifted(S: Any, alpha: float) -> Times:
    """P ↦ P − α·S·P, in P's type."""
    if isinstance(S, SymmetrizedOperator):

        def fused(P: NDArray[Any], out: NDArray[Any] | None) -> tuple[NDArray[Any], Float | None]:
            product, dots = S.shifted(P, alpha, out)
            return np.asarray(product, P.dtype), dots

        return fused

    def times(P: NDArray[Any], _: NDArray[Any] | None) -> tuple[NDArray[Any], Float | None]:
        product = np.array(S @ P, P.dtype)  # a copy: an operator may return what it was given
        product *= P.dtype.type(-alpha)
        product += P
        return product, None

    return times


def _solve(
    times: Times,
    B: NDArray[Any],  # (N, m), used up
    tol: float,
    max_products: int,
    start: NDArray[Any] | None,
    *,
    n_jobs: int | None = None,
) -> tuple[NDArray[Any], int]:
    """Conjugate gradients (Hestenes & Stiefel 1952) for a matrix known by its products."""
    B, threads = np.ascontiguousarray(B), threads_for(B, n_jobs)
    stop = tol**2 * _dots(B, B, threads)
    if start is None:
        F, R, products = np.zeros_like(B), B, 0
    else:
        F, products = np.array(start, B.dtype, order="C"), 1
        F[:, ~B.any(axis=0)] = 0.0  # solved exactly: a residual cannot be a share of 0
        R = np.subtract(B, times(F, None)[0], out=B)
    P, AP = R.copy(), None
    rho, new = _dots(R, R, threads), np.empty(B.shape[1])
    while products < max_products and (rho > stop).any():
        AP, along = times(P, AP)
        AP, products = np.ascontiguousarray(AP), products + 1
        going = rho > stop
        along = _dots(P, AP, threads) if along is None else along
        length = np.where(going, _ratio(rho, along), 0.0).astype(B.dtype)
        _core.reduce_columns(R, AP, length, new, threads)
        turn = np.where(going, _ratio(new, rho), 0.0).astype(B.dtype)
        _core.advance_columns(F, P, R, length, turn, threads)
        rho, new = new, rho
    return F, products


def _dots(A: NDArray[Any], B: NDArray[Any], threads: int) -> Float:  # (N, m) ×2 -> (m,)
    """Inner products of the columns; they do not depend on the threads."""
    out = np.empty(A.shape[1])
    _core.column_dots(A, B, out, threads)
    return out


def _ratio(a: Float, b: Float) -> Float:
    """a/b, and 0 where b is 0: a column that is solved, or empty."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
