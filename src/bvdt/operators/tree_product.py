"""Products Q·V and Qᵀ·V of one tree's blocks, as two prepared forms with one method.

``docs/theory.md``, "Products": sum v up the tree, cross over in the blocks, push down (Amizadeh et al. 2012).
For the coarsest partition a compiled object holds all that a product reads, laid out as
``cpp/kernels/coarsest_product.hpp`` says; for any other partition the arrays are checked at every product.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .. import _core
from .._support.arrays import Float, Int, Long, Numbers
from .._support.running import n_threads
from .._support.values import Value
from ..blocks import BlockPartition
from ..tree import Tree
from .base import Side


@dataclass(frozen=True, eq=False)
class CoarsestProduct(Value):
    """Q of the coarsest partition, prepared for products.

    ``subtree_points`` are swept at once, so that their numbers stay in a core's cache; how many there are
    changes the result by its rounding at most.
    """

    size: Int  # (2N − 1,)
    order: Int  # (N,) row of each leaf
    q: Float  # (2N − 2,) q[k − 1] belongs to the block of node k and its sibling
    subtree_points: int = 256

    @cached_property
    def prepared(self) -> _core.CoarsestProduct:
        return _core.CoarsestProduct(self.size, self.order, self.q, self.subtree_points)

    @cached_property
    def mean(self) -> _core.CoarsestProduct:
        """(Q + Qᵀ)/2, which shares all there is."""
        return self.prepared.symmetric()

    def apply(self, V: Numbers, side: Side, out: Numbers, n_jobs: int | None) -> Numbers:  # (N, k), (N, k)
        """out ← Q·V, Qᵀ·V or their mean."""
        product = self.mean if side == "mean" else self.prepared
        threads = n_threads(n_jobs, 4.0 * V.size)
        product.apply(V, out, side == "transpose", threads)
        return out

    def moved(self, place: Int) -> CoarsestProduct:
        """The same with row i as row ``place[i]``."""
        return replace(self, order=place[self.order])


@dataclass(frozen=True, eq=False)
class BlockProduct(Value):
    """Q of any partition, prepared for products: its blocks grouped by row node, and by column node."""

    tree: Tree
    order: Int  # (N,) row of each leaf
    partition: BlockPartition
    q: Float

    @cached_property
    def _by_column(self) -> tuple[Long, Int, Float]:
        by_column = np.lexsort((self.partition.rows, self.partition.cols))
        nodes = np.arange(self.tree.n_nodes + 1)
        first = np.searchsorted(self.partition.cols[by_column], nodes).astype(np.int64)
        return first, self.partition.rows[by_column], self.q[by_column]

    def apply(self, V: Numbers, side: Side, out: Numbers, n_jobs: int | None) -> Numbers:  # (N, k), (N, k)
        """out ← Q·V, Qᵀ·V or their mean."""
        if side == "mean":
            forward = self.apply(V, "forward", np.empty_like(V), n_jobs)
            out = self.apply(V, "transpose", out, n_jobs)
            return np.divide(np.add(out, forward, out=out), 2, out=out)
        blocks = (self.partition.first, self.partition.cols, self.q) if side == "forward" else self._by_column
        threads = n_threads(n_jobs, 4.0 * V.size)
        _core.product_blocks(self.tree.size, self.tree.parent, self.order, *blocks, V, out, threads)
        return out

    def moved(self, place: Int) -> BlockProduct:
        """The same with row i as row ``place[i]``."""
        return replace(self, order=place[self.order])


TreeProduct = CoarsestProduct | BlockProduct


def prepared(tree: Tree, partition: BlockPartition, q: Float) -> TreeProduct:
    """The faster of the two forms that fits the partition."""
    if not partition.is_coarsest:
        return BlockProduct(tree, tree.order, partition, q)
    product = CoarsestProduct(tree.size, tree.order, q)
    _ = product.prepared  # now, while the operator is built: the first product is not to wait for it
    return product
