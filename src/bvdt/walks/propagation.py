"""Label propagation, Eq. (29), and label spreading, by any square operator, sparse matrix or array."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .. import _core
from .._support.arrays import Float, Int
from ..operators import ordered_walk
from .inputs import as_square, check_finite, symmetrized, warn_of_distances, warn_unconverged
from .poisson import poisson_mbo_scores, poisson_scores
from .solving import jobs_of, ordered, put_back, solve_for, taken, threads_for
from .spreading import LARGEST, LabelRows, spread_by_steps

MODES = ("spread", "walk", "poisson", "poisson_mbo")


def propagate_labels(
    op: Any, Y0: ArrayLike, alpha: float = 0.01, n_iter: int = 300, tol: float = 0.0
) -> NDArray[Any]:  # (N,) or (N, k), as Y0
    """Label propagation, Eq. (29): y ← α·M·y + (1 − α)·y⁰, ``n_iter`` times.

    Parameters
    ----------
    op : M, N×N: a LinearOperator, sparse matrix or array of entries ≥ 0, the larger the nearer.
    Y0 : (N,) or (N, k), the initial labels; for k classes one column each, then take the largest.
    alpha : share taken from the neighbours, 0 to 1; the paper's 0.01 is close to one step of voting.
    tol : stop early once no entry changes by more, or by more than its rounding; 0 for the latter alone.

    Examples
    --------
    >>> import bvdt
    >>> X = [[0.0], [1.0], [3.0], [4.5]]
    >>> op = bvdt.transition_matrix(X, "squared_euclidean", bandwidth=1.0, random_state=0)
    >>> known = [[1, 0], [0, 0], [0, 0], [0, 1]]
    >>> bvdt.propagate_labels(op, known).argmax(axis=1)
    array([0, 0, 1, 1])
    """
    M = as_square(op)
    warn_of_distances(M)
    Y0 = np.asarray(Y0)
    Y0 = Y0 if np.issubdtype(Y0.dtype, np.floating) else Y0.astype(np.float64)
    _check_propagation(M, Y0, alpha, n_iter)
    dtype, walk = np.result_type(M.dtype, Y0), ordered_walk(M)
    if dtype not in (np.float32, np.float64):
        return _propagated_plainly(M, Y0.astype(dtype), alpha, n_iter, tol)
    given = np.ascontiguousarray(Y0, dtype).reshape(len(Y0), -1)
    if walk is None:
        return _propagated(lambda Y: M @ Y, given, None, alpha, n_iter, tol, None).reshape(Y0.shape)
    Y = _propagated(walk.dot, given, walk.order, alpha, n_iter, tol, walk.n_jobs)
    return put_back(Y, walk.order, walk.n_jobs).reshape(Y0.shape)


def _propagated(
    times: Callable[[NDArray[Any]], Any],
    Y0: NDArray[Any],  # (N, k) in the points' own order
    order: Int | None,
    alpha: float,
    n_iter: int,
    tol: float,
    n_jobs: int | None,
) -> NDArray[Any]:
    """y ← α·times(y) + (1 − α)·y⁰ until it no longer changes, in the order of ``times``."""
    Y = Y0.copy() if order is None else taken(Y0, order, 1.0, n_jobs)
    rounding = 4 * float(np.finfo(Y.dtype).eps)  # a few of 10⁷ entries may go to and fro by that for ever
    threads, (change, size) = threads_for(Y, n_jobs), np.empty((2, Y.shape[1]))
    for _ in range(n_iter):
        previous, Y = Y, np.ascontiguousarray(_product(times, Y))
        if not _core.blend_rows(Y, previous, Y0, order, alpha, tol, rounding, change, size, threads):
            return Y
        del previous  # or three of them would be held during a product
    if tol > 0:
        warn_unconverged("propagate_labels", n_iter, tol)
    return Y


def _propagated_plainly(
    M: Any, Y0: NDArray[Any], alpha: float, n_iter: int, tol: float
) -> NDArray[Any]:  # as Y0
    """The same for numbers that no kernel takes, such as complex ones."""
    Y, rounding = Y0, 4 * np.finfo(Y0.dtype).eps
    for _ in range(n_iter):
        previous, Y = Y, alpha * np.asarray(M @ Y) + (1 - alpha) * Y0
        change = np.abs(Y - previous)
        if not np.any((change > tol) & (change > rounding * np.abs(Y))):
            return Y
    if tol > 0:
        warn_unconverged("propagate_labels", n_iter, tol)
    return Y


def _slices(n_rows: int, step: int = 1 << 12) -> Iterator[slice]:
    """Rows that stay in cache from one operation to the next; all of them at once take twice as long."""
    return (slice(first, first + step) for first in range(0, n_rows, step))


def _product(times: Callable[[NDArray[Any]], Any], Y: NDArray[Any]) -> NDArray[Any]:
    """times(Y) in Y's type, as an array that may be written to: an operator may return what it was given."""
    product = np.asarray(times(Y), Y.dtype)
    return product.copy() if np.may_share_memory(product, Y) or not product.flags.writeable else product


