"""A real matrix known by one product, and what solvers ask of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from .._support.arrays import Float, Int, Mask, Numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from ..tree import Tree
    from .near_field import NearField
    from .single_tree import TransitionOperator

Side = Literal["forward", "transpose", "mean"]  # A, Aᵀ or (A + Aᵀ)/2
SIDES: dict[Side, Side] = {"forward": "transpose", "transpose": "forward", "mean": "mean"}  # of the transpose
T = TypeVar("T")
_ROWS = 1 << 12  # that stay in cache from one operation to the next


class RealOperator(LinearOperator):  # type: ignore[misc]  # SciPy has no types
    """SciPy's linear operator of a real matrix; a subclass gives ``apply``, its one product.

    ``@``, ``.T @`` and ``mean_with_transpose`` take any vectors; all else is for solvers and takes
    C-contiguous columns of float32 or float64.

    Attributes
    ----------
    order : the point of each row, where rows are in an order of their own (``inner``); else None.
    tree, near, members, weights : of a walk: its first tree, its near field, and the operators of its trees
        with their weights; None and () where there is none.
    links : (A + Aᵀ)/2 of the sparse part, where there is one.
    graph : all entries of a matrix that is given as such.
    """

    rows_sum_to_one = False
    n_jobs: int | None = None
    order: Int | None = None
    tree: Tree | None = None
    near_field: NearField | None = None
    members: tuple[TransitionOperator, ...] = ()
    weights: Float = np.ones(1)
    links: csr_array | None = None
    graph: csr_array | None = None
    units: Float | None = None  # (n,) D of F = D⁻¹·Z, for which ``step`` takes and gives Z; None for ones
    one_kernel = False  # whether ``step`` is one pass over memory, in single precision too

    @abstractmethod
    def apply(self, V: Numbers, side: Side, out: Numbers | None = None) -> Numbers:  # (n, k)
        """A·V, Aᵀ·V or, of a square matrix, (A + Aᵀ)/2·V, in V's type; may be written to ``out``."""

    @property
    def inner(self) -> RealOperator:
        """The same matrix with its points in the order that is fastest to multiply."""
        return self

    # -- what solvers ask for: each has a default by the product ------------------------------------------

    def scaled(
        self,
        V: Numbers,  # (n, k)
        side: Side,
        scale: Float | None = None,  # (n,)
        *,
        factor: float = 1.0,
        own: float = 0.0,
        dots: Float | None = None,
        out: Numbers | None = None,
    ) -> Numbers:  # (n, k)
        """own·V + factor·D·A·D·V with D = diag(scale); ``dots`` (2, k) ← ⟨V, result⟩, ‖result‖² by column."""
        D = None if scale is None else scale[:, None].astype(V.dtype, copy=False)
        result = self.apply(V if D is None else np.ascontiguousarray(D * V), side, out)
        if D is not None:
            result *= D
        if factor != 1.0:
            result *= V.dtype.type(factor)
        if own != 0.0:
            result += V.dtype.type(own) * V
        if dots is not None:
            dots[0] = np.einsum("ij,ij->j", V, result, dtype=np.float64)
            dots[1] = np.einsum("ij,ij->j", result, result, dtype=np.float64)
        return result

    def shifted(
        self, V: Numbers, alpha: float, out: Numbers, dots: Float
    ) -> Numbers:  # (n, k), (n, k), (2, k)
        """V − α·A·V, which may be written to ``out``; ``dots`` as ``scaled`` fills it."""
        return self.scaled(V, "forward", factor=-alpha, own=1.0, dots=dots, out=out)

    def step(
        self,
        Z: Numbers,  # (n, k)
        out: Numbers,  # (n, k)
        given: tuple[Int, Numbers],  # (n,), (m, k)
        alpha: float,
        share: float,
        weights: Numbers,  # (3, k)
        sums: Float | None = None,  # (3, k)
        fixed: Mask | None = None,  # (n,)
        *,
        side: Side = "forward",
        scale: Float | None = None,  # (n,) above 0
    ) -> None:
        """out ← a·G + b·Z + c·out by column, with G = α·D²·A·Z + share·D·Y and D = diag(scale).

        This is a three-term step of F = D⁻¹·Z with D·A·D, one scaling less. ``given``: which row of the
        second array is the point's row of Y, −1 for none; ``weights``: a, b and c. ``fixed`` points have
        D·Y for G. ``sums`` ← Σ|R|, Σ|D⁻¹·G| and ΣR² of the columns, R = D⁻¹·(G − Z).
        """
        (row, values), (a, b, c) = given, weights
        if sums is not None:
            sums[:] = 0.0
        product = self.apply(Z, side)
        for first in range(0, len(Z), _ROWS):
            rows = slice(first, first + _ROWS)
            D = None if scale is None else scale[rows, None]
            G = product[rows] * (alpha if D is None else alpha * D**2)
            labeled = np.flatnonzero(row[rows] >= 0)
            Y = values[row[rows][labeled]]
            Y = Y if D is None else D[labeled] * Y
            G[labeled] += share * Y
            if fixed is not None:
                stays = fixed[rows]
                G[stays] = 0.0
                G[labeled[stays[labeled]]] = Y[stays[labeled]]
            if sums is not None:
                R = G - Z[rows]
                R, size = (R, np.abs(G)) if D is None else (R / D, np.abs(G / D))
                sums += np.abs(R).sum(axis=0), size.sum(axis=0), np.einsum("ij,ij->j", R, R)
            out[rows] *= c
            out[rows] += a * G
            if b.any():
                out[rows] += b * Z[rows]

    def toarray(self) -> Float:  # (n, n)
        """A as a dense array."""
        return np.asarray(self @ np.eye(self.shape[1]))

    def cached(self, name: str, make: Callable[[], T]) -> T:
        """What ``make`` derives from the operator, kept under that name; copies of another type share it."""
        cache: dict[str, object] = self.__dict__.setdefault("_cache", {})
        if name not in cache:
            cache[name] = make()
        return cast(T, cache[name])

    # -- SciPy's interface --------------------------------------------------------------------------------

    def _multiplied(self, v: ArrayLike, side: Side) -> Any:  # (n,) or (n, k) of any numbers, shape kept
        v = np.asarray(v)
        if np.issubdtype(v.dtype, np.complexfloating):
            return self._multiplied(v.real, side) + 1j * self._multiplied(v.imag, side)
        single = np.result_type(self.dtype, v.dtype) == np.float32
        columns = np.ascontiguousarray(v, np.float32) if single else np.ascontiguousarray(v, np.float64)
        product = self.apply(columns.reshape(len(v), -1), side)
        return product.reshape(len(product), *v.shape[1:])

    def _matvec(self, x: ArrayLike) -> Any:  # (n,) or (n, 1)
        return self._multiplied(x, "forward")

    def _matmat(self, X: ArrayLike) -> Any:  # (n, k)
        return self._multiplied(X, "forward")

    def _rmatvec(self, x: ArrayLike) -> Any:
        return self._multiplied(x, "transpose")

    def _rmatmat(self, X: ArrayLike) -> Any:
        return self._multiplied(X, "transpose")

    def mean_with_transpose(self, V: ArrayLike) -> Any:  # (n,) or (n, k), shape kept
        """(A + Aᵀ)/2·V of a square matrix, a new array."""
        return self._multiplied(V, "mean")

    def _transpose(self) -> RealOperator:
        """SciPy's own would conjugate, hence copy, what goes in and what comes out."""
        return _Transpose(self)

    _adjoint = _transpose


