"""Jensen gaps r·f(a) + (1 − r)·f(b) − f(r·a + (1 − r)·b): what the anchor tree asks of φ itself.

| equation               | f    | r             | gap                               |
|------------------------|------|---------------|-----------------------------------|
| (22), cost of a merge  | φ    | |A|/(|A|+|B|) | Δ(A, B) / (|A| + |B|)             |
| (23), stealing         | φ*   | 1/2           | d_thr, with a* and b* for a and b |

Sparse points are x + e with a baseline e (see :mod:`bvdt.lifting.lifted`). There f stands for
f_j(v) = φ(v + e_j) − φ(e_j), which is 0 at 0, so that sums run over supports only; the gap is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._support.arrays import Float, Long
from ...divergences import BregmanDivergence
from ...lifting import Lifted


def divergence_of(lifted: Lifted) -> BregmanDivergence:
    if lifted.lifting is None:
        raise ValueError(
            "anchor_tree needs points from bvdt's lift, which know their divergence; lifting is None"
        )
    return lifted.lifting.divergence


def baseline_of(lifted: Lifted) -> Float:  # (d,)
    return np.zeros(lifted.n_features) if lifted.base is None else lifted.base


@dataclass(frozen=True)
class Baselined:
    """f_j(v) = f(v + e_j) − f(e_j) for an elementwise f and a baseline e."""

    f: Callable[[Float], Float]
    at: Float  # (d,)
    value: Float  # (d,), f(e)

    @classmethod
    def of(cls, f: Callable[[Float], Float], at: Float) -> Baselined:
        return cls(f, at, f(at))

    def __call__(self, v: Float, columns: Long) -> Float:
        return self.f(v + self.at[columns]) - self.value[columns]


@dataclass(frozen=True)
class SparseRows:
    """m sparse vectors, entry by entry: values[e] at columns[e] of vector row[e]."""

    columns: Long  # (E,)
    values: Float  # (E,)
    row: Long  # (E,)
    n_rows: int

    @classmethod
    def stack(cls, vectors: list[tuple[Long, Float]]) -> SparseRows:
        lengths = [len(values) for _, values in vectors]
        columns = np.concatenate([columns for columns, _ in vectors])
        values = np.concatenate([values for _, values in vectors])
        return cls(columns, values, np.repeat(np.arange(len(vectors)), lengths), len(vectors))

    def sums(self, f: Baselined) -> Float:  # (m,)
        """Σ_j f_j(x_j) of every vector x."""
        return _row_sums(self.row, f(self.values, self.columns), self.n_rows)


def mixture_sums(
    f: Baselined, c: tuple[Long, Float], others: SparseRows, r: Float, scratch: Float
) -> Float:  # r: (m,), scratch: (d,) of zeros -> (m,)
    """Σ_j f_j(r·c_j + (1 − r)·x_j) for every vector x of ``others``.

    Where x_j = 0 the term depends on x only through r, so c's support is read once for each distinct r, and
    x's support once: O(|supp c|·#r + Σ|supp x|) instead of O(m·|supp c| + Σ|supp x|).
    """
    columns, values = c
    distinct, which = np.unique(r, return_inverse=True)
    alone = np.array([f(q * values, columns).sum() for q in distinct])
    scratch[columns] = values
    at_x = r[others.row] * scratch[others.columns]
    scratch[columns] = 0.0
    both = at_x + (1.0 - r)[others.row] * others.values
    shared = f(both, others.columns) - f(at_x, others.columns)
    return np.asarray(alone[which] + _row_sums(others.row, shared, others.n_rows))


def _row_sums(row: Long, values: Float, n_rows: int) -> Float:
    return np.bincount(row, values, n_rows).astype(float, copy=False)  # bincount of nothing counts in ints
