"""A real matrix known by its products, as SciPy's linear operator."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator


class RealOperator(LinearOperator):  # type: ignore[misc]  # SciPy has no types
    """SciPy's linear operator of a real matrix; a subclass gives ``_apply`` for both directions."""

    rows_sum_to_one = False

    @abstractmethod
    def _apply(self, V: NDArray[Any], transpose: bool) -> NDArray[Any]:  # (n,) or (n, k)
        """The matrix, or its transpose, times V; as many dimensions as V."""

    def _matvec(self, x: NDArray[Any]) -> NDArray[Any]:  # (n,) or (n, 1)
        return self._apply(x, transpose=False)

    def _matmat(self, X: NDArray[Any]) -> NDArray[Any]:  # (n, k)
        return self._apply(X, transpose=False)

    def _rmatvec(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._apply(x, transpose=True)

    def _rmatmat(self, X: NDArray[Any]) -> NDArray[Any]:
        return self._apply(X, transpose=True)

    def _transpose(self) -> RealOperator:
        """SciPy's own would conjugate, hence copy, what goes in and what comes out."""
        return _Transpose(self)

    _adjoint = _transpose

    def mean_with_transpose(self, V: NDArray[Any]) -> NDArray[Any]:  # (N,) or (N, k), shape kept
        """(A + Aᵀ)/2 V of a square matrix, a new array; a kind that can do it in one product does."""
        return np.asarray(self @ V + self.T @ V) / 2


class _Transpose(RealOperator):
    """The transpose of an operator, sharing its arrays."""

    def __init__(self, operator: RealOperator) -> None:
        super().__init__(operator.dtype, (operator.shape[1], operator.shape[0]))
        self._operator = operator

    def _apply(self, V: NDArray[Any], transpose: bool) -> NDArray[Any]:
        return self._operator._apply(V, not transpose)

    def _transpose(self) -> RealOperator:
        return self._operator

    _adjoint = _transpose
