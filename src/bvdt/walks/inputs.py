"""What walks take: any square linear operator, sparse matrix or array."""

from __future__ import annotations

import warnings
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from .._support.arrays import Float, Numbers
from ..operators import MatrixOperator, RealOperator, SymmetrizedOperator

Square: TypeAlias = "NDArray[np.number] | sparse.csr_array | LinearOperator"  # (N, N) of affinities

SAMPLED = 60  # rows by which distances and affinities are distinguished


def as_square(op: Square) -> Any:
    """The operator or sparse matrix itself, anything else as an array; refused unless square, entries ≥ 0."""
    M = op if _is_matrix(op) else np.asarray(op)
    if len(M.shape) != 2 or M.shape[0] != M.shape[1]:
        raise ValueError(f"op needs to be a square matrix or operator; its shape is {tuple(M.shape)}")
    if not isinstance(M, LinearOperator) and M.dtype.kind in "if" and M.shape[0]:
        _refuse_negative(M)
    return M


def _refuse_negative(M: Any) -> None:
    """ValueError that names an entry below 0 by more than rounding."""
    ranked = M if hasattr(M, "min") else M.tocsr()  # not all sparse formats know their least entry
    least = float(ranked.min())
    if least < -1e-12 * abs(float(ranked.max())):
        row, column = (int(part[0]) for part in (ranked == least).nonzero())
        raise ValueError(
            f"op needs affinities, entries ≥ 0; op[{row}, {column}] = {least:g}: of correlations or cosines "
            "take np.maximum(op, 0), or give the points instead"
        )


def warn_of_distances(M: Any) -> None:
    """A warning where a dense matrix of affinities is to be expected and there are distances.

    By large affinities points have alike rows, by small distances. In a sample of rows, each is compared
    with that of its smallest entry and that of its largest.
    """
    n_points = M.shape[0]
    if isinstance(M, LinearOperator) or n_points < 5 or M.dtype.kind not in "if":
        return
    if sparse.issparse(M):
        if M.nnz < n_points**2 / 2:
            return
        M = M.toarray()
    rows = np.random.default_rng(0).permutation(n_points)[:SAMPLED]
    sample = M[rows].astype(np.float64)
    own = np.arange(len(rows)), rows
    if sample[own].any() or (sample == 0).sum() > len(rows) + 0.1 * sample.size:
        return
    smallest, largest = sample.copy(), sample.argmax(axis=1)
    smallest[own] = np.inf
    nearer = _unlike(M, sample, rows, smallest.argmin(axis=1)) < _unlike(M, sample, rows, largest)
    if nearer.mean() > 0.9:
        warnings.warn(
            "op looks like distances: its diagonal is 0, and rows are most alike where entries are small; "
            "near points need large entries: give np.exp(-((D / D.mean()) ** 2)), or the points instead",
            UserWarning,
            stacklevel=3,
        )


def looks_like_graph(X: Any) -> str:
    """Why X, checked data of points, looks like a graph or distances; "" for nothing.

    Symmetric with entries off the diagonal, or sparse with equally many in every row, as k nearest neighbors
    are, and none or all of the diagonal: no data of points look like that.
    """
    n_points = X.shape[0]
    if n_points < 5 or X.shape[1] != n_points:
        return ""
    differs = X != X.T
    if not (differs.nnz if sparse.issparse(X) else differs.any()):
        symmetric = "square and symmetric, as graphs and matrices of distances are"
        return "" if X.sum() == X.diagonal().sum() else symmetric
    if not sparse.issparse(X):
        return ""
    entries, own = np.diff(sparse.csr_array(X).indptr), np.count_nonzero(X.diagonal())
    same = entries[0] > 1 and (entries == entries[0]).all() and own in (0, n_points)
    return (
        f"square with {entries[0]} entries in every row, as graphs of nearest neighbors are" if same else ""
    )


def _unlike(M: Any, sample: Float, rows: Any, others: Any) -> Float:  # (len(rows),)
    """Σ|difference| of each sampled row to another, but for the two points' own columns."""
    difference = np.abs(sample - M[others])
    at = np.arange(len(rows))
    difference[at, rows] = difference[at, others] = 0.0
    return np.asarray(difference.sum(axis=1))


def operator_of(op: Square) -> RealOperator:
    """With all that solvers ask for; itself if it has that already."""
    return op if isinstance(op, RealOperator) else MatrixOperator(op)


def symmetrized(op: Square) -> SymmetrizedOperator:
    """S = D^(−1/2)·(M + Mᵀ)/2·D^(−1/2) of any square operator, sparse matrix or array with entries ≥ 0."""
    return op if isinstance(op, SymmetrizedOperator) else SymmetrizedOperator(operator_of(as_square(op)))


def _is_matrix(op: Any) -> bool:
    """Whether it multiplies vectors as it is."""
    return isinstance(op, LinearOperator | np.ndarray) or sparse.issparse(op)


def check_finite(x: Numbers, name: str) -> None:
    if not np.isfinite(x).all():
        at = tuple(int(k) for k in np.argwhere(~np.isfinite(x))[0])
        raise ValueError(f"{name} needs finite values; {name}[{', '.join(map(str, at))}] = {x[at]}")


def warn_unconverged(name: str, max_iter: int, tol: float) -> None:
    from sklearn.exceptions import ConvergenceWarning  # here, so that ``import bvdt`` stays light

    warnings.warn(f"{name} did not reach tol={tol:g} in {max_iter} steps", ConvergenceWarning, stacklevel=3)
