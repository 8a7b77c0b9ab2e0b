"""Inner products and divergences of chosen pairs of lifted points."""

from __future__ import annotations

import numpy as np

from .. import _core
from .._support.arrays import Float, Int, Integers, Long
from .._support.mixed import Mixed
from .._support.running import n_threads
from .._support.sparse import CSR, Points, is_sparse
from .lifted import Lifted


def pair_dots(X: Points | Mixed, H: Points | Mixed, a: Integers, b: Integers, n_jobs: int | None) -> Float:
    """⟨X[a[e]], H[b[e]]⟩ for each pair e; both dense, CSR or mixed; fastest when ``a`` is sorted."""
    if isinstance(X, Mixed):
        assert isinstance(H, Mixed)
        return pair_dots(X.dense, H.dense, a, b, n_jobs) + pair_dots(X.stored, H.stored, a, b, n_jobs)
    out = np.empty(len(a))
    pairs = np.ascontiguousarray(a, np.int32), np.ascontiguousarray(b, np.int32)
    if is_sparse(X):
        threads = n_threads(n_jobs, len(a) * X.nnz / max(X.shape[0], 1))
        _core.pair_dots_sparse(*_csr_arrays(X), *_csr_arrays(H), X.shape[1], *pairs, out, threads)
    else:
        assert isinstance(H, np.ndarray)
        _core.pair_dots_dense(X, H, *pairs, out, n_threads(n_jobs, len(a) * X.shape[1]))
    return out


def _csr_arrays(X: CSR) -> tuple[Long, Int, Float]:
    return X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False), X.data


def pair_divergences(
    rows: Lifted, centers: Lifted, a: Integers, b: Integers, n_jobs: int | None = None
) -> Float:  # (n,) ×2 -> (n,)
    """d of point a[e] of ``rows`` from center b[e] of ``centers``, never below 0; both lifted alike."""
    d = np.take(rows.u, a)
    d += np.take(centers.w, b)
    d -= pair_dots(rows.X, centers.H, a, b, n_jobs)
    return np.asarray(np.maximum(d, 0.0, out=d))
