"""What walks take: any square linear operator, sparse matrix or array."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from ..operators import SymmetrizedOperator


def as_square(op: Any) -> Any:
    """The operator or sparse matrix itself, anything else as an array; refused unless it is square."""
    M = op if _is_matrix(op) else np.asarray(op)
    if len(M.shape) != 2 or M.shape[0] != M.shape[1]:
        raise ValueError(f"op needs to be a square matrix or operator; its shape is {tuple(M.shape)}")
    return M


def symmetrized(op: Any) -> SymmetrizedOperator:
    """S = D^(−1/2)·(M + Mᵀ)/2·D^(−1/2) of any square operator, sparse matrix or array with entries ≥ 0."""
    M = as_square(op)
    if not isinstance(M, LinearOperator):
        M = aslinearoperator(M)
    return SymmetrizedOperator(M)


def _is_matrix(op: Any) -> bool:
    """Whether it multiplies vectors as it is."""
    return isinstance(op, LinearOperator | np.ndarray) or sparse.issparse(op)


def check_finite(x: NDArray[Any], name: str) -> None:
    if not np.isfinite(x).all():
        at = tuple(int(k) for k in np.argwhere(~np.isfinite(x))[0])
        raise ValueError(f"{name} needs finite values; {name}[{', '.join(map(str, at))}] = {x[at]}")


def warn_unconverged(name: str, n_iter: int, tol: float) -> None:
    from sklearn.exceptions import ConvergenceWarning  # here, so that ``import bvdt`` stays light

    warnings.warn(f"{name} did not reach tol={tol:g} in {n_iter} steps", ConvergenceWarning, stacklevel=3)