class _Transpose(RealOperator):
    """The transpose of an operator, sharing its arrays."""

    def __init__(self, operator: RealOperator) -> None:
        super().__init__(operator.dtype, (operator.shape[1], operator.shape[0]))
        self._operator, self.n_jobs = operator, operator.n_jobs

    def apply(self, V: Numbers, side: Side, out: Numbers | None = None) -> Numbers:
        return self._operator.apply(V, SIDES[side], out)

    def _transpose(self) -> RealOperator:
        return self._operator

    _adjoint = _transpose


class MatrixOperator(RealOperator):
    """An array, a sparse matrix or another's linear operator."""

    def __init__(self, matrix: Any) -> None:
        super().__init__(matrix.dtype, matrix.shape)
        self.matrix = matrix
        if sparse.issparse(matrix) or isinstance(matrix, np.ndarray):
            self.graph = sparse.csr_array(matrix)
        if sparse.issparse(matrix):
            self.links = ((matrix + matrix.T) / 2).tocsr()

    def apply(self, V: Numbers, side: Side, out: Numbers | None = None) -> Numbers:
        A = self.matrix
        if side == "mean":
            product = (np.asarray(A @ V) + np.asarray(A.T @ V)) / 2
        else:
            product = np.asarray(A @ V if side == "forward" else A.T @ V)
        product = np.ascontiguousarray(product, V.dtype)  # a copy: it may be what was given
        return product.copy() if np.may_share_memory(product, V) or not product.flags.writeable else product
