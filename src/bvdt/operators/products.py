"""Products Q v and Qᵀ v from the blocks, as two small prepared forms with one method.

``docs/theory.md``, "Products": sum v up the tree, cross over in the blocks, push down. For the coarsest
partition a compiled object holds all that a product reads, laid out as ``cpp/kernels/coarsest_product.hpp``
says; for any other partition the arrays are checked at every product.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._support.arrays import Float, Int
from ..blocks import BlockPartition
from ..tree import Tree


class CoarsestProduct:
    """Q of the coarsest partition, prepared for products.

    ``subtree_points``: points swept at once, whose numbers stay in a core's cache; ``bucket_points``: those
    that one column is dealt into first. They change the speed, and the result by its rounding at most.
    """

    def __init__(
        self,
        tree: Tree,
        q: Float,  # (2N − 2,) q[k − 1] belongs to the block of node k and its sibling
        subtree_points: int = 256,
        bucket_points: int = 32_768,
    ) -> None:
        self.tree, self._limits = tree, (subtree_points, bucket_points)
        self.q = q

    def __reduce__(self) -> tuple[Any, ...]:
        """Without what was prepared: a copy prepares its own when it is first used."""
        return CoarsestProduct, (self.tree, self.q, *self._limits)

    @cached_property
    def prepared(self) -> _core.CoarsestProduct:
        return self.reordered(self.tree.order)

    def reordered(self, order: Int) -> _core.CoarsestProduct:
        """Prepared for points in another order: ``order`` has the numbers there of the tree's leaves."""
        return _core.CoarsestProduct(self.tree.size, order, self.q, *self._limits)

    @cached_property
    def symmetric(self) -> _core.CoarsestProduct:
        """(Q + Qᵀ)/2, which shares all there is."""
        return self.prepared.symmetric()

    def apply(self, v: Any, out: Any, transpose: bool, threads: int) -> None:  # (N, k), (N, k)
        """out ← Q v, or Qᵀ v."""
        self.prepared.apply(v, out, transpose, threads)


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
    if not partition.is_coarsest:
        return BlockProduct(tree, partition, q)
    product = CoarsestProduct(tree, q)
    _ = product.prepared  # now, while the operator is built: the first product is not to wait for it
    return product
