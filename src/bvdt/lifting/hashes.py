"""Hashes of lifted points, by which equal ones are found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float, Int
from .lifted import Lifted

_BATCH = 1 << 20  # values at once


def row_hashes(lifted: Lifted, rows: Int | None = None) -> NDArray[np.uint64]:  # (N,)
    """A 64-bit hash of each row of X, or of some: Σ_j mix(bits of x_j)·r_j mod 2⁶⁴, to which zeros add 0."""
    if lifted.is_mixed:
        dense, stored = lifted.blocks
        return row_hashes(dense, rows) ^ (row_hashes(stored, rows) * np.uint64(0x9E3779B97F4A7C15))
    odd = np.random.default_rng(0).integers(0, 2**63, lifted.n_features, dtype=np.uint64) * np.uint64(2)
    odd += np.uint64(1)
    X = lifted.X if rows is None else lifted.X[rows]
    if not lifted.is_sparse:
        step = max(1, _BATCH // max(lifted.n_features, 1))
        parts = [X[i : i + step] for i in range(0, len(X), step)]
        return np.concatenate([(_mixed(part) * odd).sum(axis=1, dtype=np.uint64) for part in parts])
    terms = _mixed(X.data) * odd[X.indices]
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
    return np.asarray(total[X.indptr[1:]] - total[X.indptr[:-1]])


def _mixed(values: Float) -> NDArray[np.uint64]:
    bits = np.ascontiguousarray(values + 0.0).view(np.uint64)  # + 0.0 makes −0 a 0
    bits = (bits ^ (bits >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray(bits ^ (bits >> np.uint64(29)))
