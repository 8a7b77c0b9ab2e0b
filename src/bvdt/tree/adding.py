"""New leaves in a tree that is there already: nothing above them moves."""

from __future__ import annotations

import math

import numpy as np

from .._support.arrays import Float, Index
from .balance import limit_depth
from .structure import Tree


def with_points_beside(tree: Tree, hosts: Index, divergence: Float) -> Tree:  # (n,) ×2
    """The tree with n points more, N … N + n − 1, each a leaf beside its host; O(N + n·log n).

    Several points of one host are merged with it one after the other, that of the least divergence first.
    """
    n_points = tree.n_points
    guests = np.bincount(hosts, minlength=n_points)[tree.order]  # of each leaf, in order
    before = np.concatenate([[0], np.cumsum(guests)])
    size = tree.size + before[tree.start + tree.size] - before[tree.start]
    # A leaf of g guests becomes nodes of g + 1, g, …, 2 points and g + 1 leaves.
    places = np.ones(tree.n_nodes, np.intp)
    places[tree.left < 0] += 2 * guests
    within = np.arange(places.sum()) - np.repeat(np.cumsum(places) - places, places)
    place = np.empty(n_points, np.intp)
    place[tree.order] = np.arange(n_points)
    new = np.arange(n_points, n_points + len(hosts))
    nearest_first = np.argsort(divergence, kind="stable")
    order = np.insert(tree.order, place[hosts[nearest_first]] + 1, new[nearest_first])
    grown = Tree.from_sizes(np.maximum(np.repeat(size, places) - within, 1), order)
    return limit_depth(grown, most=int(4 * math.log2(grown.n_points) + 50))
