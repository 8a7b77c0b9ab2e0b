"""Products Q v and Qᵀ v from the blocks (theory: Products), as two small prepared forms with one method.

``CoarsestProduct`` cuts the tree into maximal subtrees ("chunks") of at most 256 points. Inside a chunk of
m points the m − 1 internal nodes are numbered 0…m − 2 by falling size and the points m − 1…2m − 2; ``child``
holds the two children of each internal node as such slots, ``weight`` the two probabilities between them.
The tree above the chunks has the same form with the chunks as its points. A kernel's sweeps are then
branch-free loops over scratch memory that stays in cache.

``Buckets`` is for one column alone, which random access to single numbers would slow down: consecutive
chunks with together N/16 points, but at most about 32 768, whose numbers stay in cache, are a bucket. Points,
in ranges that threads can take, are dealt into the buckets in order; ``slot`` is where a leaf finds its
number in its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._support.arrays import Float, Int
from ..blocks import BlockPartition
from ..tree import Tree

CHUNK_POINTS = 256
BUCKET_POINTS = 32_768  # at most 65 536 − CHUNK_POINTS, for slots of 16 bits
SHARES = 16  # at least so many ranges, for the threads


@dataclass(frozen=True, eq=False)
class Buckets:
    """Points dealt into buckets of consecutive chunks; see the module's head."""

    of_point: NDArray[np.uint16]  # (N,)
    slot: NDArray[np.uint16]  # (N,) of each leaf in its bucket
    first_chunk: Int  # (n_buckets + 1,)
    start: Int  # (n_ranges, n_buckets) place of the first of a range's points in each bucket

    @classmethod
    def of(cls, order: Int, first_leaf: Int, chunk: Int) -> Buckets:
        n_points = len(order)
        n_ranges = max(SHARES, -(-n_points // BUCKET_POINTS))
        range_points = -(-n_points // n_ranges)
        of_chunk = np.unique(first_leaf[:-1] // range_points, return_inverse=True)[1].astype(np.uint16)
        n_buckets = int(of_chunk[-1]) + 1
        first_chunk = np.searchsorted(of_chunk, np.arange(n_buckets + 1)).astype(np.int32)
        of_point = of_chunk[chunk]
        place = np.empty(n_points, np.int32)
        place[np.argsort(of_point, kind="stable")] = np.arange(n_points, dtype=np.int32)
        first_place = first_leaf[first_chunk[:-1]]
        slot = place[order] - np.repeat(first_place, np.diff(first_leaf[first_chunk]))
        cell = np.arange(n_points) // range_points * n_buckets + of_point
        counts = np.bincount(cell, minlength=n_ranges * n_buckets).reshape(n_ranges, n_buckets)
        start = first_place + np.cumsum(counts, axis=0) - counts
        return cls(of_point, slot.astype(np.uint16), first_chunk, start.astype(np.int32))


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
        top, inner = np.flatnonzero(is_top), np.flatnonzero(~is_top & (tree.left >= 0))
        roots = np.flatnonzero(~is_top & is_top[tree.parent] if is_top[0] else tree.parent < 0)
        first_leaf = np.append(tree.start[roots], tree.n_points).astype(np.int32)
        # Slot of a node in its chunk: rank by size among the internal nodes, or after them its leaf's. A
        # parent is larger than its children, and unlike in pre-order neighbours seldom are parent and child:
        # a sweep does not wait for the value it has just written.
        chunk = np.zeros(tree.n_nodes, np.int32)  # running number of the last root up to each node
        chunk[roots] = 1
        np.cumsum(chunk, out=chunk)
        chunk -= 1
        inner = inner[np.argsort(chunk[inner] * np.int64(CHUNK_POINTS) - tree.size[inner], kind="stable")]
        slot = tree.start + (tree.size[roots] - 1 - first_leaf[:-1])[chunk]
        slot[inner] = np.arange(len(inner)) - (first_leaf[chunk[inner]] - chunk[inner])
        top_slot = np.empty(tree.n_nodes, np.int32)
        top_slot[top] = np.arange(len(top))
        top_slot[roots] = len(top) + np.arange(len(roots))

        def children(nodes: NDArray[np.intp], values: NDArray[Any], dtype: Any, first_node: int = 0) -> Any:
            both = np.empty((len(nodes), 2), dtype)
            for column, child in enumerate((tree.left, tree.right)):
                both[:, column] = values[child[nodes] - first_node]
            return both

        chunk_of_point = np.empty(tree.n_points, np.int32)
        chunk_of_point[tree.order] = np.repeat(np.arange(len(roots), dtype=np.int32), tree.size[roots])
        return cls(
            tree.order,
            first_leaf,
            chunk_of_point,
            children(inner, slot, np.uint16),
            children(inner, q, np.float64, first_node=1),
            children(top, top_slot, np.int32),
            children(top, q, np.float64, first_node=1),
        )

    @cached_property
    def symmetric(self) -> CoarsestProduct:
        """(Q + Qᵀ)/2 in the same form: its block of a node and its sibling is the transpose of the other."""

        def mean(weight: Float) -> Float:
            return np.repeat(weight.mean(axis=1, keepdims=True), 2, axis=1)

        other = replace(self, weight=mean(self.weight), top_weight=mean(self.top_weight))
        vars(other)["buckets"] = self.buckets  # the same points in the same places
        return other

    @cached_property
    def buckets(self) -> Buckets:
        """Made for the first product with one column."""
        return Buckets.of(self.order, self.first_leaf, self.chunk)

    def apply(self, v: Any, out: Any, transpose: bool, threads: int) -> None:  # (N, k), (N, k)
        """out ← Q v, or Qᵀ v."""
        top = (self.top_child, self.top_weight)
        plan = (self.first_leaf, self.chunk, self.child, self.weight, *top)
        if v.shape[1] != 1:
            _core.product_coarsest(self.order, *plan, v, out, transpose, threads)
            return
        by = self.buckets
        dealt = (by.of_point, by.slot, by.first_chunk, by.start)
        _core.product_column(*plan, *dealt, v[:, 0], out[:, 0], transpose, threads)


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
