"""Bounded depth: the few paths that are too long are rebuilt as weight-balanced trees.

Ward's tree is shallow on ordinary data, but points whose distances grow geometrically make it a
caterpillar. A heavy path (always into the larger child) with light subtrees t_1 … t_m hanging off it is a
sequence; cut at its middle by weight, again and again, it becomes a tree of depth O(log) that keeps
neighbors in the sequence near each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .structure import Tree


def limit_depth(tree: Tree, most: int) -> Tree:
    """The tree itself when no leaf lies deeper than ``most``, else one with the offending paths rebuilt."""
    if tree.depth <= most:
        return tree
    height = _heights(tree)
    size: list[ArrayLike] = []
    order: list[ArrayLike] = []
    work: list[tuple[list[int], int]] = [([0], 0)]  # sequences of subtrees still to be written, in pre-order
    while work:
        sequence, depth = work.pop()
        if len(sequence) > 1:
            cut = _weighted_middle(tree.size[sequence])
            size.append([int(tree.size[sequence].sum())])
            work.append((sequence[cut:], depth + 1))
            work.append((sequence[:cut], depth + 1))
            continue
        node = sequence[0]
        if depth + height[node] <= most or tree.size[node] == 1:
            size.append(tree.size[node : node + 2 * tree.size[node] - 1])
            order.append(tree.members(node))
        else:
            work.append((_light_subtrees(tree, node), depth))
    return Tree.from_sizes(np.concatenate(size), np.concatenate(order))


def _heights(tree: Tree) -> NDArray[np.int64]:  # (2N−1,)
    """Longest path below each node."""
    height = np.zeros(tree.n_nodes, np.int64)
    for node in range(tree.n_nodes - 1, 0, -1):
        parent = tree.parent[node]
        height[parent] = max(height[parent], height[node] + 1)
    return height


def _light_subtrees(tree: Tree, node: int) -> list[int]:
    """The subtrees hanging off the heavy path that starts at ``node``, and the leaf at its end."""
    subtrees = []
    while tree.left[node] >= 0:
        left, right = int(tree.left[node]), int(tree.right[node])
        heavy, light = (left, right) if tree.size[left] >= tree.size[right] else (right, left)
        subtrees.append(light)
        node = heavy
    return [*subtrees, node]


def _weighted_middle(weight: NDArray[np.int32]) -> int:
    """Where to cut a sequence into two parts of nearly equal weight, both non-empty."""
    before = np.cumsum(weight, dtype=np.int64)
    return int(np.clip(np.searchsorted(before, before[-1] / 2) + 1, 1, len(weight) - 1))
