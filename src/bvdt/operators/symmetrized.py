"""The symmetrised walk, for Lanczos and for label spreading."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._support.arrays import Float
from .base import RealOperator

UNREACHED = 1e-12  # sum of a column of Q, of which 1 is usual
WHISPER = 1e-30  # weight of such a point's own row: enough to be labelled by the others
FEW = 16  # such points; where there are more, they are no exception


def _links(operator: Any, unreached: NDArray[np.intp]) -> Float:  # (N, n_unreached)
    """(W + Wᵀ)/2 between all points and those few; in W the rows of these count next to nothing."""
    ends = np.zeros((operator.shape[0], len(unreached)))
    ends[unreached, np.arange(len(unreached))] = 1
    return np.asarray((WHISPER * (operator.T @ ends) + operator @ ends) / 2)


class SymmetrizedOperator(RealOperator):
    """S = D^(−1/2)·(Q + Qᵀ)/2·D^(−1/2) with D the row sums of (Q + Qᵀ)/2; eigenvalues in [−1, 1].

    ``degrees`` is the diagonal of D; D^(1/2)·1 is the eigenvector of eigenvalue 1.

    The row of a point that no walk reaches, with a column of Q that adds up to less than ``UNREACHED``,
    counts next to nothing: a tree ties that row over all points, and in the mean with the transpose one far
    point would link every point with every other (theory: The symmetrised walk).
    """

    def __init__(self, operator: Any) -> None:
        super().__init__(operator.dtype, operator.shape)
        self.operator = operator
        self._unreached: NDArray[np.intp] | None = None
        ones = np.ones(operator.shape[0])
        degrees = self.mean_with_transpose(ones)
        # Rows of a walk sum to 1: a degree of ½ is a column of zeros, but for rounding.
        if getattr(operator, "rows_sum_to_one", False) and (2 * degrees - 1 < 1e-9).any():
            unreached = np.flatnonzero(operator.T @ ones < UNREACHED)
            if 0 < len(unreached) <= FEW:
                self._unreached, self._beside = unreached, _links(operator, unreached)
                degrees = self.mean_with_transpose(ones)
        self.degrees: Float = np.asarray(degrees, np.float64)
        linked = self.degrees > 0  # a row and column of zeros stays one
        self._scale = np.where(linked, 1.0 / np.sqrt(np.where(linked, self.degrees, 1.0)), 0.0)

    def mean_with_transpose(self, V: Any) -> Any:  # (N,) or (N, k), shape kept
        """(Q + Qᵀ)/2 V, a new array."""
        if self._unreached is not None:
            return self._around_unreached(np.asarray(V), self._unreached)
        return self._mean_as_given(V)

    def _mean_as_given(self, V: Any) -> Any:
        if isinstance(self.operator, RealOperator):
            return self.operator.mean_with_transpose(np.asarray(V))
        return (self.operator @ V + self.operator.T @ V) / 2

    def _around_unreached(self, V: NDArray[Any], unreached: NDArray[np.intp]) -> NDArray[Any]:
        """The product of the others, then the links of the unreached: apart, as these are far smaller."""
        columns = V.astype(np.result_type(self.dtype, V.dtype)).reshape(self.shape[0], -1)
        own, apart = columns[unreached], self._beside.astype(self.dtype, copy=False)
        there = np.einsum("iu,ik->uk", apart, columns)
        columns[unreached] = 0
        out = np.asarray(self._mean_as_given(columns))
        out += np.einsum("iu,uk->ik", apart, own)
        out[unreached] = there
        return out.reshape(V.shape)

    def reordered(self, operator: Any, order: NDArray[Any]) -> SymmetrizedOperator:
        """The same S with point order[i] as its i-th; ``operator`` multiplies in that order."""
        other = copy.copy(self)
        other.operator, other.degrees, other._scale = operator, self.degrees[order], self._scale[order]
        if self._unreached is not None:
            place = np.empty_like(order)
            place[order] = np.arange(len(order))
            other._unreached, other._beside = place[self._unreached], self._beside[order]
        return other

    @property
    def unreached(self) -> NDArray[np.intp] | None:
        """The few points whose rows count next to nothing."""
        return self._unreached

    @property
    def beside(self) -> Float:  # (N, n_unreached)
        """Their links with all points, of the mean with the transpose."""
        return self._beside

    @property
    def scale(self) -> Float:  # (N,)
        """D^(−1/2), 0 where there is no link."""
        return self._scale

    def scaled(self, links: Any, order: NDArray[Any] | None = None) -> Any:  # CSR (N, N) -> CSR (N, N)
        """D^(−1/2)·links·D^(−1/2) of a sparse part of (Q + Qᵀ)/2, without the few unreached points' links.

        ``order``: the point of each row and column, if they are not in the points' own order.
        """
        scale = self._scale.copy()
        if self._unreached is not None:
            scale[self._unreached] = 0
        scale = scale if order is None else scale[order]
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
        return self._fused and self.operator.is_one_product

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
        return self._unreached is None and hasattr(self.operator, "product")

    def _apply(self, V: NDArray[Any], transpose: bool = False) -> NDArray[Any]:
        if self._fused:
            return np.asarray(self.operator.product(V, "both", scale=self._scale))
        scale = self._scale.reshape(-1, *[1] * (V.ndim - 1))
        scale = scale.astype(np.result_type(self.dtype, V.dtype), copy=False)
        product = self.mean_with_transpose(scale * V)
        product *= scale
        return np.asarray(product)

    def _transpose(self) -> SymmetrizedOperator:
        return self

    _adjoint = _transpose

    def toarray(self) -> Float:
        """S as a dense array."""
        Q = self.operator.toarray()
        if self._unreached is not None:
            Q[self._unreached] *= WHISPER
        return np.asarray(self._scale[:, None] * (Q + Q.T) / 2 * self._scale)
