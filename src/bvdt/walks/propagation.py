"""Label propagation, Eq. (29), and label spreading, by any square operator, sparse matrix or array."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .. import _core
from .._support.arrays import Float, Numbers
from .._support.columns import put_rows, take_rows, threads_for
from ..operators import RealOperator, SymmetrizedOperator
from ..solvers import CHEBYSHEV_MOST, ArraySpreading, LabelRows, iterate, spread
from .inputs import (
    Square,
    as_square,
    check_finite,
    operator_of,
    symmetrized,
    warn_of_distances,
    warn_unconverged,
)
from .poisson import poisson_mbo_scores, poisson_scores

SINGLE = 1 << 22  # scores, 32 MiB, from which on single precision is tried
_FINEST = 5e-6  # tolerance, at least, that it is good for
_TOP = 80  # the largest label is scaled to 2^80: products with whole weights, below 2^31, stay in range

METHODS = ("spread", "walk", "poisson", "poisson_mbo")


def propagate_labels(
    op: Square, Y0: ArrayLike, alpha: float = 0.01, max_iter: int = 300, tol: float = 0.0
) -> NDArray[np.inexact]:  # (N,) or (N, k), as Y0
    """Label propagation, Eq. (29): y ← α·M·y + (1 − α)·y⁰, ``max_iter`` times.

    Parameters
    ----------
    op : M, N×N: a LinearOperator, sparse matrix or array of entries ≥ 0, the larger the nearer.
    Y0 : (N,) or (N, k), the initial labels; for k classes one column each, then take the largest.
    alpha : share taken from the neighbors, 0 to 1; the paper's 0.01 is close to one step of voting.
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
    _check_propagation(M, Y0, alpha, max_iter)
    dtype = np.result_type(M.dtype, Y0)
    if dtype not in (np.float32, np.float64):
        return _propagated_plainly(M, Y0.astype(dtype), alpha, max_iter, tol)
    given = np.ascontiguousarray(Y0, dtype).reshape(len(Y0), -1)
    return _propagated(operator_of(M).inner, given, alpha, max_iter, tol).reshape(Y0.shape)


def _propagated(M: RealOperator, Y0: Numbers, alpha: float, max_iter: int, tol: float) -> Numbers:  # (N, k)
    """y ← α·M·y + (1 − α)·y⁰ until no entry changes, in the order of M; y⁰ is in the points' own."""
    order, n_jobs = M.order, M.n_jobs
    Y = Y0.copy() if order is None else take_rows(Y0, order, n_jobs)
    rounding = 4 * float(np.finfo(Y.dtype).eps)  # a few of 10⁷ entries may go to and fro by that for ever
    threads, (change, size), spare = threads_for(Y, n_jobs), np.empty((2, Y.shape[1])), np.empty_like(Y)
    for _ in range(max_iter):
        previous, Y = Y, M.apply(Y, "forward", spare)
        going = _core.blend_rows(Y, previous, Y0, order, alpha, tol, rounding, change, size, threads)
        spare = previous
        if not going:
            break
    else:
        if tol > 0:
            warn_unconverged("propagate_labels", max_iter, tol)
    return Y if order is None else put_rows(Y, order, n_jobs)


def _propagated_plainly(
    M: Square, Y0: NDArray[np.inexact], alpha: float, max_iter: int, tol: float
) -> NDArray[np.inexact]:  # as Y0
    """The same for numbers that no kernel takes, such as complex ones."""
    Y, rounding = Y0, 4 * float(np.finfo(Y0.dtype.type(0).real.dtype).eps)
    for _ in range(max_iter):
        previous, Y = Y, alpha * np.asarray(M @ Y) + (1 - alpha) * Y0
        change = np.abs(Y - previous)
        if not np.any((change > tol) & (change > rounding * np.abs(Y))):
            return Y
    if tol > 0:
        warn_unconverged("propagate_labels", max_iter, tol)
    return Y


