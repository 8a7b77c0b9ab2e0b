"""Products Q v and Qᵀ v from the blocks (DESIGN 2.4), as two small prepared forms with one method.

``CoarsestProduct`` cuts the tree into maximal subtrees ("chunks") of at most 256 points. Inside a chunk of
m points the m − 1 internal nodes are numbered 0…m − 2 in pre-order and the points m − 1…2m − 2; ``child``
holds the two children of each internal node as such slots, ``weight`` the two probabilities between them.
The tree above the chunks has the same form with the chunks as its points. A kernel's sweeps are then
branch-free loops over scratch memory that stays in cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .partition import BlockPartition, Float, Int
from .tree import Tree

CHUNK_POINTS = 256


@dataclass(frozen=True, eq=False)
class CoarsestProduct:
    """Q of the coarsest partition, prepared for products; see the module's head."""

    order: Int  # (N,)
    first_leaf: Int  # (n_chunks + 1,)
    chunk: Int  # (N,) chunk of each point
    child: NDArray[np.uint16]  # (N − n_chunks, 2)
    weight: Float  # (N − n_chunks, 2)
    top_child: Int  # (n_chunks − 1, 2)
    top_weight: Float  # (n_chunks − 1, 2)

    @classmethod
    def of(cls, tree: Tree, q: Float) -> CoarsestProduct:
        """From q by node: ``q[k − 1]`` belongs to the block of node k and its sibling."""
        is_top = tree.size > CHUNK_POINTS
        internal = np.flatnonzero(tree.left >= 0)
        top, inner = internal[is_top[internal]], internal[~is_top[internal]]
        roots = np.flatnonzero(~is_top & is_top[tree.parent] if is_top[0] else tree.parent < 0)
        first_leaf = np.append(tree.start[roots], tree.n_points).astype(np.int32)
        # Slot of a node in its chunk: pre-order rank among the chunk's internal nodes, or after them its
        # leaf's.
        chunk = np.searchsorted(roots, np.arange(tree.n_nodes), side="right") - 1
        leaf = tree.start - first_leaf[chunk]
        rank = np.arange(tree.n_nodes) - roots[chunk] - leaf
        slot = np.where(tree.left >= 0, rank, tree.size[roots[chunk]] - 1 + leaf)
        top_slot = np.empty(tree.n_nodes, np.int64)
        top_slot[top] = np.arange(len(top))
        top_slot[roots] = len(top) + np.arange(len(roots))

        def children(nodes: NDArray[np.intp], slots: NDArray[Any], dtype: Any) -> Any:
            return np.stack([slots[tree.left[nodes]], slots[tree.right[nodes]]], axis=1).astype(dtype)

        chunk_of_point = np.empty(tree.n_points, np.int32)
        chunk_of_point[tree.order] = np.repeat(np.arange(len(roots), dtype=np.int32), tree.size[roots])
        q_of = np.append(0.0, q)
        return cls(
            tree.order,
            first_leaf,
            chunk_of_point,
            children(inner, slot, np.uint16),
            children(inner, q_of, np.float64),
            children(top, top_slot, np.int32),
            children(top, q_of, np.float64),
        )

    def apply(self, v: Any, out: Any, transpose: bool, threads: int) -> None:  # (N, k), (N, k)
        """out ← Q v, or Qᵀ v."""
        plan = (
            self.order,
            self.first_leaf,
            self.chunk,
            self.child,
            self.weight,
            self.top_child,
            self.top_weight,
        )
        _core.product_coarsest(*plan, v, out, transpose, threads)


@dataclass(frozen=True, eq=False)
class BlockProduct:
    """Q of any partition, prepared for products: its blocks grouped by row node, and by column node."""

    tree: Tree
    partition: BlockPartition
    q: Float

    @cached_property
    def _by_column(self) -> tuple[NDArray[np.int64], Int, Float]:
        by_column = np.lexsort((self.partition.rows, self.partition.cols))
        nodes = np.arange(self.tree.n_nodes + 1)
        first = np.searchsorted(self.partition.cols[by_column], nodes).astype(np.int64)
        return first, self.partition.rows[by_column], self.q[by_column]

    def apply(self, v: Any, out: Any, transpose: bool, threads: int) -> None:  # (N, k), (N, k)
        """out ← Q v, or Qᵀ v."""
        by_row = (self.partition.first, self.partition.cols, self.q)
        blocks = self._by_column if transpose else by_row
        _core.product_blocks(self.tree.size, self.tree.parent, self.tree.order, *blocks, v, out, threads)


def prepare(tree: Tree, partition: BlockPartition, q: Float) -> CoarsestProduct | BlockProduct:
    """The faster of the two forms that fits the partition."""
    return CoarsestProduct.of(tree, q) if partition.is_coarsest else BlockProduct(tree, partition, q)
