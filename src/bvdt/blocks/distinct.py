"""A tree over distinct points: points that are equal, side by side in a tree, count as one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._support.arrays import Index, Int, Mask
from ..lifting import Lifted, row_hashes
from ..tree import Tree


@dataclass(frozen=True, eq=False)
class DistinctTree:
    """The nodes left when every node whose points are all equal becomes a leaf."""

    size: Int  # (2M−1,) distinct points of each node, in pre-order
    parent: Int  # (2M−1,)
    nodes: Index  # (2M−1,) their numbers in the whole tree


def distinct_tree(lifted: Lifted, tree: Tree) -> DistinctTree | None:
    """The tree over distinct points; None where no two neighbours in the tree are equal. O(N + nnz)."""
    changes = _changes(lifted, tree.order)
    if changes.all():
        return None
    running = np.concatenate([[0], np.cumsum(changes)])  # changes before each place in the order
    first, last = tree.start.astype(np.intp), tree.start.astype(np.intp) + tree.size - 1
    alike = running[first] == running[last]
    kept = np.ones(tree.n_nodes, bool)
    kept[1:] = ~alike[tree.parent[1:]]
    nodes = np.flatnonzero(kept)
    leaves = np.concatenate([[0], np.cumsum(kept & alike)])
    size = leaves[nodes + 2 * tree.size[nodes].astype(np.intp) - 1] - leaves[nodes]
    number = np.cumsum(kept) - 1
    parent = np.where(nodes > 0, number[tree.parent[nodes]], tree.parent[0])
    return DistinctTree(size.astype(np.int32), parent.astype(np.int32), nodes)


def _changes(lifted: Lifted, order: Int) -> Mask:  # (N − 1,)
    """Whether a point differs from the one before it in the tree's order."""
    before, after = order[:-1], order[1:]
    changes = np.asarray((lifted.u[before] != lifted.u[after]) | (lifted.w[before] != lifted.w[after]))
    alike = np.flatnonzero(~changes)  # few as a rule: their rows alone are compared
    if alike.size:
        rows, place = np.unique(np.concatenate([before[alike], after[alike]]), return_inverse=True)
        key = row_hashes(lifted, rows)[place]
        changes[alike] = key[: alike.size] != key[alike.size :]
    return changes
