"""The symmetrised walk, for eigenvectors and for label spreading."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from .._support.arrays import Float
from .base import RealOperator

ISOLATED = 1e-12  # sum of a column of Q, of which 1 is the mean, below which nothing leads to the point


class SymmetrizedOperator(RealOperator):
    """S = D^(−1/2)·W·D^(−1/2) with W = (Q + Qᵀ)/2 and D its row sums; eigenvalues in [−1, 1].

    ``degrees`` is the diagonal of D; D^(1/2)·1 is an eigenvector of eigenvalue 1.

    A point that nothing leads to, with a column of Q that adds up to less than ``ISOLATED``, is isolated: its
    row and column of W, D and S are 0. A lone far point's row of Q is tied over all others, and in the mean
    with the transpose would link every point with every other (theory: The symmetrised walk). Such a point
    gets its scores by its own row of Q, as a new point would (``extended``).

    ``kept`` (N,) restricts the walk to some points; the others count as isolated.
    """

    def __init__(self, operator: Any, kept: NDArray[np.bool_] | None = None) -> None:
        super().__init__(operator.dtype, operator.shape)
        self.operator = operator
        self.kept: NDArray[np.bool_] | None = kept
        self._rounds = 1
        degrees = self.mean_with_transpose(np.ones(operator.shape[0]))
        # Rows of a walk sum to 1: a degree of ½ is a column of zeros, but for rounding.
        if getattr(operator, "rows_sum_to_one", False) and (2 * degrees - 1 < 1e-9).any():
            self._isolate()
            degrees = self.mean_with_transpose(np.ones(operator.shape[0]))
        self.degrees: Float = np.asarray(degrees, np.float64)
        linked = self.degrees > 0  # a row and column of zeros stays one
        self._scale = np.where(linked, 1.0 / np.sqrt(np.where(linked, self.degrees, 1.0)), 0.0)

    def _isolate(self) -> None:
        """Leaves out the points that nothing leads to, and again those that only these led to."""
        kept = np.ones(self.shape[0], bool) if self.kept is None else self.kept.copy()
        rounds = 0
        while (out := kept & (self.operator.T @ kept.astype(np.float64) < ISOLATED)).any():
            kept &= ~out
            rounds += 1
        if rounds:
            self.kept, self._rounds = kept, rounds

    @property
    def isolated(self) -> NDArray[np.intp]:
        """The points whose rows and columns are left out."""
        return np.empty(0, np.intp) if self.kept is None else np.flatnonzero(~self.kept)

    def restricted(self, kept: NDArray[np.bool_]) -> SymmetrizedOperator:
        """The same for the walk on some of the points that are not isolated."""
        return SymmetrizedOperator(self.operator, kept if self.kept is None else kept & self.kept)

    def extended(self, F: NDArray[Any], alpha: float = 1.0, given: Any = None) -> NDArray[Any]:
        """F, with α·Q·F + (1 − α)·given in the rows of isolated points; written to F."""
        if len(isolated := self.isolated):
            own = 0.0 if given is None else (1 - alpha) * _dense(given[isolated])
            for _ in range(self._rounds):  # points of an earlier round may lead to those of a later one
                F[isolated] = alpha * np.asarray(self.operator @ F)[isolated] + own
        return F

    def pulled_back(self, V: NDArray[Any], alpha: float) -> tuple[NDArray[Any], NDArray[Any]]:
        """The transpose of ``extended``: weights of its rows as weights of F, and of ``given``; writes V."""
        own = np.zeros_like(V)
        if len(isolated := self.isolated):
            for _ in range(self._rounds):
                apart = np.zeros_like(V)
                apart[isolated], V[isolated] = V[isolated], 0.0
                own += (1 - alpha) * apart
                V += alpha * np.asarray(self.operator.T @ apart)
        return V, own

    def mean_with_transpose(self, V: Any) -> Any:  # (N,) or (N, k), shape kept
        """W·V, a new array."""
        V = np.asarray(V)
        if self.kept is None:
            return self._mean_as_given(V)
        kept = self.kept.reshape(-1, *[1] * (V.ndim - 1))
        return self._mean_as_given(np.where(kept, V, V.dtype.type(0))) * kept

    def _mean_as_given(self, V: Any) -> Any:
        if isinstance(self.operator, RealOperator):
            return self.operator.mean_with_transpose(np.asarray(V))
        return (self.operator @ V + self.operator.T @ V) / 2

    def reordered(self, operator: Any, order: NDArray[Any]) -> SymmetrizedOperator:
        """The same S with point order[i] as its i-th; ``operator`` multiplies in that order."""
        other = copy.copy(self)
        other.operator, other.degrees, other._scale = operator, self.degrees[order], self._scale[order]
        other.kept = None if self.kept is None else self.kept[order]
        return other

    @property
    def scale(self) -> Float:  # (N,)
        """D^(−1/2), 0 where there is no link."""
        return self._scale

    def scaled(self, links: Any, order: NDArray[Any] | None = None) -> Any:  # CSR (N, N) -> CSR (N, N)
        """D^(−1/2)·links·D^(−1/2) of a sparse part of W.

        ``order``: the point of each row and column, if they are not in the points' own order.
        """
        scale = self._scale if order is None else self._scale[order]
        data = links.data * np.repeat(scale, np.diff(links.indptr))
        data *= scale[links.indices]
        return csr_array((data, links.indices, links.indptr), shape=links.shape)

    def shifted(
        self, V: NDArray[Any], alpha: float, out: NDArray[Any] | None = None
    ) -> tuple[NDArray[Any], Float | None]:  # (N, k), (k,)
        """V − α·S·V; and its columns' inner products with V's where they come with it.

        A new array, or ``out``, of V's type and shape, which may be used up in any case.
        """
        if self._fused:
            dots = np.empty(V.shape[1])
            options: dict[str, Any] = {"factor": -alpha, "own": 1.0, "scale": self._scale}
            return np.asarray(self.operator.product(V, "both", **options, dots=dots, out=out)), dots
        out = np.array(self._apply(V), V.dtype)  # a copy: an operator may return what it was given
        out *= V.dtype.type(-alpha)
        out += V
        return out, None

    @property
    def has_stepper(self) -> bool:
        """Whether ``stepper`` can be asked for."""
        return self.kept is None and self._fused and self.operator.is_one_product

    def stepper(self, alpha: float) -> tuple[Callable[..., None], Float]:
        """The step of label spreading with M = S as one kernel call, see ``Links.stepper``, and its D.

        D is that of S, 1 for a point without links.
        """
        linked = self._scale > 0
        scale = self._scale if linked.all() else np.where(linked, self._scale, 1.0)
        return self.operator.stepper(alpha, scale), scale

    @property
    def _fused(self) -> bool:
        """Whether the operator has products with a diagonal on both sides."""
        return hasattr(self.operator, "product")

    def _apply(self, V: NDArray[Any], transpose: bool = False) -> NDArray[Any]:
        if self._fused:
            return np.asarray(self.operator.product(V, "both", scale=self._scale))
        scale = self._scale.reshape(-1, *[1] * (V.ndim - 1))
        scale = scale.astype(np.result_type(self.dtype, V.dtype), copy=False)
        product = self._mean_as_given(scale * V)
        product *= scale
        return np.asarray(product)

    def _transpose(self) -> SymmetrizedOperator:
        return self

    _adjoint = _transpose

    def toarray(self) -> Float:
        """S as a dense array."""
        Q = self.operator.toarray()
        return np.asarray(self._scale[:, None] * (Q + Q.T) / 2 * self._scale)


def _dense(rows: Any) -> Any:
    return rows.toarray() if issparse(rows) else rows
