"""A tree over distinct points: points that are equal, side by side in a tree, count as one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._support.arrays import Index, Int, Integers, Mask
from ..lifting import Lifted, row_hashes
from ..tree import Tree


@dataclass(frozen=True, eq=False)
class DistinctTree:
    """The nodes left when every node whose points are all equal becomes a leaf."""

    size: Int  # (2M−1,) distinct points of each node, in pre-order
    parent: Int  # (2M−1,)
    nodes: Index  # (2M−1,) their numbers in the whole tree


def distinct_tree(lifted: Lifted, tree: Tree) -> DistinctTree | None:
    """The tree over distinct points; None where no two neighbors in the tree are equal. O(N + nnz)."""
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
    changes = np.zeros(len(before), bool)
    for values in (lifted.u, lifted.w, *_ends(lifted)):
        changes |= values[before] != values[after]
    alike = np.flatnonzero(~changes)  # few as a rule: their rows alone are compared
    if alike.size:
        rows, place = np.unique(np.concatenate([before[alike], after[alike]]), return_inverse=True)
        key = row_hashes(lifted, rows)[place]
        changes[alike] = key[: alike.size] != key[alike.size :]
    return changes


def _ends(lifted: Lifted) -> list[Integers]:  # (N,) each
    """What equal rows share and is read at once: the first and last stored values, and where they stand."""
    if lifted.is_mixed:
        return [values for block in lifted.blocks for values in _ends(block)]
    X = lifted.X
    if not lifted.is_sparse:
        return [X[:, 0], X[:, -1]]
    if not X.nnz or not X.data.all():
        return []  # a zero may be stored in one row and left out in an equal one
    first, length = np.minimum(X.indptr[:-1], X.nnz - 1), np.diff(X.indptr)
    last = np.maximum(X.indptr[1:] - 1, 0)
    stored = length > 0  # an empty row has no ends
    ends = [np.where(stored, values[place], 0) for values in (X.indices, X.data) for place in (first, last)]
    return [length, *ends]
