"""Block partitions of the transition matrix (paper 2.2).

A block (A, B) is a pair of nodes without a common point; all |A|·|B| entries of a block share one
probability. In a valid partition every ordered pair of distinct points lies in exactly one block. The
coarsest one pairs each node with its sibling: 2(N − 1) blocks, block ``k − 1`` being (k, sibling of k).
Every valid partition is a refinement of it.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.arrays import Float, Int
from ..tree import Tree


@dataclass(frozen=True, eq=False)
class BlockPartition:
    """Blocks (rows[b], cols[b]), sorted by row node, then by column node; ``q`` once they are optimised.

    Examples
    --------
    >>> import bvdt
    >>> X = [[0.0], [1.0], [3.0], [4.5]]
    >>> op = bvdt.transition_matrix(X, "squared_euclidean", bandwidth=1.0, random_state=0)
    >>> op.partition.n_blocks, len(op.partition.rows)
    (6, 6)
    >>> op.partition.validate(op.tree)
    BlockPartition(n_blocks=6, n_points=4)
    """

    rows: Int  # (n_blocks,) node A
    cols: Int  # (n_blocks,) node B
    n_nodes: int
    # (n_blocks,) q_AB, the probability of each single entry of the block
    q: Float | None = None

    _of: ClassVar[Tree | None] = None  # of an instance: the tree whose pairs of points it is known to cover

    def __post_init__(self) -> None:
        for name in ("rows", "cols"):
            nodes = np.asarray(getattr(self, name))
            if nodes.ndim != 1 or nodes.dtype.kind not in "iu":
                needed = "integers, a node per block"
                raise ValueError(
                    f"BlockPartition.{name} needs {needed}; it is {nodes.dtype} of {nodes.shape}"
                )
            if nodes.dtype != np.int32 and nodes.size and not -1 < nodes.min() <= nodes.max() < self.n_nodes:
                raise ValueError(f"BlockPartition.{name} needs nodes 0…{self.n_nodes - 1}; it has others")
            object.__setattr__(self, name, np.ascontiguousarray(nodes, np.int32))

    @classmethod
    def coarsest(cls, tree: Tree) -> BlockPartition:
        """Each node with its sibling: the 2(N − 1) blocks of which all valid partitions are refinements."""
        rows = np.arange(1, tree.n_nodes, dtype=np.int32)
        return cls(rows, tree.siblings()[1:], tree.n_nodes).known_for(tree)

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
        other = copy.copy(self)
        vars(other)["q"] = q
        return other

    def known_for(self, tree: Tree) -> BlockPartition:
        """Itself, unchangeable and taken for valid from now on: for blocks split from those of valid ones."""
        self.rows.flags.writeable = self.cols.flags.writeable = False
        vars(self)["_of"] = tree
        return self

    def ensured(self, tree: Tree) -> BlockPartition:
        """Itself, validated unless it is known to be valid."""
        return self if self._of is tree else self.validate(tree)

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
