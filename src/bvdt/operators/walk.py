"""What every walk matrix shares: products both ways, symmetrised and dense form, quality, storage."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._support import memory
from .._support.arrays import Float
from ..lifting import Lifted
from ..neighbors import NeighborIndex, for_new_points
from ..tree import Tree
from .base import RealOperator
from .symmetrized import SymmetrizedOperator

if TYPE_CHECKING:
    from .extended import ExtendedOperator
    from .near_field import NearField
    from .quality import Quality
    from .single_tree import TransitionOperator


class WalkOperator(RealOperator):
    """Row-stochastic N×N matrix over the points of a tree, or of several: a SciPy linear operator.

    A kind of walk gives ``_times``, ``row``, ``row_values``, ``members``, ``n_blocks`` and ``astype``; the
    rest is here. Operators never change: methods return new objects.

    Examples
    --------
    >>> import bvdt
    >>> X = [[0.0], [1.0], [3.0], [4.5]]
    >>> op = bvdt.transition_matrix(X, "squared_euclidean", bandwidth=1.0, random_state=0)
    >>> isinstance(op, bvdt.WalkOperator), op.rows_sum_to_one
    (True, True)
    >>> op.T.shape, op.symmetrized().shape
    ((4, 4), (4, 4))
    """

    rows_sum_to_one = True
    tree: Tree
    lifted: Lifted
    bandwidth: float
    lower_bound: float
    n_jobs: int | None
    near: NearField | None = None
    weights: Float = np.ones(1)  # of the members
    _cache: dict[str, Any]

    @property
    @abstractmethod
    def members(self) -> tuple[TransitionOperator, ...]:
        """The operators of single trees that it is made of."""

    @property
    @abstractmethod
    def n_blocks(self) -> int:
        """Number of blocks, over all trees."""

    @abstractmethod
    def row(self, i: int) -> Float:  # (N,)
        """Row i, dense."""

    @abstractmethod
    def row_values(self) -> Float:  # (N,)
        """Each row's share of ``lower_bound``."""

    @abstractmethod
    def astype(self, dtype: DTypeLike) -> WalkOperator:
        """The same operator with results in float32 for float32 vectors."""

    @abstractmethod
    def refine(self, blocks: int) -> WalkOperator:
        """An operator with exactly that many blocks, split where the bound gains (theory: Refinement)."""

    @abstractmethod
    def add_trees(self, n_trees: int, random_state: Any = None) -> WalkOperator:
        """A forest with that many trees more (theory: A forest)."""

    @abstractmethod
    def _times(self, columns: NDArray[Any], transpose: bool) -> NDArray[Any]:  # (N, k) -> (N, k)
        """Q V or Qᵀ V for C-contiguous float32 or float64 columns, in their type."""

    def _times_both(self, columns: NDArray[Any]) -> NDArray[Any]:  # (N, k) -> (N, k)
        """(Q + Qᵀ)/2 V; a kind of walk that can do it in one product does."""
        return np.asarray(self._times(columns, False) + self._times(columns, True)) / 2

    def mean_with_transpose(self, V: NDArray[Any]) -> NDArray[Any]:  # (N,) or (N, k), shape kept
        """(Q + Qᵀ)/2 V, a new array."""
        if np.issubdtype(V.dtype, np.complexfloating):
            return super().mean_with_transpose(V)
        columns = np.ascontiguousarray(V, self._dtype_for(V)).reshape(self.shape[0], -1)
        return self._times_both(columns).reshape(V.shape)

    # -- products -----------------------------------------------------------------------------------------

    def _apply(self, v: NDArray[Any], transpose: bool) -> NDArray[Any]:  # (N,) or (N, k), shape kept
        if np.issubdtype(v.dtype, np.complexfloating):
            return np.asarray(self._apply(v.real, transpose) + 1j * self._apply(v.imag, transpose))
        columns = np.ascontiguousarray(v, self._dtype_for(v)).reshape(self.shape[0], -1)
        return self._times(columns, transpose).reshape(v.shape)

    def _dtype_for(self, v: Any) -> np.dtype[Any]:
        """Of a product with real v."""
        dtype = np.result_type(self.dtype, np.asarray(v).dtype)
        return np.dtype(np.float32 if dtype == np.float32 else np.float64)

    def symmetrized(self) -> SymmetrizedOperator:
        """S = D^(−1/2)·(Q + Qᵀ)/2·D^(−1/2), for eigenvectors and for label spreading (Zhou et al. 2003)."""
        return SymmetrizedOperator(self)

    # -- entries ------------------------------------------------------------------------------------------

    def _checked_row(self, i: int) -> int:
        n_points = int(self.shape[0])
        if not -n_points <= i < n_points:
            raise IndexError(f"row needs an index below {n_points}; got {i}")
        return int(i) % n_points

    def toarray(self) -> Float:  # (N, N)
        """Q as a dense array; refuses with a MemoryError that names the GiB when it would not fit."""
        n_points = self.shape[0]
        memory.require(8.0 * n_points**2, f"the dense matrix of {n_points} points")
        Q = np.empty(self.shape, self.dtype)
        for i in range(n_points):
            Q[i] = self.row(i)
        return Q

    # -- what the others do -------------------------------------------------------------------------------

    def quality(self, n_rows: int = 256, random_state: Any = None) -> Quality:
        """How far Q is from the exact P, on sampled rows; O(N) memory per row."""
        from .quality import quality

        return quality(self, n_rows, random_state)

    def extend(self, X_new: Any) -> ExtendedOperator:
        """Rows for points that are not in the tree, as an operator n_new × N."""
        from .extended import extend

        return extend(self, X_new)

    def add_points(self, X_new: Any, bandwidth: float | str | None = None) -> WalkOperator:
        """The walk over these points and new ones, which come last; trees grow leaves and are not rebuilt.

        A new point is beside its nearest fitted one. The near field is of all points, exact where it was.
        The bandwidth stays, or is found anew ("auto", "learn"). Time O(N·n_new).
        """
        from .adding import add_points

        return add_points(self, X_new, bandwidth)

    def nearest(self, X_new: Any, k: int = 15) -> tuple[NDArray[np.intp], Float]:  # (n_new, k) ×2
        """The k nearest fitted points of each new point and the divergences from them, ascending.

        By ``index``; −1 and +∞ where fewer than k were found.
        """
        from .extended import nearest

        return nearest(self, X_new, k)

    @property
    def index(self) -> NeighborIndex:
        """The points' neighbor index: the near field's, or one built and tuned when it is first needed."""
        make = lambda: for_new_points(self._built_index, self.lifted, self.n_jobs)  # noqa: E731
        return self._cached("index", make)  # type: ignore[no-any-return]

    @property
    def _built_index(self) -> NeighborIndex | None:
        """One that is there already."""
        return None

    def save(self, path: str | Path) -> None:
        """Write one file without pickle, which ``bvdt.load`` reads."""
        from .storage import save

        save(self, path)

    def _cached(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._cache:
            self._cache[name] = make()
        return self._cache[name]

    def _describe(self, kind: str, *figures: str) -> str:
        lifting = self.lifted.lifting
        name = [] if lifting is None else [f"divergence={lifting.divergence.name!r}"]
        parts = [f"n_points={self.shape[0]}", f"n_blocks={self.n_blocks}", *figures, *name]
        return f"{kind}({', '.join(parts)}, bandwidth={self.bandwidth:.4g}, dtype={self.dtype})"


def check_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """float32 or float64, as a dtype."""
    if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype needs float32 or float64; got {np.dtype(dtype)}")
    return np.dtype(dtype)
