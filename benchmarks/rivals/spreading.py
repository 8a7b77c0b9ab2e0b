"""Label spreading on a 10-NN graph, as all rivals that find neighbors do it. NumPy and SciPy only."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .common import Data

K = 10  # neighbors of a point, itself not counted
ALPHA, TOL, MOST_STEPS = 0.9, 1e-4, 300


def without_self(indices: np.ndarray, k: int = K) -> np.ndarray:  # (N, ≥ k + 1) -> (N, k)
    """The first k neighbors that are not the point itself, which a search need not return first."""
    other = indices != np.arange(len(indices))[:, None]
    first = np.argsort(~other, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(indices, first, axis=1)


def graph(indices: np.ndarray) -> Any:  # (N, k) -> CSR (N, N)
    """W with 1 for each neighbor, made symmetric by (W + Wᵀ)/2; −1, not found, is left out."""
    n_points, k = indices.shape
    found = indices.ravel() >= 0
    rows, cols = np.repeat(np.arange(n_points), k)[found], indices.ravel()[found]
    W = sparse.csr_array((np.ones(len(rows)), (rows, cols)), shape=(n_points, n_points))
    return ((W + W.T) / 2).tocsr()


def normalized(W: Any) -> Any:
    """S = D^(−1/2)·W·D^(−1/2)."""
    scale = sparse.diags_array(1.0 / np.sqrt(np.maximum(W.sum(axis=1), 1e-300)))
    return (scale @ W @ scale).tocsr()


def spread(S: Any, Y0: np.ndarray) -> np.ndarray:  # (N, N), (N, k) -> (N,)
    """Label spreading (Zhou et al. 2003), α = 0.9, until no column changes by 1e-4 of its sum."""
    Y = Y0
    for _ in range(MOST_STEPS):
        previous, Y = Y, ALPHA * (S @ Y) + (1 - ALPHA) * Y0
        if (np.abs(Y - previous).sum(axis=0) <= TOL * Y.sum(axis=0)).all():
            break
    return Y.argmax(axis=1)


def spread_over(indices: np.ndarray, data: Data) -> np.ndarray:  # (N, ≥ 11), with the points themselves
    """Classes of all points from the neighbors that a search found."""
    return spread(normalized(graph(without_self(np.asarray(indices, np.int64)))), data.one_hot())
