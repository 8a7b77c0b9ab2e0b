"""The Laplacian of one tree's symmetrised walk, inverted in O(N).

Over the coarsest partition W = (Q + Qᵀ)/2 has one value w_P for all pairs of points that meet first at the
node P. So the Laplacian L = D − W, with D the row sums of W, has the Haar functions of the tree as
eigenvectors: for a node P with children A and B

    h_P = 1_A/|A| − 1_B/|B|,      L·h_P = ν_P·h_P,      ν_P = |P|·w_P + e_P,

where e_P, a row's probability of leaving P, is Σ w_parent(C)·|sibling of C| over P and the nodes above it but
the root. The one left is the constant, ν = 0. Hence L⁺ = Σ_P h_P·h_Pᵀ/(ν_P·‖h_P‖²), which in its turn has one
value for all pairs that meet first at P: a product with it is a product of the walk's own kind and a
diagonal. Not in the paper; it is the preconditioner of the walk's eigenvectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._support.arrays import Float, Index, Int, Mask
from ..operators import CoarsestProduct, RealOperator
from ..tree import Tree


@dataclass(frozen=True, eq=False)
class TreeLaplacian:
    """L of one tree's coarsest partition; arrays by internal node, in pre-order."""

    tree: Tree
    weight: Float  # (N − 1,) w_P

    @classmethod
    def of(cls, op: RealOperator, kept: Mask | None = None) -> TreeLaplacian | None:
        """That of an operator; None if it is not a single tree's coarsest one.

        ``kept`` (N,): of the walk on some points, in their numbers, whose tree lacks the others.
        """
        if op.near_field is not None or len(op.members) != 1 or not op.members[0].partition.is_coarsest:
            return None
        tree, q = op.members[0].tree, np.append(0.0, op.members[0].block_values)  # by node
        weight = (q[tree.left] + q[tree.right]) / 2  # −1, the last one, of a leaf: not used
        if kept is None:
            return cls(tree, weight[tree.left >= 0])
        size = tree.counts(kept)
        here = np.where(tree.left < 0, size > 0, (size[tree.left] > 0) & (size[tree.right] > 0))
        order = (np.cumsum(kept) - 1)[tree.order[kept[tree.order]]]
        return cls(Tree.from_sizes(size[here], order), weight[here & (tree.left >= 0)])

    @cached_property
    def _children(self) -> tuple[Int, Int]:
        inner = self.tree.left >= 0
        return self.tree.left[inner], self.tree.right[inner]

    @cached_property
    def _sizes(self) -> tuple[Float, Float]:
        """|A| and |B|."""
        left, right = self._children
        return self.tree.size[left].astype(float), self.tree.size[right].astype(float)

    @cached_property
    def eigenvalues(self) -> Float:  # (N − 1,)
        """ν_P. Sums of positive numbers: each is as accurate as its own size, however small."""
        (left, right), (n_a, n_b) = self._children, self._sizes
        leaving = np.zeros(self.tree.n_nodes)
        leaving[left], leaving[right] = self.weight * n_b, self.weight * n_a
        return np.asarray((n_a + n_b) * self.weight + self._above(leaving)[self.tree.left >= 0])

    def _above(self, values: Float) -> Float:  # (2N − 1,) -> (2N − 1,)
        """Each node's sum of ``values`` over itself and the nodes above; the root's is to be 0."""
        total, ancestor = values, np.maximum(self.tree.parent, 0)
        while ancestor.any():  # paths double at every turn
            total = total + total[ancestor]
            ancestor = ancestor[ancestor]
        return total

    def functions(self, chosen: Index) -> Float:  # (m,) -> (N, m)
        """Some of the h_P, scaled to length 1; numbers count internal nodes in pre-order."""
        nodes, found = (
            np.flatnonzero(self.tree.left >= 0)[chosen],
            np.zeros((self.tree.n_points, len(chosen))),
        )
        for column, node in enumerate(nodes):
            one, other = (self.tree.members(child) for child in (self.tree.left[node], self.tree.right[node]))
            found[one, column], found[other, column] = 1 / len(one), -1 / len(other)
            found[:, column] /= np.sqrt(1 / len(one) + 1 / len(other))
        return found

    def mean_over_haar(self, diagonal: Float) -> Float:  # (N,) -> (N − 1,)
        """h_Pᵀ·diag·h_P / ‖h_P‖²."""
        (left, right), (n_a, n_b) = self._children, self._sizes
        running = np.append(0.0, np.cumsum(diagonal[self.tree.order]))
        total = running[self.tree.start + self.tree.size] - running[self.tree.start]
        return np.asarray((total[left] / n_a**2 + total[right] / n_b**2) / (1 / n_a + 1 / n_b))

    def inverse(self, eigenvalues: Float) -> tuple[CoarsestProduct, Float]:  # (N − 1,) -> ., (N,)
        """Σ_P h_P·h_Pᵀ/(ν_P·‖h_P‖²) with these ν_P > 0: its values between points, and its diagonal."""
        (left, right), (n_a, n_b) = self._children, self._sizes
        share = 1.0 / (eigenvalues * (1 / n_a + 1 / n_b))
        within = np.zeros(self.tree.n_nodes)
        within[left], within[right] = share / n_a**2, share / n_b**2
        within = self._above(within)
        between = np.empty(self.tree.n_nodes)
        between[left] = between[right] = within[self.tree.left >= 0] - share / (n_a * n_b)
        diagonal = within[self.tree.leaf_nodes()]
        return CoarsestProduct(self.tree.size, self.tree.order, between[1:]), diagonal