def label_scores(
    op: Any,
    Y0: Any,
    *,
    mode: str = "spread",
    alpha: float = 0.9,
    n_iter: int = 300,
    tol: float = 1e-4,
    clamp: ArrayLike | None = None,
) -> tuple[Float, int]:  # as Y0, steps taken
    """Class scores ≥ 0, one column of ``Y0`` per class, all columns at once; and the products it took.

    Parameters
    ----------
    Y0 : array (N,) or (N, k), or a sparse matrix (N, k), which takes less memory where labels are few.
    mode : "walk" multiplies by op itself, as the paper does; "spread" by ``symmetrized(op)``, which is the
        label spreading of Zhou et al. (2003); "poisson" and "poisson_mbo", on the symmetrised walk, are those
        of Calder et al. (2020), see :mod:`bvdt.walks.poisson`, and have no use for alpha.
    n_iter : most products.
    tol : a walk, and whatever is clamped, stops once no column changes by more than this share of its sum,
        Σ|change| ≤ tol·Σ. It does not depend on the number of points, as a bound on single entries would:
        those shrink as N grows. The others are solved until every residual is at most this share of its
        right-hand side.
    clamp : (N,) mask of rows that are set back to Y0 at every step (Zhu et al. 2003); None for none.
    """
    if mode not in MODES:
        raise ValueError(f"mode needs one of {', '.join(MODES)}; got {mode!r}")
    if not tol >= 0:
        raise ValueError(f"tol needs a value ≥ 0; got {tol}")
    M = as_square(op)
    Y0 = sparse.csr_array(Y0, dtype=np.float64) if sparse.issparse(Y0) else np.asarray(Y0, dtype=np.float64)
    _check_propagation(M, Y0, alpha, n_iter)
    n_points = Y0.shape[0]
    fixed = np.zeros(n_points, bool) if clamp is None else np.asarray(clamp, bool)
    if fixed.shape != (n_points,):
        raise ValueError(f"clamp needs one entry per point, {n_points}; its shape is {fixed.shape}")
    if mode == "spread" and not fixed.any() and alpha < 1 and tol > 0 and n_iter > 0:
        Z, products = _spread(M, Y0 if Y0.ndim == 2 else Y0[:, None], alpha, n_iter, tol)
        return Z.reshape(Y0.shape), products
    Y0 = Y0.toarray() if sparse.issparse(Y0) else Y0
    columns, stop = np.ascontiguousarray(Y0.reshape(n_points, -1)), (n_iter, tol)
    if mode not in ("walk", "spread"):
        if fixed.any():
            raise ValueError(f'clamp needs mode "walk" or "spread"; got {mode!r}')
        poisson = poisson_scores if mode == "poisson" else poisson_mbo_scores
        Z, products = poisson(M, columns, tol=tol, max_products=n_iter)
        return Z.reshape(Y0.shape), products
    if mode == "walk":
        one, walk = np.ones((len(Y0), 1)), ordered_walk(M)
        if walk is None:
            Z, steps = _iterate(lambda Z: M @ Z, columns, alpha * one, one, fixed, alpha, stop)
            return Z.reshape(Y0.shape), steps
        rows = walk.order
        Z, steps = _iterate(walk.dot, columns[rows], alpha * one, one, fixed[rows], alpha, stop)
        return put_back(Z, rows, walk.n_jobs).reshape(Y0.shape), steps
    # y = √D·z makes the symmetrised step z ← α·D⁻¹·W·z + (1 − α)·z⁰, W = (M + Mᵀ)/2: one scaling less.
    # A point without links, of degree 0, keeps (1 − α)·y⁰.
    whole = symmetrized(M)
    S, order = ordered(whole)
    clamped = fixed
    if order is not None:
        columns, fixed = columns[order], fixed[order]
    degree = np.where(S.degrees > 0, S.degrees, 1.0)[:, None]
    root = np.sqrt(degree)
    Z, steps = _iterate(S.mean_with_transpose, columns / root, alpha / degree, root, fixed, alpha, stop)
    Z *= root
    Z = whole.extended(put_back(Z, order, jobs_of(S)), alpha, Y0.reshape(n_points, -1))
    Z[clamped] = Y0.reshape(n_points, -1)[clamped]
    return Z.reshape(Y0.shape), steps


