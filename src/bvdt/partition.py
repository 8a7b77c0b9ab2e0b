"""Block partitions of the transition matrix (paper 2.2) and their mean divergences, Eq. (20).

A block (A, B) is a pair of nodes without a common point; all |A|·|B| entries of a block share one
probability. In a valid partition every ordered pair of distinct points lies in exactly one block. The
coarsest one pairs each node with its sibling: 2(N − 1) blocks, block ``k − 1`` being (k, sibling of k).
Every valid partition is a refinement of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._running import n_threads
from ._scipy import issparse, scipy
from .lift import Lifted
from .tree import Tree

Float = NDArray[np.float64]
Int = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class BlockPartition:
    """Blocks (rows[b], cols[b]), sorted by row node, then by column node; ``q`` once they are optimised."""

    rows: Int  # (n_blocks,) node A
    cols: Int  # (n_blocks,) node B
    n_nodes: int
    q: Float | None = None  # (n_blocks,) q_AB, the probability of each single entry of the block

    @classmethod
    def coarsest(cls, tree: Tree) -> BlockPartition:
        """Each node with its sibling: the 2(N − 1) blocks of which all valid partitions are refinements."""
        rows = np.arange(1, tree.n_nodes, dtype=np.int32)
        return cls(rows, tree.siblings()[1:], tree.n_nodes)

    @classmethod
    def singletons(cls, tree: Tree) -> BlockPartition:
        """Every leaf with every other leaf: N(N − 1) blocks, the finest partition, for which Q is P."""
        leaves = np.flatnonzero(tree.left < 0)
        rows, cols = np.meshgrid(leaves, leaves, indexing="ij")
        return cls.from_pairs(rows[rows != cols], cols[rows != cols], tree.n_nodes)

    @classmethod
    def from_pairs(cls, rows: ArrayLike, cols: ArrayLike, n_nodes: int) -> BlockPartition:
        """Partition from blocks in any order."""
        rows, cols = np.asarray(rows, np.int32), np.asarray(cols, np.int32)
        by_row = np.lexsort((cols, rows))
        return cls(rows[by_row], cols[by_row], n_nodes)

    @property
    def n_blocks(self) -> int:
        return len(self.rows)

    @property
    def is_coarsest(self) -> bool:
        """Whether it has the fewest blocks a valid partition can have; only the coarsest one does."""
        return self.n_blocks == self.n_nodes - 1

    @cached_property
    def first(self) -> NDArray[np.int64]:  # (n_nodes + 1,)
        """Blocks of row node k are ``first[k] : first[k + 1]``."""
        return np.searchsorted(self.rows, np.arange(self.n_nodes + 1)).astype(np.int64)

    def with_q(self, q: Float) -> BlockPartition:
        """The same blocks, optimised."""
        return replace(self, q=q)

    def validate(self, tree: Tree) -> BlockPartition:
        """Returns itself, or raises ValueError unless each ordered pair of points is in exactly one block.

        O(N + n_blocks), by fingerprints: give each point a random 64-bit weight; a row is covered exactly
        once if and only if its blocks' weights add up to those of all other points (mod 2⁶⁴), but for a
        chance of about 2⁻⁶⁰. The row's sums come from differences of running sums, as a node is a range of
        points.
        """
        if self.rows.shape != self.cols.shape or self.n_nodes != tree.n_nodes:
            raise ValueError(f"BlockPartition of {self.n_nodes} nodes does not fit a tree of {tree.n_nodes}")
        for name, nodes in (("rows", self.rows), ("cols", self.cols)):
            if nodes.size and not (nodes.min() >= 0 and nodes.max() < tree.n_nodes):
                raise ValueError(f"BlockPartition.{name} needs nodes 0…{tree.n_nodes - 1}; it has others")
        if (np.diff(self.rows) < 0).any():
            raise ValueError("BlockPartition.rows needs to ascend; use BlockPartition.from_pairs")
        weight = np.random.default_rng(0).integers(0, 2**64, tree.n_points, dtype=np.uint64)
        total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(weight, dtype=np.uint64)])
        start, end = tree.start.astype(np.intp), tree.start.astype(np.intp) + tree.size
        of_block = total[end[self.cols]] - total[start[self.cols]]
        change = np.zeros(tree.n_points + 1, np.uint64)
        np.add.at(change, start[self.rows], of_block)
        np.subtract.at(change, end[self.rows], of_block)
        covered = np.cumsum(change[:-1], dtype=np.uint64)
        wrong = np.flatnonzero(covered != total[-1] - weight)
        if wrong.size:
            point = int(tree.order[wrong[0]])
            raise ValueError(f"blocks need to cover each pair of points exactly once; row {point} is not")
        return self

    def __repr__(self) -> str:
        return f"BlockPartition(n_blocks={self.n_blocks}, n_points={(self.n_nodes + 1) // 2})"


def sums_by_node(values: Float, tree: Tree, n_jobs: int | None = None) -> Float:  # (N,) -> (2N−1,)
    """Sum of a value over the points of every node: U(A) and W(B) of ``docs/theory.md``, "Block sums"."""
    return _core.node_sums(values, tree.size, tree.order, n_threads(n_jobs))


def block_divergences(
    lifted: Lifted, tree: Tree, partition: BlockPartition, n_jobs: int | None = None
) -> Float:  # (n_blocks,)
    """Mean divergences d̄_AB = D_AB / (|A||B|) of every block, Eq. (20) in lifted form, never below 0."""
    if not partition.is_coarsest:
        return NodeSums.of(lifted, tree).mean_divergences(partition.rows, partition.cols, n_jobs)
    out = np.zeros(tree.n_nodes)
    U, W = sums_by_node(lifted.u, tree, n_jobs), sums_by_node(lifted.w, tree, n_jobs)
    tree_arrays = (tree.size, tree.start, tree.order) if lifted.is_sparse else (tree.size, tree.order)
    kernel: Any = _core.coarsest_sparse if lifted.is_sparse else _core.coarsest_dense
    kernel(*lifted.arrays, U, W, *tree_arrays, out, n_threads(n_jobs))
    return out[1:]


@dataclass(frozen=True, eq=False)
class NodeSums:
    """U, W, X and H summed over the points of every node: what any pair of nodes needs for Eq. (20).

    Dense data take 2(2N − 1)·d numbers; sparse data the non-zeros of every node's sum, about N·depth rows'
    worth. The coarsest partition does without.
    """

    size: Int  # (2N−1,)
    U: Float  # (2N−1,)
    W: Float  # (2N−1,)
    X: Any  # (2N−1, d)
    H: Any  # (2N−1, d)

    @classmethod
    def of(cls, lifted: Lifted, tree: Tree) -> NodeSums:
        """Sums for all nodes of a tree."""
        U, W = sums_by_node(lifted.u, tree), sums_by_node(lifted.w, tree)
        sums = _sparse_node_sums if lifted.is_sparse else _dense_node_sums
        X = sums(lifted.X, tree)
        H = X if lifted.H is lifted.X else sums(lifted.H, tree)
        return cls(tree.size, U, W, X, H)

    def mean_divergences(
        self, rows: NDArray[Any], cols: NDArray[Any], n_jobs: int | None = None
    ) -> Float:  # (n,) ×2 -> (n,)
        """d̄_AB for chosen pairs of nodes; fastest when ``rows`` are sorted."""
        a, b = np.asarray(rows), np.asarray(cols)
        inner = pair_dots(self.X, self.H, a, b, n_jobs)
        n_a, n_b = self.size[a].astype(float), self.size[b].astype(float)
        mean = self.U[a] / n_a + self.W[b] / n_b - inner / (n_a * n_b)  # Eq. (20), lifted
        return np.asarray(np.maximum(mean, 0.0))


def _dense_node_sums(X: Float, tree: Tree) -> Float:  # (N, d) -> (2N−1, d)
    sums = np.empty((tree.n_nodes, X.shape[1]))
    sums[tree.leaf_nodes()] = X
    depths = tree.depths()
    internal = np.flatnonzero(tree.left >= 0)
    deepest_first = internal[np.argsort(-depths[internal], kind="stable")]
    levels = np.flatnonzero(np.diff(depths[deepest_first])) + 1
    for nodes in np.split(deepest_first, levels):
        sums[nodes] = sums[tree.left[nodes]] + sums[tree.right[nodes]]
    return sums


def _sparse_node_sums(X: Any, tree: Tree) -> Any:  # CSR (N, d) -> CSR (2N−1, d)
    indptr = np.concatenate([[0], np.cumsum(tree.size, dtype=np.int64)])
    within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], tree.size)
    points = tree.order[np.repeat(tree.start, tree.size) + within]
    membership = scipy.sparse.csr_array(
        (np.ones(len(points)), points, indptr), shape=(tree.n_nodes, tree.n_points)
    )
    sums = membership @ X
    sums.sort_indices()
    return sums


def pair_dots(X: Any, H: Any, a: NDArray[Any], b: NDArray[Any], n_jobs: int | None) -> Float:
    """⟨X[a[e]], H[b[e]]⟩ for each pair e; X and H both dense or both CSR; fastest when ``a`` is sorted."""
    out = np.empty(len(a))
    pairs = np.ascontiguousarray(a, np.int32), np.ascontiguousarray(b, np.int32)
    is_sparse = issparse(X)
    arrays = (*_csr_arrays(X), *_csr_arrays(H), X.shape[1]) if is_sparse else (X, H)
    kernel: Any = _core.pair_dots_sparse if is_sparse else _core.pair_dots_dense
    kernel(*arrays, *pairs, out, n_threads(n_jobs))
    return out


def _csr_arrays(X: Any) -> tuple[Any, ...]:
    return X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False), X.data