def label_scores(
    op: Square,
    Y0: ArrayLike | sparse.csr_array,
    *,
    method: str = "spread",
    alpha: float = 0.9,
    max_iter: int = 300,
    tol: float = 1e-4,
    clamp: ArrayLike | None = None,
) -> tuple[Float, int]:  # as Y0, steps taken
    """Class scores ≥ 0, one column of ``Y0`` per class, all columns at once; and the products it took.

    Parameters
    ----------
    Y0 : array (N,) or (N, k), or a sparse matrix (N, k), which takes less memory where labels are few.
    method : "walk" multiplies by op itself, as the paper does; "spread" by ``symmetrized(op)``, which is the
        label spreading of Zhou et al. 2003; "poisson" and "poisson_mbo", on the symmetrised walk, are those
        of Calder et al. 2020, see :mod:`bvdt.walks.poisson`, and have no use for alpha.
    max_iter : most products.
    tol : a walk, and whatever is clamped, stops once no column changes by more than this share of its sum,
        Σ|change| ≤ tol·Σ. It does not depend on the number of points, as a bound on single entries would:
        those shrink as N grows. The others are solved until every residual is at most this share of its
        right-hand side.
    clamp : (N,) mask of rows that are set back to Y0 at every step (Zhu et al. 2003); None for none.
    """
    if method not in METHODS:
        raise ValueError(f"method needs one of {', '.join(METHODS)}; got {method!r}")
    if not tol >= 0:
        raise ValueError(f"tol needs a value ≥ 0; got {tol}")
    M = as_square(op)
    Y0 = sparse.csr_array(Y0, dtype=np.float64) if sparse.issparse(Y0) else np.asarray(Y0, dtype=np.float64)
    _check_propagation(M, Y0, alpha, max_iter)
    n_points = Y0.shape[0]
    fixed = np.zeros(n_points, bool) if clamp is None else np.asarray(clamp, bool)
    if fixed.shape != (n_points,):
        raise ValueError(f"clamp needs one entry per point, {n_points}; its shape is {fixed.shape}")
    columns = Y0 if Y0.ndim == 2 else Y0[:, None]
    if method in ("poisson", "poisson_mbo"):
        if fixed.any():
            raise ValueError(f'clamp needs method "walk" or "spread"; got {method!r}')
        poisson = poisson_scores if method == "poisson" else poisson_mbo_scores
        Z, products = poisson(M, _dense(columns), tol=tol, max_products=max_iter)
        return Z.reshape(Y0.shape), products
    labels = LabelRows.of(columns)
    if method == "walk":
        Z, products = _iterated(operator_of(M), labels, alpha, max_iter, tol, fixed)
        return Z.reshape(Y0.shape), products
    S = symmetrized(M)
    if not fixed.any() and alpha < 1 and tol > 0 and max_iter > 0:
        Z, products = _spread(S, labels, alpha, max_iter, tol)
    else:
        Z, products = _iterated(S, labels, alpha, max_iter, tol, fixed)
    Z = np.asarray(S.extended(Z, alpha, columns), np.float64)
    if fixed.any():
        Z[fixed] = _dense(columns[fixed])
    return Z.reshape(Y0.shape), products


def _dense(Y0: Numbers | sparse.csr_array) -> Float:  # (n, k)
    return np.ascontiguousarray(Y0.toarray() if isinstance(Y0, sparse.csr_array) else Y0, np.float64)


def _iterated(
    M: RealOperator, labels: LabelRows, alpha: float, max_iter: int, tol: float, fixed: NDArray[np.bool_]
) -> tuple[Float, int]:  # (N, k), products
    """Steps from Y⁰ on, until all columns have Σ|change| ≤ tol·Σ."""
    columns = ArraySpreading(M.inner, labels, alpha, fixed=fixed if fixed.any() else None, first=1.0)
    if iterate(columns, max_iter, tol) == "stopped" and tol > 0:
        warn_unconverged("label propagation", max_iter, tol)
    return columns.scores(), columns.products


def _spread(
    S: SymmetrizedOperator, labels: LabelRows, alpha: float, max_iter: int, tol: float
) -> tuple[Float, int]:  # (N, k), products
    """The fixed point of Eq. (29) with S in the place of Q, in the points' own order.

    Many scores to a usual tolerance are kept in single precision, in half the memory; sums over the tree are
    made in double. Where that does not do, all is done in double: a tolerance that rounding hides, or a point
    so far from every label that its scores would be 0.
    """
    inner, scores = S.inner, labels.n_points * labels.values.shape[1]
    if inner.one_kernel and scores >= SINGLE and tol >= 2 * _FINEST and alpha <= CHEBYSHEV_MOST:
        power = _TOP - int(np.frexp(np.abs(labels.values).max(initial=0.0))[1])
        scaled = LabelRows(labels.points, np.ldexp(labels.values, power), labels.n_points)
        found = _solved(ArraySpreading(inner, scaled, alpha, np.float32), max_iter, tol, _FINEST)
        if found is not None:
            return np.ldexp(found[0], -power, out=found[0]), found[1]
    found = _solved(ArraySpreading(inner, labels, alpha), max_iter, tol)
    assert found is not None  # any tolerance is fine in double
    return found


def _solved(
    columns: ArraySpreading, max_iter: int, tol: float, finest: float = 0.0
) -> tuple[Float, int] | None:  # (N, k), products
    """None where scores of that precision are not fine enough."""
    outcome = spread(columns, max_iter, tol, finest)
    if outcome == "imprecise" or (finest > 0 and not columns.reaches_everyone):
        return None
    if outcome == "stopped":
        warn_unconverged("label propagation", max_iter, tol)
    return columns.scores(), columns.products


def _check_propagation(M: RealOperator, Y0: Numbers | sparse.csr_array, alpha: float, max_iter: int) -> None:
    if Y0.ndim not in (1, 2) or Y0.shape[0] != M.shape[0]:
        raise ValueError(f"Y0 needs {M.shape[0]} rows, one per point; its shape is {Y0.shape}")
    check_finite(np.asarray(Y0.data) if sparse.issparse(Y0) else Y0, "Y0")
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha needs a value from 0 to 1; got {alpha}")
    if max_iter < 0:
        raise ValueError(f"max_iter needs a value ≥ 0; got {max_iter}")