def _spread(
    M: Any, Y0: Any, alpha: float, n_iter: int, tol: float
) -> tuple[Float, int]:  # (N, k), array or CSR -> (N, k), products
    """The fixed point of Eq. (29) with S of M in its place, solved, then one step of the equation itself.

    Residuals are above and below 0, and so may the smallest scores be, far from all labels. Cut off at 0 and
    stepped once, every score is a mean of scores ≥ 0 again. Where the step still changes more than stepping
    would stop at, it is solved further: many tiny residuals are short in length, but not in sum.
    """
    F, products, share = None, 0, tol
    whole = symmetrized(M)
    S, order = ordered(whole)
    if alpha <= LARGEST:
        F, products = spread_by_steps(S, order, LabelRows.of(Y0), alpha, n_iter, tol)
        return whole.extended(F, alpha, Y0), products
    Y0 = Y0.toarray() if sparse.issparse(Y0) else np.ascontiguousarray(Y0)
    n_jobs = jobs_of(S)
    while True:
        B = (1 - alpha) * Y0 if order is None else taken(Y0, order, 1 - alpha, n_jobs)
        F, more = solve_for(S, B, alpha, share, n_iter - 1 - products, F)
        del B  # it was used up
        F, change = _step(S, np.maximum(F, 0.0, out=F), Y0, order, alpha)
        products += more + 1
        if change > tol and products >= n_iter - 1:
            warn_unconverged("label propagation", n_iter, tol)
        elif change > tol:
            share /= 10
            continue
        return whole.extended(put_back(F, order, n_jobs), alpha, Y0), products


def _step(S: Any, F: Float, Y0: Float, order: Int | None, alpha: float) -> tuple[Float, float]:
    """α·S·F + (1 − α)·Y⁰, and the largest change of a column, Σ|Δ|/Σ; Y⁰ is in the points' own order."""
    step = np.ascontiguousarray(_product(lambda F: S @ F, F))
    change, size = np.empty((2, F.shape[1]))
    _core.blend_rows(step, F, Y0, order, alpha, 0.0, 0.0, change, size, threads_for(F, jobs_of(S)))
    return step, float(np.max(change / np.where(size > 0, size, 1.0), initial=0.0))


def _iterate(
    times: Callable[[Float], Any],
    Z0: Float,  # (N, k)
    scale: Float,  # (N, 1)
    weight: Float,  # (N, 1)
    fixed: NDArray[np.bool_],  # (N,)
    alpha: float,
    stop: tuple[int, float],
) -> tuple[Float, int]:
    """z ← scale·times(z) + (1 − α)·z⁰, rows ``fixed`` kept, until all columns have Σ w|Δ| ≤ tol·Σ w|z|."""
    n_iter, tol = stop
    Z = Z0.copy()
    for step in range(1, n_iter + 1):
        previous, Z = Z, _product(times, Z)
        change, total = np.zeros(Z.shape[1]), np.zeros(Z.shape[1])
        for rows in _slices(len(Z)):
            part, held = Z[rows], fixed[rows]
            part *= scale[rows]
            part += (1 - alpha) * Z0[rows]
            part[held] = Z0[rows][held]
            # einsum, not @: BLAS would start threads, which then stand in the way of the product's.
            size = np.subtract(part, previous[rows], out=previous[rows])
            change += np.einsum("i,ik->k", weight[rows, 0], np.abs(size, out=size))
            total += np.einsum("i,ik->k", weight[rows, 0], np.abs(part, out=size))
        if np.all(change <= tol * total):
            return Z, step
    if tol > 0:
        warn_unconverged("label propagation", n_iter, tol)
    return Z, n_iter


def _check_propagation(M: Any, Y0: Any, alpha: float, n_iter: int) -> None:
    if Y0.ndim not in (1, 2) or Y0.shape[0] != M.shape[0]:
        raise ValueError(f"Y0 needs {M.shape[0]} rows, one per point; its shape is {Y0.shape}")
    check_finite(Y0.data if sparse.issparse(Y0) else Y0, "Y0")
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha needs a value from 0 to 1; got {alpha}")
    if n_iter < 0:
        raise ValueError(f"n_iter needs a value ≥ 0; got {n_iter}")
