"""Sparse matrices: names for their types, and products on several threads; SciPy's run on one."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .. import _core
from .arrays import Float, Numbers
from .running import n_threads

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator
    from typing_extensions import TypeIs

CSR: TypeAlias = sparse.csr_array  # SciPy has no types, so mypy takes every attribute of it
Sparse: TypeAlias = sparse.sparray | sparse.spmatrix  # of any format
Points: TypeAlias = Float | CSR  # (N, d), as ``lifting.points.as_points`` returns them
Operator: TypeAlias = "LinearOperator"  # a square matrix known by its products; untyped as all of SciPy
OperatorLike: TypeAlias = "LinearOperator | Sparse | Float"  # what a user may give as one
PointsLike: TypeAlias = ArrayLike | Sparse  # what a user may give as points; DataFrames are array-like

SERIAL = 1 << 20  # multiplications, 0.3 ms, below which threads would cost more than they bring


def is_sparse(X: object) -> TypeIs[Sparse]:
    """``scipy.sparse.issparse``, which type checkers understand."""
    return bool(sparse.issparse(X))


@overload
def sparse_times(A: CSR, V: Float, n_jobs: int | None = None) -> Float: ...
@overload
def sparse_times(A: CSR, V: Numbers, n_jobs: int | None = None) -> Numbers: ...
def sparse_times(A: CSR, V: Numbers, n_jobs: int | None = None) -> Numbers:  # (n, d), (d, m)
    """A·V for a CSR matrix A, in single precision where both are; no result depends on the threads."""
    single = A.dtype == np.float32 and V.dtype == np.float32
    dtype = np.float32 if single else np.float64
    V = np.ascontiguousarray(V, dtype)
    out = np.empty((A.shape[0], V.shape[1]), dtype)
    threads = 1 if A.nnz * V.shape[1] < SERIAL else n_threads(n_jobs)
    first, indices = A.indptr.astype(np.int64, copy=False), A.indices.astype(np.int32, copy=False)
    _core.product_sparse(first, indices, A.data.astype(dtype, copy=False), V, out, threads)
    return out


def read_only(A: CSR) -> CSR:
    """A CSR array in canonical form, read-only: SciPy sorts any other in place when it reads it."""
    A.sum_duplicates()
    for part in (A.data, A.indices, A.indptr):
        part.flags.writeable = False
    return A
