"""Linear systems of the symmetrised walk by conjugate gradients, all columns at once.

Stepping shrinks the error by α per product, conjugate gradients by about 1 − √(2(1 − α)): at α = 0.99 that is
tens of products instead of hundreds. S has a diagonal of about 0, so Jacobi's preconditioner is the identity.
Every column has its own step length; a column that is solved stands still while the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float

_ROWS = 1 << 12  # rows that stay in cache from one operation to the next


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
    B = Y.dtype.type(1 - alpha) * Y
    return _solve(_shifted(S, alpha), B, tol, max_products, start)


def solve_singular(
    S: Any,
    B: NDArray[Any],
    null: NDArray[Any],
    *,
    tol: float = 1e-4,
    max_products: int = 500,
) -> tuple[NDArray[Any], int]:  # (N, m), products
    """V with (I − S)·V = B, orthogonal to the columns of ``null``, and the products it took.

    ``null`` (N, c) has orthonormal columns that span the null space of I − S. What B has of them is taken
    off: the result is the pseudo-inverse's.
    """
    B = _columns(B)
    null = np.asarray(null, B.dtype)
    V, products = _solve(_shifted(S, 1.0), _without(B, null), tol, max_products, None)
    return _without(V, null), products


def _columns(Y: NDArray[Any]) -> NDArray[Any]:
    """Float32 or float64 columns, C-contiguous."""
    Y = np.asarray(Y)
    if Y.ndim != 2:
        raise ValueError(f"Y needs two dimensions, points × columns; its shape is {Y.shape}")
    return np.ascontiguousarray(Y, np.float32 if Y.dtype == np.float32 else np.float64)


def _without(V: NDArray[Any], null: NDArray[Any]) -> NDArray[Any]:
    """V less its part along the orthonormal columns of ``null``."""
    return np.asarray(V - null @ (null.T @ V))


def _shifted(S: Any, alpha: float) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """P ↦ S·P, in P's type, to be scaled by −α and added to P."""

    def times(P: NDArray[Any]) -> NDArray[Any]:
        product = np.asarray(S @ P, P.dtype)
        if np.may_share_memory(product, P) or not product.flags.writeable:
            product = product.copy()  # an operator may return what it was given
        for rows in _batches(len(P)):
            part = product[rows]
            part *= P.dtype.type(-alpha)
            part += P[rows]
        return product

    return times


def _solve(
    times: Callable[[NDArray[Any]], NDArray[Any]],
    B: NDArray[Any],  # (N, m)
    tol: float,
    max_products: int,
    start: NDArray[Any] | None,
) -> tuple[NDArray[Any], int]:
    """Conjugate gradients (Hestenes & Stiefel 1952) for a matrix known by its products."""
    if start is None:
        F, R, products = np.zeros_like(B), B.copy(), 0
    else:
        F, products = np.array(start, B.dtype, order="C"), 1
        F[:, ~B.any(axis=0)] = 0.0  # solved exactly: a residual cannot be a share of 0
        R = B - times(F)
    P = R.copy()
    rho, stop = _squares(R, R), tol**2 * _squares(B, B)
    while products < max_products and (rho > stop).any():
        AP = times(P)
        products += 1
        going = rho > stop
        length = np.where(going, _ratio(rho, _squares(P, AP)), 0.0).astype(B.dtype)
        new = _advance(F, R, P, AP, length)
        turn = np.where(going, _ratio(new, rho), 0.0).astype(B.dtype)
        for rows in _batches(len(B)):
            part = P[rows]
            part *= turn
            part += R[rows]
        rho = new
    return F, products


def _advance(
    F: NDArray[Any], R: NDArray[Any], P: NDArray[Any], AP: NDArray[Any], length: NDArray[Any]
) -> Float:  # (m,)
    """F += length·P and R −= length·AP, in place; the new residuals' squares. AP is used up."""
    squares = np.zeros(F.shape[1])
    scaled = np.empty((min(_ROWS, len(F)), F.shape[1]), F.dtype)
    for rows in _batches(len(F)):
        part, residual = AP[rows], R[rows]
        F[rows] += np.multiply(P[rows], length, out=scaled[: len(part)])
        part *= length
        residual -= part
        squares += np.einsum("ij,ij->j", residual, residual)
    return squares


def _squares(A: NDArray[Any], B: NDArray[Any]) -> Float:  # (N, m) ×2 -> (m,)
    """Inner products of the columns, batch sums added in double precision.

    einsum, not @: BLAS would start threads, which then stand in the way of the product's.
    """
    total = np.zeros(A.shape[1])
    for rows in _batches(len(A)):
        total += np.einsum("ij,ij->j", A[rows], B[rows])
    return total


def _ratio(a: Float, b: Float) -> Float:
    """a/b, and 0 where b is 0: a column that is solved, or empty."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)


def _batches(n_rows: int) -> Iterator[slice]:
    return (slice(first, first + _ROWS) for first in range(0, n_rows, _ROWS))
