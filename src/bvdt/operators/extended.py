"""Rows for points outside the tree: out-of-sample extension.

A new point x is placed at its nearest training point ℓ, which the operator's neighbor index finds, and walks
as that one does, or to it:

    row(x) = (1 − m)·Q_ℓ + m·δ_ℓ,      m = e^{−d(x, ℓ)/β} / (e^{−d(x, ℓ)/β} + e^{r_ℓ})

where r_ℓ, the training point's share of the bound, stands for the log of Σ_j e^{−d_ℓj/β} over the others: m
is the softmax weight of the one center that its own row lacks. So a product costs one product of Q and a
gather.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from .._support import memory
from .._support.arrays import Float, Index, Numbers, checked_integer
from ..lifting import Lifted
from .base import RealOperator, Side

if TYPE_CHECKING:
    from .walk import WalkOperator


class ExtendedOperator(RealOperator):
    """Rows of n_new points over the N training points; each sums to 1. ``weight`` is m of ``nearest``."""

    def __init__(self, operator: WalkOperator, nearest: Index, weight: Float) -> None:
        super().__init__(operator.dtype, (len(nearest), operator.shape[0]))
        self.operator, self.nearest, self.weight = operator, nearest, weight

    def apply(self, V: Numbers, side: Side, out: Numbers | None = None) -> Numbers:
        m = self.weight[:, None].astype(V.dtype)
        if side == "forward":
            return np.asarray((1 - m) * self.operator.apply(V, side)[self.nearest] + m * V[self.nearest])
        to_walk, to_stay = np.zeros((2, self.shape[1], V.shape[1]), V.dtype)
        np.add.at(to_walk, self.nearest, (1 - m) * V)
        np.add.at(to_stay, self.nearest, m * V)
        return np.asarray(self.operator.apply(to_walk, side) + to_stay)

    def row(self, i: int) -> Float:  # (N,)
        """Row of new point i, dense."""
        row = (1 - self.weight[i]) * self.operator.row(int(self.nearest[i]))
        row[self.nearest[i]] += self.weight[i]
        return np.asarray(row)

    def toarray(self) -> Float:  # (n_new, N)
        """All rows, dense; refuses with a MemoryError that names the GiB when they would not fit."""
        memory.require(8.0 * self.shape[0] * self.shape[1], f"a dense matrix of {self.shape[0]} new rows")
        return np.stack([self.row(i) for i in range(self.shape[0])])

    def __repr__(self) -> str:
        return f"ExtendedOperator(n_new={self.shape[0]}, n_points={self.shape[1]}, dtype={self.dtype})"


@memory.explain_memory_error("placing new points")
def extend(op: WalkOperator, X_new: Any) -> ExtendedOperator:
    """Operator of the rows of new points; see the module's head."""
    index, divergence = op.index.search(_lifted_new(op, X_new, "extend"), 1)
    nearest = index[:, 0].astype(np.intp)
    # e^{−d}/(e^{−d} + e^{r}) is the logistic function of −d − r.
    weight = special.expit(-divergence[:, 0] / op.bandwidth - op.row_values()[nearest])
    return ExtendedOperator(op, nearest, weight)


@memory.explain_memory_error("finding the nearest points")
def nearest(op: WalkOperator, X_new: Any, k: int = 15) -> tuple[Index, Float]:  # (n_new, k) ×2
    """The k nearest fitted points of each new one, as centers, and the divergences from them, ascending."""
    k = checked_integer(k, "k", 1, op.shape[0])
    index, divergence = op.index.search(_lifted_new(op, X_new, "nearest"), k)
    return index.astype(np.intp), divergence


def _lifted_new(op: WalkOperator, X_new: Any, name: str) -> Lifted:
    lifting = op.lifted.lifting
    if lifting is None:
        raise ValueError(
            f"{name} needs the divergence that lifted the data; this operator has none "
            "(a loaded custom phi: set it with bvdt.load(path, divergence=...))"
        )
    return lifting.transform(X_new)
