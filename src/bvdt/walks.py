"""What one does with a transition matrix: functions of any linear operator, sparse matrix or array."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._scipy import issparse, scipy
from .linear import SymmetrizedOperator
from .linear_operator import LinearOperator

Float = NDArray[np.float64]


def propagate_labels(
    op: Any, Y0: ArrayLike, alpha: float = 0.01, n_iter: int = 300, tol: float = 0.0
) -> NDArray[Any]:  # (N,) or (N, k), as Y0
    """Label propagation, Eq. (29): y ← α·M·y + (1 − α)·y⁰, ``n_iter`` times.

    Parameters
    ----------
    op : M, N×N: a LinearOperator, sparse matrix or array.
    Y0 : (N,) or (N, k), the initial labels; for k classes one column each, then take the largest.
    alpha : share taken from the neighbours, 0 to 1; the paper's 0.01 is close to one step of voting.
    tol : stop early once no entry changes by more, or by more than its rounding; 0 for the latter alone.
    """
    M = as_square(op)
    Y0 = np.asarray(Y0)
    Y0 = Y0 if np.issubdtype(Y0.dtype, np.floating) else Y0.astype(np.float64)
    _check_propagation(M, Y0, alpha, n_iter)
    Y = Y0.astype(np.result_type(M.dtype, Y0))
    rounding = 2 * np.finfo(Y.dtype).eps  # a few of 10⁷ entries may go to and fro by that for ever
    for _ in range(n_iter):
        previous, Y, changes = Y, _product(lambda Y: M @ Y, Y), False
        for rows in _slices(len(Y)):
            part = Y[rows]
            part *= alpha
            part += (1 - alpha) * Y0[rows]
            changes = changes or _differ(part, previous[rows], tol, rounding)
        if not changes:
            return Y
    if tol > 0:
        _warn("propagate_labels", n_iter, tol)
    return Y


def _differ(Y: NDArray[Any], previous: NDArray[Any], tol: float, rounding: float) -> bool:
    """Whether any entry changed by more than ``tol`` and by more than its rounding."""
    change = np.abs(Y - previous)
    return bool(np.any(change > tol)) and bool(np.any(change > np.maximum(tol, rounding * np.abs(Y))))


def _slices(n_rows: int, step: int = 1 << 12) -> Iterator[slice]:
    """Rows that stay in cache from one operation to the next; all of them at once take twice as long."""
    return (slice(first, first + step) for first in range(0, n_rows, step))


def _product(times: Callable[[NDArray[Any]], Any], Y: NDArray[Any]) -> NDArray[Any]:
    """times(Y) in Y's type, as an array that may be written to: an operator may return what it was given."""
    product = np.asarray(times(Y), Y.dtype)
    return product.copy() if np.may_share_memory(product, Y) or not product.flags.writeable else product


def label_scores(
    op: Any,
    Y0: ArrayLike,
    *,
    mode: str = "spread",
    alpha: float = 0.9,
    n_iter: int = 300,
    tol: float = 1e-4,
    clamp: ArrayLike | None = None,
) -> tuple[Float, int]:  # as Y0, steps taken
    """Class scores by Eq. (29), one column of ``Y0`` a class, all columns at once; and the steps it took.

    Parameters
    ----------
    mode : "walk" multiplies by op itself, as the paper does; "spread" by ``symmetrized(op)``, which is the
        label spreading of Zhou et al. (2003).
    tol : stop once no column changes by more than this share of its sum, Σ|change| ≤ tol·Σ. It does not
        depend on the number of points, as a bound on single entries would: those shrink as N grows.
    clamp : (N,) mask of rows that are set back to Y0 at every step (Zhu et al. 2003); None for none.
    """
    if mode not in ("walk", "spread"):
        raise ValueError(f'mode needs "walk" or "spread"; got {mode!r}')
    if not tol >= 0:
        raise ValueError(f"tol needs a value ≥ 0; got {tol}")
    M, Y0 = as_square(op), np.asarray(Y0, dtype=np.float64)
    _check_propagation(M, Y0, alpha, n_iter)
    fixed = np.zeros(len(Y0), bool) if clamp is None else np.asarray(clamp, bool)
    if fixed.shape != (len(Y0),):
        raise ValueError(f"clamp needs one entry a point, {len(Y0)}; its shape is {fixed.shape}")
    columns, stop = Y0.reshape(len(Y0), -1), (n_iter, tol)
    if mode == "walk":
        one = np.ones((len(Y0), 1))
        Z, steps = _iterate(lambda Z: M @ Z, columns, alpha * one, one, fixed, alpha, stop)
        return Z.reshape(Y0.shape), steps
    # y = √D·z makes the symmetrised step z ← α·D⁻¹·W·z + (1 − α)·z⁰, W = (M + Mᵀ)/2: one scaling less.
    # A point without links, of degree 0, keeps (1 − α)·y⁰.
    S = symmetrized(M)
    degree = np.where(S.degrees > 0, S.degrees, 1.0)[:, None]
    root = np.sqrt(degree)
    Z, steps = _iterate(S.mean_with_transpose, columns / root, alpha / degree, root, fixed, alpha, stop)
    Z *= root
    return Z.reshape(Y0.shape), steps


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
        _warn("label propagation", n_iter, tol)
    return Z, n_iter


def symmetrized(op: Any) -> SymmetrizedOperator:
    """S = D^(−1/2)·(M + Mᵀ)/2·D^(−1/2) of any square operator, sparse matrix or array with entries ≥ 0."""
    M = as_square(op)
    if not isinstance(M, LinearOperator):
        M = scipy.sparse.linalg.aslinearoperator(M)
    return SymmetrizedOperator(M)


