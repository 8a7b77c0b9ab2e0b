"""The symmetrised walk with its points in the order of its first tree, for many products of many columns.

Neighbours are close in that order, so a row's near field is read from cache: at 50 000 points and 32 columns
the near field's part takes 7 ms instead of 29.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Int
from .._support.running import n_threads
from ..tree import Tree
from .base import RealOperator
from .forest import ForestOperator
from .products import CoarsestProduct
from .single_tree import SERIAL
from .symmetrized import SymmetrizedOperator


class OrderedMean(RealOperator):
    """(Q + Qᵀ)/2 of a forest with a near field and coarsest partitions, points in the first tree's order."""

    def __init__(self, forest: ForestOperator) -> None:
        super().__init__(np.float64, forest.shape)
        assert forest.near is not None
        self.order = forest.tree.order
        links = forest.near.symmetric[self.order][:, self.order].tocsr()
        links.sort_indices()
        self._links = links
        place = np.empty_like(self.order)
        place[self.order] = np.arange(len(place), dtype=place.dtype)
        far = float(forest.near.far_share[0])
        self._far = [
            (
                far * weight,
                CoarsestProduct(Tree.from_sizes(member.tree.size, place[member.tree.order]), member._q),
            )
            for weight, member in zip(forest.weights, forest.members, strict=True)
        ]
        self._threads = n_threads(forest.n_jobs)

    def mean_with_transpose(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        columns = np.ascontiguousarray(V, np.float64).reshape(self.shape[0], -1)
        out, part = self._links @ columns, np.empty_like(columns)
        threads = 1 if columns.size < SERIAL else self._threads
        for weight, product in self._far:
            product.symmetric.apply(columns, part, False, threads)
            part *= weight
            out += part
        return np.asarray(out.reshape(V.shape))

    def _apply(self, V: NDArray[np.float64], transpose: bool) -> NDArray[np.float64]:
        return self.mean_with_transpose(V)


def in_tree_order(S: SymmetrizedOperator) -> tuple[SymmetrizedOperator, Int]:
    """S with its points in an order that makes products fast, and that order; as it is where none does."""
    forest = S.operator
    if (
        not isinstance(forest, ForestOperator)
        or forest.near is None
        or (forest.near.far_share != forest.near.far_share[0]).any()
        or not all(member.partition.is_coarsest for member in forest.members)
    ):
        return S, np.arange(S.shape[0], dtype=np.int32)
    mean = OrderedMean(forest)
    return S.reordered(mean, mean.order), mean.order
