"""A linear operator of SciPy's that does not import SciPy."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._scipy import scipy


class LinearOperator(ABC):
    """What ``scipy.sparse.linalg.LinearOperator`` is, for a real matrix; a subclass gives ``_apply``.

    To ``isinstance`` it is SciPy's, so SciPy's solvers take it as it is; sums, multiples and powers of it are
    SciPy's own.
    """

    __array_ufunc__ = None  # NumPy leaves array @ operator to the operator
    ndim = 2

    def __init__(self, dtype: DTypeLike, shape: tuple[int, int]) -> None:
        self.dtype, self.shape = np.dtype(dtype), shape

    @property  # type: ignore[misc]  # object's can be set
    def __class__(self) -> type:
        """SciPy's class once it is imported; before, nobody can ask for it.

        ``isinstance`` looks here after ``type``. SciPy's class as a base would have to be imported first.
        """
        return getattr(sys.modules.get("scipy.sparse.linalg"), "LinearOperator", type(self))

    def __reduce__(self) -> Any:
        """For pickle, which otherwise refuses an object whose __class__ is not its type."""
        return object.__new__, (type(self),), self.__dict__

    @abstractmethod
    def _apply(self, V: NDArray[Any], transpose: bool) -> NDArray[Any]:  # (n,) or (n, k)
        """The matrix, or its transpose, times V; as many dimensions as V."""

    # -- products -----------------------------------------------------------------------------------------

    def matvec(self, x: Any) -> NDArray[Any]:  # (n,) or (n, 1)
        """The matrix times one vector."""
        return self._times_array(_vector(x), transpose=False)

    def rmatvec(self, x: Any) -> NDArray[Any]:  # (n,) or (n, 1)
        """The transpose times one vector."""
        return self._times_array(_vector(x), transpose=True)

    def matmat(self, X: Any) -> NDArray[Any]:  # (n, k)
        """The matrix times k columns."""
        return self._times_array(_columns(X), transpose=False)

    def rmatmat(self, X: Any) -> NDArray[Any]:  # (n, k)
        """The transpose times k columns."""
        return self._times_array(_columns(X), transpose=True)

    def dot(self, other: Any) -> Any:
        """Product with an array, an operator or a number."""
        return self._of_scipy * other if np.isscalar(other) else self @ other

    __call__ = __mul__ = dot

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray | list | tuple):
            return self._times_array(np.asarray(other), transpose=False)
        return self._of_scipy @ other

    def __rmatmul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray | list | tuple):
            return self._times_array(np.asarray(other).T, transpose=True).T
        return other @ self._of_scipy

    def _times_array(self, V: NDArray[Any], transpose: bool) -> NDArray[Any]:
        length = self.shape[0] if transpose else self.shape[1]
        if V.ndim not in (1, 2) or len(V) != length:
            raise ValueError(
                f"dimension mismatch: a product needs {length} rows, 1 or 2 axes; the shape is {V.shape}"
            )
        return self._apply(V, transpose)

    # -- transpose ----------------------------------------------------------------------------------------

    def transpose(self) -> LinearOperator:
        """The transpose, sharing the arrays."""
        return _Transpose(self)

    def adjoint(self) -> LinearOperator:
        """The transpose: the matrix is real."""
        return self.transpose()

    T = property(lambda self: self.transpose())
    H = property(lambda self: self.transpose())

    # -- algebra, by SciPy --------------------------------------------------------------------------------

    @property
    def _of_scipy(self) -> Any:
        """The same matrix as an object of SciPy's own class."""
        products = {name: getattr(self, name) for name in ("matvec", "rmatvec", "matmat", "rmatmat")}
        return scipy.sparse.linalg.LinearOperator(self.shape, dtype=self.dtype, **products)

    def __rmul__(self, other: Any) -> Any:
        return other * self._of_scipy if np.isscalar(other) else self.__rmatmul__(other)

    def __truediv__(self, other: Any) -> Any:
        return self._of_scipy / other

    def __pow__(self, power: int) -> Any:
        return self._of_scipy**power

    def __neg__(self) -> Any:
        return -self._of_scipy

    def __add__(self, other: Any) -> Any:
        return self._of_scipy + other

    def __sub__(self, other: Any) -> Any:
        return self._of_scipy - other


def _vector(given: Any) -> NDArray[Any]:
    x: NDArray[Any] = np.asarray(given)
    if x.ndim != 1 and x.shape[1:] != (1,):
        raise ValueError(f"dimension mismatch: matvec needs one vector; the shape is {x.shape}")
    return x


def _columns(given: Any) -> NDArray[Any]:
    X: NDArray[Any] = np.asarray(given)
    if X.ndim != 2:
        raise ValueError(f"dimension mismatch: matmat needs 2 dimensions; the shape is {X.shape}")
    return X


class _Transpose(LinearOperator):
    """The transpose of an operator, sharing its arrays."""

    def __init__(self, operator: LinearOperator) -> None:
        super().__init__(operator.dtype, (operator.shape[1], operator.shape[0]))
        self._operator = operator

    def _apply(self, V: NDArray[Any], transpose: bool) -> NDArray[Any]:
        return self._operator._apply(V, not transpose)

    def transpose(self) -> LinearOperator:
        return self._operator