def class_distributions(scores: Float, prior: Float) -> Float:  # (N, k), (k,) -> (N, k)
    """Rows scaled to sum to 1; a row that no label reaches gets the prior."""
    peak = scores.max(axis=1, keepdims=True, initial=0.0)
    unreached = (peak <= 0).ravel()
    shares = scores / np.where(peak > 0, peak, 1.0)  # first to a peak of 1: sums of tiny scores may underflow
    shares[unreached] = prior
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def match_class_mass(P: Float, unlabelled: NDArray[np.bool_], prior: Float) -> Float:  # (N, k) -> (N, k)
    """Class-mass normalisation (Zhu et al. 2003).

    Weights the classes so that their mass over the unlabelled points has the shares of ``prior``; then every
    row is scaled to sum to 1 again.
    """
    mass = P[unlabelled].sum(axis=0)
    if not mass.all():
        return P  # no unlabelled points, or a class that reaches none of them
    return class_distributions(P * (prior * mass.sum() / mass), prior)


def suggestion_scores(op: Any, P: Float, alpha: float) -> Float:  # (N, k) -> (N,)
    """What a label at each point would tell: its entropy times the mass it reaches.

    That mass is PageRank's with damping ``alpha``: the weight that the point's label has in Eq. (29), summed
    over all rows.
    """
    return np.asarray(scipy.special.entr(P).sum(axis=1) * pagerank(op, damping=min(alpha, 0.99), tol=1e-6))


def pagerank(
    op: Any,
    restart: ArrayLike | None = None,
    damping: float = 0.85,
    *,
    n_iter: int = 1000,
    tol: float = 1e-12,
) -> Float:  # (N,)
    """PageRank x = damping·Mᵀx + (1 − damping)·restart, a distribution over the points.

    ``restart`` is where the walk jumps to (non-negative, any scale); None is everywhere alike. Mass that a
    row of M loses (a row of zeros) restarts too. Stops when Σ|change| ≤ tol.
    """
    M = as_square(op)
    if not 0 <= damping < 1:
        raise ValueError(f"damping needs a value from 0 up to, not including, 1; got {damping}")
    restart = _distribution(restart, M.shape[0], "restart")
    x = restart
    for _ in range(n_iter):
        step = damping * np.asarray(M.T @ x)
        step += (1.0 - step.sum()) * restart
        previous, x = x, step
        if np.abs(x - previous).sum() <= tol:
            return x
    _warn("pagerank", n_iter, tol)
    return x


def stationary_distribution(
    op: Any, start: ArrayLike | None = None, *, n_iter: int = 10_000, tol: float = 1e-12
) -> Float:  # (N,)
    """Distribution π with Mᵀπ = π, by power iteration of the lazy walk ½(I + Mᵀ), which has no period.

    Stops when Σ|Mᵀπ − π| ≤ tol. A walk that falls apart into nearly closed groups mixes slowly; then a
    ConvergenceWarning says so.
    """
    M = as_square(op)
    x = _distribution(start, M.shape[0], "start")
    for _ in range(n_iter):
        moved = np.asarray(M.T @ x)
        moved /= moved.sum()
        if np.abs(moved - x).sum() <= tol:
            return moved
        x = (x + moved) / 2
    _warn("stationary_distribution", n_iter, tol)
    return x


def as_square(op: Any) -> Any:
    """The operator or sparse matrix itself, anything else as an array; refused unless it is square."""
    M = op if _is_matrix(op) else np.asarray(op)
    if len(M.shape) != 2 or M.shape[0] != M.shape[1]:
        raise ValueError(f"op needs to be a square matrix or operator; its shape is {tuple(M.shape)}")
    return M


def _is_matrix(op: Any) -> bool:
    """Whether it multiplies vectors as it is."""
    if isinstance(op, LinearOperator | np.ndarray):
        return True
    return issparse(op) or isinstance(op, scipy.sparse.linalg.LinearOperator)


def _check_propagation(M: Any, Y0: NDArray[Any], alpha: float, n_iter: int) -> None:
    if Y0.ndim not in (1, 2) or len(Y0) != M.shape[0]:
        raise ValueError(f"Y0 needs {M.shape[0]} rows, one a point; its shape is {Y0.shape}")
    _check_finite(Y0, "Y0")
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha needs a value from 0 to 1; got {alpha}")
    if n_iter < 0:
        raise ValueError(f"n_iter needs a value ≥ 0; got {n_iter}")


def _distribution(weights: ArrayLike | None, n_points: int, name: str) -> Float:
    if weights is None:
        return np.full(n_points, 1.0 / n_points)
    x = np.asarray(weights, dtype=np.float64)
    if x.shape != (n_points,):
        raise ValueError(f"{name} needs {n_points} values, one a point; its shape is {x.shape}")
    _check_finite(x, name)
    if (x < 0).any() or not x.sum() > 0:
        i = int(x.argmin())
        raise ValueError(f"{name} needs values ≥ 0 with a positive sum; {name}[{i}] = {x[i]:g}")
    return np.asarray(x / x.sum())


def _check_finite(x: NDArray[Any], name: str) -> None:
    if not np.isfinite(x).all():
        at = tuple(int(k) for k in np.argwhere(~np.isfinite(x))[0])
        raise ValueError(f"{name} needs finite values; {name}[{', '.join(map(str, at))}] = {x[at]}")


def _warn(name: str, n_iter: int, tol: float) -> None:
    from sklearn.exceptions import ConvergenceWarning  # here, so that ``import bvdt`` stays light

    warnings.warn(f"{name} did not reach tol={tol:g} in {n_iter} steps", ConvergenceWarning, stacklevel=3)
