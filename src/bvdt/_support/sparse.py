"""Products of sparse matrices with many columns, on several threads; SciPy's run on one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .running import n_threads

SERIAL = 1 << 20  # multiplications, 0.3 ms, below which threads would cost more than they bring


def sparse_times(A: Any, V: NDArray[Any], n_jobs: int | None = None) -> NDArray[Any]:  # (n, d), (d, m)
    """A·V for a CSR matrix A, in single precision where both are; no result depends on the threads."""
    single = A.dtype == np.float32 and V.dtype == np.float32
    dtype = np.float32 if single else np.float64
    V = np.ascontiguousarray(V, dtype)
    out = np.empty((A.shape[0], V.shape[1]), dtype)
    threads = 1 if A.nnz * V.shape[1] < SERIAL else n_threads(n_jobs)
    first, indices = A.indptr.astype(np.int64, copy=False), A.indices.astype(np.int32, copy=False)
    _core.product_sparse(first, indices, A.data.astype(dtype, copy=False), V, out, threads)
    return out


def read_only(A: Any) -> Any:
    """A CSR array in canonical form, read-only: SciPy sorts any other in place when it reads it."""
    A.sum_duplicates()
    for part in (A.data, A.indices, A.indptr):
        part.flags.writeable = False
    return A
