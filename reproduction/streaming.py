"""The exact P of more documents than a dense matrix has room for: row by row, without what rounding drops."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from bvdt._support.arrays import Mask
from bvdt._support.sparse import CSR
from bvdt.lifting import Lifted
from bvdt.operators import exact_rows

from .propagation import NOTHING

__all__ = ["streamed_matrix"]

_ENTRIES = 1 << 22  # of P at once
_WITNESSES = 1_000  # labeled documents of each mask from which a row's cut is found; any will do


def streamed_matrix(lifted: Lifted, bandwidth: float, masks: list[Mask]) -> CSR:  # (N, N)
    """P without the entries that no score of Eq. (29) shows, for those masks of labeled documents.

    Let m_i be the least, over the masks, of the largest p_ij to a labeled document j. Entries below ε·m_i/N
    are dropped, ε being half a unit of rounding. With S_i the sum of document i's scores over the classes,
    S_i ≥ α(1 − α)·m_i, and one step changes the scores by α·ε·m_i at most: after T steps they are off by
    T·ε/(1 − α) of S_i at most. Entries below 1e-300 are 0 as in the dense matrix.
    """
    n = lifted.n_points
    witnesses = [_some(np.flatnonzero(known)) for known in masks]
    parts = []
    step = max(1, _ENTRIES // n)
    for start in range(0, n, step):
        P = exact_rows(lifted, np.arange(start, min(start + step, n)), bandwidth)
        reached = np.min([P[:, labeled].max(axis=1) for labeled in witnesses], axis=0)
        cut = np.maximum(np.finfo(float).eps / 2 / n * reached, NOTHING)
        P[cut[:, None] > P] = 0.0
        parts.append(sparse.csr_array(P))
    return sparse.csr_array(sparse.vstack(parts, format="csr"))


def _some(labeled: np.ndarray) -> np.ndarray:
    return labeled[:: max(1, len(labeled) // _WITNESSES)]
