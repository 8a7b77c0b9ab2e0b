"""Columns in use: where most features of sparse data never occur, only those that do are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .._support.arrays import Float, Index, Integers, Mask
from .._support.sparse import CSR

MANY = 1 << 20  # features from which on it is looked whether they are used
_RARE = 16  # features per feature in use from which on the others are left out


@dataclass(frozen=True, eq=False)
class Columns:
    """Features that occur, renumbered in their order; one more, the last, stands for all others."""

    used: Index  # (m,) ascending
    width: int  # features there are

    @classmethod
    def of(cls, X: CSR) -> Columns | None:
        """Of a CSR array; None where nothing is gained."""
        return None if X.shape[1] < MANY else cls.among(np.unique(X.indices), int(X.shape[1]))

    @classmethod
    def among(cls, used: Integers, width: int) -> Columns | None:
        """From the features that occur, ascending; None where nothing is gained."""
        if width < MANY or _RARE * (len(used) + 1) >= width:
            return None
        return cls(np.asarray(used, np.intp), width)

    def kept(self, X: CSR) -> CSR:  # CSR (n, width) -> CSR (n, m + 1)
        """X in the new numbers, without what lies elsewhere."""
        inside = self._is_inside(X.indices)
        before = np.concatenate([[0], np.cumsum(inside)])
        places = np.searchsorted(self.used, X.indices[inside]).astype(np.int32)
        shape = (X.shape[0], len(self.used) + 1)
        return sparse.csr_array((X.data[inside], places, before[X.indptr]), shape=shape)

    def elsewhere(self, X: CSR) -> tuple[Index, Float]:
        """Rows and values of what ``kept`` leaves out."""
        outside = ~self._is_inside(X.indices)
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        return rows[outside], X.data[outside]

    def _is_inside(self, indices: Integers) -> Mask:
        if not len(self.used):
            return np.zeros(len(indices), bool)
        places = np.minimum(np.searchsorted(self.used, indices), len(self.used) - 1)
        return np.asarray(self.used[places] == indices)
