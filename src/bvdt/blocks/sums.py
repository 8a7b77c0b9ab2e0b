"""Mean divergences of blocks, Eq. (20), from sums over the points of nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from .. import _core
from .._support.arrays import Float, Int, Integers
from .._support.mixed import Mixed
from .._support.running import n_threads
from .._support.sparse import CSR, Points, is_sparse
from ..lifting import Lifted, pair_dots
from ..tree import Tree
from .partition import BlockPartition

_BATCH = 1 << 24  # stored values summed at once


def sums_by_node(values: Float, tree: Tree, n_jobs: int | None = None) -> Float:  # (N,) -> (2N−1,)
    """Sum of a value over the points of every node: U(A) and W(B) (theory: Block sums)."""
    return _core.node_sums(values, tree.size, tree.order, n_threads(n_jobs, 8 * tree.n_nodes))


def block_divergences(
    lifted: Lifted, tree: Tree, partition: BlockPartition, n_jobs: int | None = None
) -> Float:  # (n_blocks,)
    """Mean divergences d̄_AB = D_AB / (|A||B|) of every block, Eq. (20) in lifted form, never below 0."""
    if lifted.is_mixed:  # D_AB = |B|·U(A) + |A|·W(B) − Σ_blocks ⟨X(A), H(B)⟩
        return _of_blocks(lifted, tree, partition, n_jobs)
    if not partition.is_coarsest:
        return NodeSums.of(lifted, tree).mean_divergences(partition.rows, partition.cols, n_jobs)
    out = np.zeros(tree.n_nodes)
    U, W = sums_by_node(lifted.u, tree, n_jobs), sums_by_node(lifted.w, tree, n_jobs)
    tree_arrays = (tree.size, tree.start, tree.order) if lifted.is_sparse else (tree.size, tree.order)
    kernel: Callable[..., None] = _core.coarsest_sparse if lifted.is_sparse else _core.coarsest_dense
    kernel(*lifted.arrays, U, W, *tree_arrays, out, n_threads(n_jobs, 8 * lifted.n_values))
    return out[1:]


def _of_blocks(lifted: Lifted, tree: Tree, partition: BlockPartition, n_jobs: int | None) -> Float:
    """Of mixed points. A block's own u and w keep its kernel's result ≥ 0: ½‖x‖² and ½‖h‖² of each side."""
    rows, cols = partition.rows, partition.cols
    size = tree.size.astype(float)
    total = np.zeros(partition.n_blocks)
    left, right = lifted.u.copy(), lifted.w.copy()
    for block in lifted.blocks:
        u, w = (0.5 * _squares(part) for part in (block.X, block.H))
        own = Lifted(u, w, block.X, block.H)
        total += block_divergences(own, tree, partition, n_jobs)
        left -= u
        right -= w
    U, W = (sums_by_node(values, tree, n_jobs) / size for values in (left, right))
    return np.asarray(np.maximum(total + U[rows] + W[cols], 0.0))


def _squares(X: Points) -> Float:  # (N, d) -> (N,)
    return np.asarray(X.multiply(X).sum(axis=1)).ravel() if is_sparse(X) else np.einsum("ij,ij->i", X, X)


@dataclass(frozen=True, eq=False)
class NodeSums:
    """U, W, X and H summed over the points of every node: what any pair of nodes needs for Eq. (20).

    Dense data take 2(2N − 1)·d numbers; sparse data the non-zeros of every node's sum, about N·depth rows'
    worth. The coarsest partition does without.
    """

    size: Int  # (2N−1,)
    U: Float  # (2N−1,)
    W: Float  # (2N−1,)
    X: Points | Mixed  # (2N−1, d)
    H: Points | Mixed  # (2N−1, d)

    @classmethod
    def of(cls, lifted: Lifted, tree: Tree) -> NodeSums:
        """Sums for all nodes of a tree."""
        U, W = sums_by_node(lifted.u, tree), sums_by_node(lifted.w, tree)
        X = _node_sums(lifted.X, tree)
        H = X if lifted.H is lifted.X else _node_sums(lifted.H, tree)
        return cls(tree.size, U, W, X, H)

    def mean_divergences(
        self, rows: Integers, cols: Integers, n_jobs: int | None = None
    ) -> Float:  # (n,) ×2 -> (n,)
        """d̄_AB for chosen pairs of nodes; fastest when ``rows`` are sorted."""
        a, b = np.asarray(rows), np.asarray(cols)
        inner = pair_dots(self.X, self.H, a, b, n_jobs)
        n_a, n_b = self.size[a].astype(float), self.size[b].astype(float)
        mean = self.U[a] / n_a + self.W[b] / n_b - inner / (n_a * n_b)  # Eq. (20), lifted
        return np.asarray(np.maximum(mean, 0.0))


def _node_sums(X: Points | Mixed, tree: Tree) -> Points | Mixed:
    if isinstance(X, Mixed):
        return Mixed(_dense_node_sums(X.dense, tree), _sparse_node_sums(X.stored, tree))
    return _sparse_node_sums(X, tree) if is_sparse(X) else _dense_node_sums(X, tree)


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


def _sparse_node_sums(X: CSR, tree: Tree) -> CSR:  # CSR (N, d) -> CSR (2N−1, d)
    """A product with the membership of points in nodes, batch by batch so that Ctrl-C is answered between."""
    stored = np.concatenate([[0], np.cumsum(np.diff(X.indptr)[tree.order], dtype=np.int64)])
    work = np.cumsum(stored[tree.start + tree.size] - stored[tree.start])
    bounds = np.searchsorted(work, np.arange(_BATCH, work[-1], _BATCH))
    bounds = np.unique(np.concatenate([[0], bounds, [tree.n_nodes]]))
    parts = [_sums_of(X, tree, slice(first, last)) for first, last in pairwise(bounds)]
    indptr = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(part.indptr) for part in parts]))])
    data, indices = ([getattr(part, name) for part in parts] for name in ("data", "indices"))
    del parts
    return sparse.csr_array(
        (np.concatenate(data), np.concatenate(indices), indptr), shape=(tree.n_nodes, X.shape[1])
    )


def _sums_of(X: CSR, tree: Tree, nodes: slice) -> CSR:  # CSR (n_nodes, d)
    size, start = tree.size[nodes], tree.start[nodes]
    indptr = np.concatenate([[0], np.cumsum(size, dtype=np.int64)])
    within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], size)
    points = tree.order[np.repeat(start, size) + within]
    membership = sparse.csr_array((np.ones(len(points)), points, indptr), shape=(len(size), tree.n_points))
    sums = membership @ X
    sums.sort_indices()
    return sums
