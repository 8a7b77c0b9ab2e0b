"""Inner products and divergences of chosen pairs of lifted points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _core
from .._support.arrays import Float
from .._support.running import n_threads
from .lifted import Lifted


def pair_dots(X: Any, H: Any, a: NDArray[Any], b: NDArray[Any], n_jobs: int | None) -> Float:
    """⟨X[a[e]], H[b[e]]⟩ for each pair e; X and H both dense or both CSR; fastest when ``a`` is sorted."""
    out = np.empty(len(a))
    pairs = np.ascontiguousarray(a, np.int32), np.ascontiguousarray(b, np.int32)
    is_sparse = sparse.issparse(X)
    arrays = (*_csr_arrays(X), *_csr_arrays(H), X.shape[1]) if is_sparse else (X, H)
    kernel: Any = _core.pair_dots_sparse if is_sparse else _core.pair_dots_dense
    per_pair = X.nnz / max(X.shape[0], 1) if is_sparse else X.shape[1]
    kernel(*arrays, *pairs, out, n_threads(n_jobs, len(a) * per_pair))
    return out


def _csr_arrays(X: Any) -> tuple[Any, ...]:
    return X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False), X.data


def pair_divergences(
    rows: Lifted, centres: Lifted, a: NDArray[Any], b: NDArray[Any], n_jobs: int | None = None
) -> Float:  # (n,) ×2 -> (n,)
    """d of point a[e] of ``rows`` from centre b[e] of ``centres``, never below 0; both lifted alike."""
    d = np.take(rows.u, a)
    d += np.take(centres.w, b)
    d -= pair_dots(rows.X, centres.H, a, b, n_jobs)
    return np.asarray(np.maximum(d, 0.0, out=d))
