"""The transition matrix Q as a SciPy linear operator: memory O(N), time O(N) per column."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .. import _core
from .._support.arrays import Float, Int, Numbers
from .._support.running import n_threads
from ..blocks import (
    BlockPartition,
    Curve,
    block_divergences,
    bound_curve,
    coarsest_curve,
    distinct_tree,
    effective_dimension,
    optimum,
    refined_blocks,
    resolve_bandwidth,
)
from ..divergences.family import GAUSSIAN
from ..lifting import Lifted
from ..tree import Tree
from .base import Side
from .tree_product import prepared
from .walk import WalkOperator, check_dtype

if TYPE_CHECKING:
    from .forest import ForestOperator


class TransitionOperator(WalkOperator):
    """Row-stochastic N×N matrix Q with one probability q_AB per block: maximiser of Eq. (18) under Eq. (3).

    ``op @ v`` and ``op.T @ v`` cost O(N + n_blocks) per column; the operator works in
    ``scipy.sparse.linalg``'s eigs, gmres and so on as it is. It never changes: ``refine``, ``astype`` and the
    others return new objects.

    Attributes
    ----------
    tree, lifted : the cluster tree and the data in lifted form.
    partition : the blocks, with ``rows``, ``cols`` (nodes) and ``q``.
    mean_divergence : (n_blocks,) d̄_AB, not divided by the bandwidth.
    bandwidth : β of p_ij ∝ exp(−d_ij / β).
    lower_bound : Eq. (18) without its constant, summed over the rows.

    Examples
    --------
    >>> import bvdt
    >>> X = [[0.0], [1.0], [3.0], [4.5]]
    >>> op = bvdt.transition_matrix(X, "squared_euclidean", bandwidth=1.0, random_state=0)
    >>> op.bandwidth, op.partition.n_blocks, op.refine(8).n_blocks
    (1.0, 6, 8)
    >>> op.row(0).round(3)
    array([0.   , 0.989, 0.006, 0.006])
    """

    partition: BlockPartition

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
        tree.ensured()
        partition = BlockPartition.coarsest(tree) if partition is None else partition.ensured(tree)
        if mean_divergence is None:
            mean_divergence = block_divergences(lifted, tree, partition, n_jobs)
        elif np.shape(mean_divergence) != (partition.n_blocks,) or not np.all(mean_divergence >= 0):
            raise ValueError(
                f"mean_divergence needs {partition.n_blocks} values ≥ 0, one per block; "
                f"its shape is {np.shape(mean_divergence)}"
            )
        self.lifted, self.tree, self.n_jobs = lifted, tree, n_jobs
        self.mean_divergence = mean_divergence  # (n_blocks,) d̄_AB, not divided by the bandwidth
        self.bandwidth = _resolved_bandwidth(bandwidth, lifted, tree, partition, mean_divergence, n_jobs)
        solution = optimum(mean_divergence, tree, partition, self.bandwidth, n_jobs)
        q, self.lower_bound = solution.q, solution.lower_bound
        self.product = prepared(tree, partition, q)
        self.partition = partition.with_q(q)
        self._cache: dict[str, object] = {}

    @property
    def members(self) -> tuple[TransitionOperator, ...]:  # type: ignore[override]
        return (self,)

    def apply(self, V: Numbers, side: Side, out: Numbers | None = None) -> Numbers:
        """See the base; one tree needs no order of its own."""
        return self.product.apply(V, side, np.empty_like(V) if out is None else out, self.n_jobs)

    def astype(self, dtype: DTypeLike) -> TransitionOperator:
        """The same operator with results in float32 for float32 vectors; sums inside stay in float64."""
        other = copy.copy(self)
        other.dtype = check_dtype(dtype)
        return other

    # -- entries ------------------------------------------------------------------------------------------

    @property
    def n_blocks(self) -> int:
        return self.partition.n_blocks

    @cached_property
    def _leaf(self) -> Int:  # (N,)
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
        n_points, i = self.shape[0], self._checked_row(i)
        blocks = self._blocks_of(i)
        cols = self.partition.cols[blocks]
        in_order = np.argsort(self.tree.start[cols])  # side by side they cover all points but i
        values = np.repeat(self._q[blocks[in_order]], self.tree.size[cols[in_order]])
        row = np.zeros(n_points)
        row[np.delete(self.tree.order, self.tree.start[self._leaf[i]])] = values
        return row

    @property
    def block_values(self) -> Float:  # (n_blocks,)
        """q_AB of each block."""
        return self._q

    @property
    def _q(self) -> Float:
        q = self.partition.q
        assert q is not None
        return q

    def row_values(self) -> Float:  # (N,)
        """Each row's share of ``lower_bound``."""
        return self.cached("row_values", lambda: row_values(self))

    # -- what the others do -------------------------------------------------------------------------------

    def refine(self, n_blocks: int) -> TransitionOperator:
        """An operator with exactly that many blocks, split where the bound gains (theory: Refinement)."""
        if n_blocks == self.n_blocks:
            return self
        finer = refined_blocks(
            self.lifted,
            self.tree,
            self.partition,
            self.mean_divergence,
            self.bandwidth,
            n_blocks,
            self.n_jobs,
        )
        return self._with_blocks(*finer, self.bandwidth)

    def with_bandwidth(self, bandwidth: float) -> TransitionOperator:
        """An operator of the same blocks at another bandwidth."""
        return self._with_blocks(self.partition, self.mean_divergence, bandwidth)

    def add_trees(self, n_trees: int, random_state: Any = None) -> ForestOperator:
        """A forest of this tree and ``n_trees`` Ward trees more, at this bandwidth (theory: A forest)."""
        from .forest import ForestOperator, seed_from

        return ForestOperator((self,), seed=seed_from(random_state)).add_trees(n_trees)

    def _with_blocks(
        self, partition: BlockPartition, mean_divergence: Float, bandwidth: float
    ) -> TransitionOperator:
        return TransitionOperator(
            self.lifted,
            self.tree,
            partition=partition,
            mean_divergence=mean_divergence,
            bandwidth=bandwidth,
            dtype=self.dtype,
            n_jobs=self.n_jobs,
        )

    def __repr__(self) -> str:
        return self._describe("TransitionOperator")


