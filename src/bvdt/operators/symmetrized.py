"""The symmetrised walk, for Lanczos and for label spreading."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float
from .base import RealOperator


class SymmetrizedOperator(RealOperator):
    """S = D^(−1/2)·(Q + Qᵀ)/2·D^(−1/2) with D the row sums of (Q + Qᵀ)/2; eigenvalues in [−1, 1].

    ``degrees`` is the diagonal of D; D^(1/2)·1 is the eigenvector of eigenvalue 1.
    """

    def __init__(self, operator: Any) -> None:
        super().__init__(operator.dtype, operator.shape)
        self.operator = operator
        self.degrees: Float = np.asarray(self.mean_with_transpose(np.ones(operator.shape[0])), np.float64)
        linked = self.degrees > 0  # a row and column of zeros stays one
        self._scale = np.where(linked, 1.0 / np.sqrt(np.where(linked, self.degrees, 1.0)), 0.0)

    def mean_with_transpose(self, V: Any) -> Any:  # (N,) or (N, k), shape kept
        """(Q + Qᵀ)/2 V, a new array."""
        if isinstance(self.operator, RealOperator):
            return self.operator.mean_with_transpose(np.asarray(V))
        return (self.operator @ V + self.operator.T @ V) / 2

    def _apply(self, V: NDArray[Any], transpose: bool = False) -> NDArray[Any]:
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
        return np.asarray(self._scale[:, None] * (Q + Q.T) / 2 * self._scale)
