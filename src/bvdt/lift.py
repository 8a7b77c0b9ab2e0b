"""Lifted form, DESIGN 2.1: after one pass over the data no later stage needs to know φ.

    d_ij = u_i + w_j − ⟨x_i, h_j⟩
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lifted:
    """N points, each as a row (u_i, x_i) and as a centre (w_j, h_j), with d_ij = u_i + w_j − ⟨x_i, h_j⟩.

    ``X`` and ``H`` are both C-contiguous float64 arrays, or both CSR arrays that share ``indices`` and
    ``indptr`` (sorted, no duplicates). For squared Euclidean data they are one and the same object.
    """

    u: Float  # (N,)
    w: Float  # (N,)
    X: Any  # (N, d)
    H: Any  # (N, d)

    @property
    def n_points(self) -> int:
        return len(self.u)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def is_sparse(self) -> bool:
        return sparse.issparse(self.X)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What the kernels take first: (X, H), or (indptr, indices, X.data, H.data, d) for sparse data."""
        if not self.is_sparse:
            return self.X, self.H
        return (
            self.X.indptr.astype(np.int64, copy=False),
            self.X.indices.astype(np.int32, copy=False),
            self.X.data,
            self.H.data,
            self.n_features,
        )

    def divergences(self, rows: Any, centres: Any) -> Float:  # (n_rows, n_centres)
        """Exact divergences d_ij of chosen rows against chosen centres, never below 0."""
        inner = self.X[rows] @ self.H[centres].T
        inner = inner.toarray() if sparse.issparse(inner) else inner
        return np.maximum(self.u[rows][:, None] + self.w[centres][None, :] - inner, 0.0)