def _resolved_bandwidth(
    bandwidth: float | str,
    lifted: Lifted,
    tree: Tree,
    partition: BlockPartition,
    mean_divergence: Float,
    n_jobs: int | None,
) -> float:
    """The bandwidth as a number; "auto" looks at the distinct points only."""
    if not isinstance(bandwidth, str):
        return resolve_bandwidth(bandwidth, lifted, mean_divergence, _no_curve)
    distinct = distinct_tree(lifted, tree) if bandwidth == "auto" and partition.is_coarsest else None
    dbar = mean_divergence if distinct is None else mean_divergence[distinct.nodes[1:] - 1]
    # In units of the usual divergence, a power of 2 so that nothing is rounded: squares stay in range.
    positive, unit = dbar[dbar > 0], 1.0
    if positive.size and (bandwidth == "auto" or effective_dimension(lifted)[1] is GAUSSIAN):
        unit = float(2.0 ** np.round(np.log2(np.median(positive))))
    dbar = dbar / unit

    def curve(beta: float) -> Curve:
        if distinct is None:
            return bound_curve(dbar, tree, partition, beta, n_jobs)
        return coarsest_curve(distinct.size, distinct.parent, dbar, beta, n_jobs)

    return float(unit * resolve_bandwidth(bandwidth, lifted, dbar, curve))


def _no_curve(beta: float) -> Curve:
    raise AssertionError("a number needs no search")


def row_values(op: TransitionOperator) -> Float:  # (N,)
    """Each row's share of ``lower_bound``: −Σ_(A,B)∈B(x_i) |B|·q_AB·(d̄_AB/β + log q_AB)."""
    q, tree = op._q, op.tree
    rows, cols = op.partition.rows, op.partition.cols
    log_q = np.log(q, out=np.zeros_like(q), where=q > 0)
    terms = -tree.size[cols] * q * (op.mean_divergence / op.bandwidth + log_q)
    at_node = np.bincount(rows, terms, minlength=tree.n_nodes).astype(np.float64, copy=False)
    return _core.path_sums(at_node, tree.size, tree.order, n_threads(op.n_jobs, 8 * tree.n_nodes))
