"""Rows of a dense and a sparse block side by side: words and vectors of the same points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .arrays import Float
from .sparse import CSR, is_sparse


@dataclass(frozen=True, eq=False)
class Mixed:
    """(n, p + q): the columns of ``dense``, then those of ``stored``; neither is turned into the other."""

    dense: Any  # (n, p) array
    stored: CSR  # (n, q)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.dense), int(self.dense.shape[1] + self.stored.shape[1])

    @property
    def size(self) -> int:
        """Numbers that are held."""
        return int(self.dense.size + self.stored.nnz)

    def __len__(self) -> int:
        return len(self.dense)

    def __getitem__(self, rows: Any) -> Mixed:
        return Mixed(self.dense[rows], self.stored[rows])

    def split(self, V: Any) -> tuple[Any, Any]:  # (p + q, …)
        """Of rows of V one for each column: those of the dense and those of the stored columns."""
        return V[: self.dense.shape[1]], V[self.dense.shape[1] :]

    def __matmul__(self, V: Any) -> Any:  # (p + q, m) -> (n, m)
        dense, stored = self.split(V)
        return self.dense @ dense + self.stored @ stored


def blocks_of(X: Any) -> list[Any]:
    """The matrices that X consists of: two of mixed rows, else X itself."""
    return [X.dense, X.stored] if isinstance(X, Mixed) else [X]


def inner_products(X: Any, H: Any) -> Float:  # (n, d), (m, d) -> (n, m)
    """X·Hᵀ as an array; both dense, both CSR or both mixed."""
    products = [x @ h.T for x, h in zip(blocks_of(X), blocks_of(H), strict=True)]
    arrays = [p.toarray() if is_sparse(p) else p for p in products]
    return np.asarray(arrays[0] if len(arrays) == 1 else arrays[0] + arrays[1])


def side_by_side(blocks: list[Any]) -> Any:  # (n, d_v) each -> (n, Σ d_v)
    """Dense, CSR or mixed, as the blocks are; dense ones first where they are both."""
    dense = [block for block in blocks if not is_sparse(block)]
    stored = [block for block in blocks if is_sparse(block)]
    left = None if not dense else dense[0] if len(dense) == 1 else np.hstack(dense)
    if not stored:
        return left
    right = stored[0] if len(stored) == 1 else sparse.csr_array(sparse.hstack(stored, format="csr"))
    return right if left is None else Mixed(left, right)


def above(X: Any, Y: Any) -> Any:  # (n, d), (m, d) -> (n + m, d)
    """Rows of one before those of the other, in one storage."""
    if isinstance(X, Mixed):
        return Mixed(above(X.dense, Y.dense), above(X.stored, Y.stored))
    return sparse.csr_array(sparse.vstack([X, Y], format="csr")) if is_sparse(X) else np.vstack([X, Y])
