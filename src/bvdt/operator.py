"""The transition matrix Q as a SciPy linear operator: O(N) memory, O(N) a product, any number of columns."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse.linalg import LinearOperator

from . import memory
from ._running import n_threads
from .bandwidth import resolve_bandwidth
from .lift import Lifted
from .optimum import Float, block_areas, bound_constant, optimum
from .partition import BlockPartition, block_divergences
from .product import prepare
from .tree import Tree

if TYPE_CHECKING:
    from .extend import ExtendedOperator
    from .quality import Quality


class TransitionOperator(LinearOperator):  # type: ignore[misc]  # scipy has no types
    """Row-stochastic N×N matrix Q with one probability q_AB a block: the maximiser of Eq. (18) under Eq. (3).

    ``op @ v`` and ``op.T @ v`` cost O(N + n_blocks) a column; the operator works in ``scipy.sparse.linalg``'s
    eigs, gmres and so on as it is. It never changes: ``refine``, ``astype`` and the others return new
    objects.

    Attributes
    ----------
    tree, lifted : the cluster tree and the data in lifted form.
    partition : the blocks, with ``rows``, ``cols`` (nodes) and ``q``.
    mean_divergence : (n_blocks,) d̄_AB, not divided by the bandwidth.
    bandwidth : β of p_ij ∝ exp(−d_ij / β).
    lower_bound : Eq. (18) without its constant, summed over the rows.
    """

    tree: Tree
    lifted: Lifted
    partition: BlockPartition
    mean_divergence: Float
    bandwidth: float
    lower_bound: float
    n_jobs: int | None

    def __init__(
        self,
        lifted: Lifted,
        tree: Tree,
        *,
        partition: BlockPartition | None = None,
        mean_divergence: Float | None = None,
        bandwidth: float | str = "auto",
        dtype: DTypeLike = np.float64,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(np.dtype(dtype), (tree.n_points, tree.n_points))
        if lifted.n_points != tree.n_points:
            raise ValueError(f"tree needs {lifted.n_points} points, as X; it has {tree.n_points}")
        partition = BlockPartition.coarsest(tree) if partition is None else partition
        if mean_divergence is None:
            mean_divergence = block_divergences(lifted, tree, partition, n_jobs)
        self.lifted, self.tree, self.n_jobs = lifted, tree, n_jobs
        self.mean_divergence = mean_divergence

        def solve(beta: float) -> Any:
            return optimum(mean_divergence, tree, partition, beta, n_jobs)

        areas = block_areas(tree, partition) if isinstance(bandwidth, str) else np.empty(0)
        self.bandwidth = resolve_bandwidth(bandwidth, lifted, mean_divergence, areas, solve)
        solution = solve(self.bandwidth)
        self.partition = partition.with_q(solution.q)
        self.lower_bound = solution.lower_bound
        self._product = prepare(tree, partition, solution.q)
        self._cache: dict[str, Any] = {}

    # -- products -----------------------------------------------------------------------------------------

    def _apply(self, v: Any, transpose: bool) -> NDArray[Any]:  # (N,) or (N, k), shape kept
        v = np.asarray(v)
        dtype = np.result_type(self.dtype, v.dtype)
        if np.issubdtype(dtype, np.complexfloating):
            return np.asarray(self._apply(v.real, transpose) + 1j * self._apply(v.imag, transpose))
        dtype = np.dtype(np.float32 if dtype == np.float32 else np.float64)
        columns = np.ascontiguousarray(v, dtype).reshape(self.shape[0], -1)
        out = np.empty_like(columns)
        self._product.apply(columns, out, transpose, n_threads(self.n_jobs))
        return out.reshape(v.shape)

    def _matvec(self, v: Any) -> NDArray[Any]:
        return self._apply(v, transpose=False)

    def _matmat(self, V: Any) -> NDArray[Any]:
        return self._apply(V, transpose=False)

    def _rmatvec(self, v: Any) -> NDArray[Any]:
        return self._apply(v, transpose=True)

    def _rmatmat(self, V: Any) -> NDArray[Any]:
        return self._apply(V, transpose=True)

    def _transpose(self) -> LinearOperator:
        return _Transpose(self)

    def _adjoint(self) -> LinearOperator:
        return _Transpose(self)

    def astype(self, dtype: DTypeLike) -> TransitionOperator:
        """The same operator with results in float32 for float32 vectors; sums inside stay in float64."""
        if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise ValueError(f"dtype needs float32 or float64; got {np.dtype(dtype)}")
        other = copy.copy(self)
        other.dtype = np.dtype(dtype)
        return other

    def symmetrized(self) -> SymmetrizedOperator:
        """S = D^(−1/2)·(Q + Qᵀ)/2·D^(−1/2), for Lanczos and for label spreading (Zhou et al. 2003)."""
        return SymmetrizedOperator(self)

    # -- entries ------------------------------------------------------------------------------------------

    @property
    def n_blocks(self) -> int:
        return self.partition.n_blocks

    @cached_property
    def _leaf(self) -> NDArray[np.int32]:  # (N,)
        return self.tree.leaf_nodes().astype(np.int32)

    def _blocks_of(self, point: int) -> NDArray[np.intp]:
        """Blocks of a row: those of the point's leaf and of every node above it."""
        path = [int(self._leaf[point])]
        while path[-1] > 0:
            path.append(int(self.tree.parent[path[-1]]))
        if self.partition.is_coarsest:
            return np.array(path[:-1]) - 1
        first = self.partition.first
        return np.concatenate([np.arange(first[node], first[node + 1]) for node in path])

    def row(self, i: int) -> Float:  # (N,)
        """Row i of Q, dense."""
        n_points = self.shape[0]
        if not -n_points <= i < n_points:
            raise IndexError(f"row needs an index below {n_points}; got {i}")
        i = int(i) % n_points
        blocks = self._blocks_of(i)
        cols = self.partition.cols[blocks]
        in_order = np.argsort(self.tree.start[cols])  # side by side they cover all points but i
        values = np.repeat(self._q[blocks[in_order]], self.tree.size[cols[in_order]])
        row = np.zeros(n_points)
        row[np.delete(self.tree.order, self.tree.start[self._leaf[i]])] = values
        return row

    @property
    def _q(self) -> Float:
        assert self.partition.q is not None
        return self.partition.q

    def toarray(self) -> Float:  # (N, N)
        """Q as a dense array; refuses with a MemoryError that names the GiB when it would not fit."""
        n_points = self.shape[0]
        memory.require(8.0 * n_points**2, f"the dense matrix of {n_points} points")
        Q = np.empty(self.shape, self.dtype)
        for i in range(n_points):
            Q[i] = self.row(i)
        return Q

    # -- what the others do -------------------------------------------------------------------------------

    @property
    def likelihood_bound(self) -> float | None:
        """Eq. (18) with its constant, a lower bound on log p(D); None when the divergence has no family."""
        constant = bound_constant(self.lifted, self.bandwidth)
        return None if constant is None else constant + self.lower_bound

    def refine(self, blocks: int) -> TransitionOperator:
        """An operator with exactly that many blocks, split where the bound gains most (DESIGN 2.5)."""
        from .refine import refine

        return refine(self, blocks)

    def quality(self, n_rows: int = 256, random_state: Any = None) -> Quality:
        """How far Q is from the exact P, on sampled rows; O(N) memory a row."""
        from .quality import quality

        return quality(self, n_rows, random_state)

    def extend(self, X_new: Any) -> ExtendedOperator:
        """Rows for points that are not in the tree, as an operator n_new × N."""
        from .extend import extend

        return extend(self, X_new)

    def save(self, path: str | Path) -> None:
        """Write one file without pickle, which ``bvdt.load`` reads."""
        from .storage import save

        save(self, path)

    def _cached(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._cache:
            self._cache[name] = make()
        return self._cache[name]

    def _with_blocks(self, partition: BlockPartition, mean_divergence: Float) -> TransitionOperator:
        return TransitionOperator(
            self.lifted,
            self.tree,
            partition=partition,
            mean_divergence=mean_divergence,
            bandwidth=self.bandwidth,
            dtype=self.dtype,
            n_jobs=self.n_jobs,
        )

    def __repr__(self) -> str:
        lifting = self.lifted.lifting
        name = f", divergence={lifting.divergence.name!r}" if lifting is not None else ""
        return (
            f"TransitionOperator(n_points={self.shape[0]}, n_blocks={self.n_blocks}{name}, "
            f"bandwidth={self.bandwidth:.4g}, dtype={self.dtype})"
        )


class _Transpose(LinearOperator):  # type: ignore[misc]
    """Qᵀ, sharing Q's arrays."""

    def __init__(self, operator: TransitionOperator) -> None:
        super().__init__(operator.dtype, operator.shape)
        self._operator = operator

    def _matvec(self, v: Any) -> Any:
        return self._operator._rmatvec(v)

    def _matmat(self, V: Any) -> Any:
        return self._operator._rmatmat(V)

    def _rmatvec(self, v: Any) -> Any:
        return self._operator._matvec(v)

    def _rmatmat(self, V: Any) -> Any:
        return self._operator._matmat(V)

    def _transpose(self) -> LinearOperator:
        return self._operator

    def _adjoint(self) -> LinearOperator:
        return self._operator


class SymmetrizedOperator(LinearOperator):  # type: ignore[misc]
    """S = D^(−1/2)·(Q + Qᵀ)/2·D^(−1/2) with D the row sums of (Q + Qᵀ)/2; eigenvalues in [−1, 1].

    ``degrees`` is the diagonal of D; D^(1/2)·1 is the eigenvector of eigenvalue 1.
    """

    def __init__(self, operator: LinearOperator) -> None:
        super().__init__(operator.dtype, operator.shape)
        self.operator = operator
        ones = np.ones(operator.shape[0])
        self.degrees: Float = (operator @ ones + operator.T @ ones) / 2
        self._scale = 1.0 / np.sqrt(self.degrees)

    def _matmat(self, V: Any) -> Any:
        V = np.asarray(V)
        scale = self._scale.reshape(-1, *[1] * (V.ndim - 1))
        scale = scale.astype(np.result_type(self.dtype, V.dtype), copy=False)
        scaled = scale * V
        return scale * (self.operator @ scaled + self.operator.T @ scaled) / 2

    _matvec = _rmatvec = _rmatmat = _matmat

    def _transpose(self) -> LinearOperator:
        return self

    def _adjoint(self) -> LinearOperator:
        return self

    def toarray(self) -> Float:
        """S as a dense array."""
        Q = self.operator.toarray()
        return np.asarray(self._scale[:, None] * (Q + Q.T) / 2 * self._scale)


def row_values(op: TransitionOperator) -> Float:  # (N,)
    """Each row's share of ``lower_bound``: −Σ_(A,B)∈B(x_i) |B|·q_AB·(d̄_AB/β + log q_AB)."""
    q, tree = op._q, op.tree
    rows, cols = op.partition.rows, op.partition.cols
    log_q = np.log(q, out=np.zeros_like(q), where=q > 0)
    terms = -tree.size[cols] * q * (op.mean_divergence / op.bandwidth + log_q)
    at_node = np.bincount(rows, terms, minlength=tree.n_nodes).astype(np.longdouble)
    # A node's points are a range: add where it starts, take away behind its end, and run the sum.
    change = np.zeros(tree.n_points + 1, np.longdouble)
    np.add.at(change, tree.start, at_node)
    np.subtract.at(change, tree.start + tree.size, at_node)
    values = np.empty(tree.n_points)
    values[tree.order] = np.cumsum(change[:-1])
    return values
