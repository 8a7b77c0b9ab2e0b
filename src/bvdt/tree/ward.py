"""The default tree: Ward's agglomeration in rounds over chunks.

A round cuts the current clusters into chunks by top-down 2-means, agglomerates each chunk by Ward's criterion,
and keeps the cheapest merges over all chunks. The next round starts from the merged clusters with new chunks, so
a point whose neighbours fell into another chunk waits for a round in which they do not. The costs are O(N·chunk)
in time and O(N) in memory; the last round has one chunk and keeps everything.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _core
from ..lift import Lifted
from .structure import Tree

CHUNK = 300
SHRINK = 2.0


def ward_tree(
    lifted: Lifted,
    *,
    chunk: int = CHUNK,
    shrink: float = SHRINK,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Tree:
    """Ward tree of lifted points; see the module's head."""
    rng = np.random.default_rng(random_state)
    threads = 2 if n_jobs is None else n_jobs
    n_points = lifted.n_points
    clusters = np.arange(n_points, dtype=np.int32)
    weight = np.ones(n_points)
    linkage = np.empty((n_points - 1, 2), np.int32)
    done = 0
    while len(clusters) > 1:
        order, bounds = split(lifted, weight, chunk, rng, threads)
        pairs, costs = agglomerate(lifted, weight, order, bounds, threads)
        if len(bounds) > 2:
            pairs = cheapest(pairs, costs, len(clusters) - int(len(clusters) / shrink))
        group = np.empty(len(clusters), np.int32)
        n_groups = _core.apply_merges(pairs, clusters, n_points + done, linkage[done : done + len(pairs)], group)
        done += len(pairs)
        clusters = clusters[:n_groups].copy()
        if n_groups > 1:
            lifted, weight = merged(lifted, weight, group, n_groups)
    size, leaf_order = np.empty(2 * n_points - 1, np.int32), np.empty(n_points, np.int32)
    _core.pre_order(linkage, size, leaf_order)
    return Tree.from_sizes(size, leaf_order)


def split(lifted, weight, cap, rng, threads):
    order = np.arange(lifted.n_points, dtype=np.int32)
    bounds = np.array([0, lifted.n_points])
    while np.diff(bounds).max() > cap:
        bounds = _core.split_level(*lifted.arrays, weight, order, bounds, cap, int(rng.integers(2**63)), threads)
    return order, bounds


def agglomerate(lifted, weight, order, bounds, threads):
    n_merges = lifted.n_points - (len(bounds) - 1)
    pairs, costs = np.empty((n_merges, 2), np.int32), np.empty(n_merges)
    _core.ward_chunks(*lifted.arrays, weight, order, bounds, pairs, costs, threads)
    return pairs, costs


def cheapest(pairs, costs, count):
    if count >= len(costs):
        return pairs
    threshold = np.partition(costs, count)[count]
    return np.ascontiguousarray(pairs[costs <= threshold])


def merged(lifted, weight, group, n_groups):
    total = np.bincount(group, weight, n_groups)
    n = lifted.n_points
    share = sparse.csr_array((weight / total[group], (group, np.arange(n))), shape=(n_groups, n))
    X = share @ lifted.X
    H = X if lifted.H is lifted.X else share @ lifted.H
    return Lifted(lifted.u, lifted.w, X, H), total
