"""Regions: a sample cut by 2-means, from the top down, and the way of any point to its region.

Every cut is a plane in lifted coordinates: with Δ = side 1 − side 0 of the sides' means a point goes to
side 1 when ⟨x, Δh⟩ + ⟨h, Δx⟩ exceeds ⟨x̄_1, h̄_1⟩ − ⟨x̄_0, h̄_0⟩, as in Ward's chunking (theory: Ward
trees). So a point takes about log₂(regions) inner products, whatever their number. Neighbouring regions are
then grouped into shards by Ward's criterion.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .._support.arrays import Float, Index, Int, Long, Mask
from .._support.running import n_threads
from ..lifting import Lifted
from ..tree import Clusters, Tree, split_levels, ward_tree_of_means

# Values handled at once: temporaries below the 128 KiB from which on an allocator may ask the system for new
# pages each time, as it does in Dask's workers.
_BATCH, _LEAST_BATCH = 15_000, 256  # values, rows
_SMALL = 0.25  # of a shard's points: a group with fewer joins another one
_FULL = 1.25  # of a shard's points: no group grows beyond by that


@dataclass(frozen=True, eq=False)
class Regions:
    """A binary tree of planes, whose leaves are the regions. Node 0 is the root."""

    left: Int  # (n_nodes,) −1 for a leaf
    right: Int
    region: Int  # (n_nodes,) number of a leaf's region, −1 for other nodes
    plane: Int  # (n_nodes,) row of the arrays below, −1 for a leaf
    x: Any  # (n_planes, d) Δx, dense or CSR
    h: Any  # (n_planes, d) Δh
    border: Float  # (n_planes,)

    @property
    def n_regions(self) -> int:
        return int(self.region.max()) + 1

    def find(self, lifted: Lifted) -> Int:  # (N,)
        """The region of every point."""
        step = lifted.n_points if lifted.is_sparse else max(_LEAST_BATCH, _BATCH // lifted.n_features)
        side = self._sparse_side if lifted.is_sparse else self._dense_side
        out = np.empty(lifted.n_points, np.int32)
        for first in range(0, lifted.n_points, step):
            node = np.zeros(min(step, lifted.n_points - first), np.int32)
            going = np.flatnonzero(self.left[node] >= 0)
            while going.size:
                at = node[going]
                far = side(lifted, first + going, self.plane[at])
                node[going] = np.where(far, self.right[at], self.left[at])
                going = going[self.left[node[going]] >= 0]
            out[first : first + len(node)] = self.region[node]
        return out

    def _dense_side(self, lifted: Lifted, rows: Index, plane: Int) -> Mask:
        # einsum, not @: its sums do not depend on how many rows there are, nor on BLAS's threads.
        score = np.einsum("ij,ij->i", lifted.X[rows], self.h[plane])
        if lifted.H is lifted.X:
            return np.asarray(2 * score > self.border[plane])
        score += np.einsum("ij,ij->i", lifted.H[rows], self.x[plane])
        return np.asarray(score > self.border[plane])

    def _sparse_side(self, lifted: Lifted, rows: Index, plane: Int) -> Mask:
        far = np.empty(len(rows), bool)
        by_plane = np.argsort(plane, kind="stable")
        planes, starts = np.unique(plane[by_plane], return_index=True)
        for k, here in zip(planes, np.split(by_plane, starts[1:]), strict=True):
            there = rows[here]
            score = lifted.X[there] @ self.h[[k]].toarray()[0] + lifted.H[there] @ self.x[[k]].toarray()[0]
            far[here] = score > self.border[k]
        return far


@dataclass(frozen=True, eq=False)
class RegionMeans:
    """The regions' means over the sample, dense, in lifted coordinates."""

    x: Float  # (n_regions, d)
    h: Float  # (n_regions, d)


def grow_regions(
    sample: Lifted, most: int, rng: np.random.Generator, n_jobs: int | None = None
) -> tuple[Regions, RegionMeans]:
    """About ``most`` regions or fewer, by 2-means on the sample."""
    order = np.arange(sample.n_points, dtype=np.int32)
    clusters = Clusters(sample.arrays, np.ones(sample.n_points))
    per_region = max(1, -(-2 * sample.n_points // most))
    levels = list(_copies(split_levels(clusters, per_region, order, rng, n_threads(n_jobs))))
    left, right, spans = _binary(sample.n_points, levels)
    sums = _running_sums(sample, order)
    planes = np.flatnonzero(left >= 0)
    leaves = np.flatnonzero(left < 0)
    region, plane = np.full(len(left), -1, np.int32), np.full(len(left), -1, np.int32)
    region[leaves], plane[planes] = np.arange(len(leaves)), np.arange(len(planes))
    delta_x, delta_h, border = _planes(sums, spans[left[planes]], spans[right[planes]])
    means = RegionMeans(*(_dense_rows(total(spans[leaves])) for total in sums))
    return Regions(left, right, region, plane, delta_x, delta_h, border), means


def _copies(levels: Iterator[Long]) -> Iterator[Long]:
    return (level.copy() for level in levels)


def _binary(n: int, levels: list[Long]) -> tuple[Int, Int, Long]:
    """Children of every node, and its span in the order, from the bounds after each level of cuts."""
    spans, left, right = [(0, n)], [-1], [-1]
    last = {(0, n): 0}
    for bounds in levels:
        now: dict[tuple[int, int], int] = {}
        cuts = np.unique(bounds).tolist()
        for span, node in last.items():
            middle = cuts[bisect_right(cuts, span[0])]
            if middle == span[1]:
                now[span] = node
                continue
            left[node], right[node] = len(spans), len(spans) + 1
            for part in ((span[0], middle), (middle, span[1])):
                now[part] = len(spans)
                spans.append(part)
                left.append(-1)
                right.append(-1)
        last = now
    return np.array(left, np.int32), np.array(right, np.int32), np.array(spans, np.int64)


def _running_sums(sample: Lifted, order: Int) -> tuple[Any, Any]:
    """Functions from spans (n, 2) of the order to the means of x and of h over them."""

    def means_of(values: Any) -> Any:
        sorted_rows = values[order]

        def means(spans: Long) -> Any:
            length = np.diff(spans, axis=1).ravel()
            first = np.concatenate([[0], np.cumsum(length)])
            rows = np.arange(first[-1]) - np.repeat(first[:-1] - spans[:, 0], length)
            weight = np.repeat(1.0 / length, length)
            member = sparse.csr_array((weight, rows, first), shape=(len(spans), len(order)))
            return member @ sorted_rows

        return means

    x = means_of(sample.X)
    return x, x if sample.H is sample.X else means_of(sample.H)


def _planes(sums: tuple[Any, Any], near: Long, far: Long) -> tuple[Any, Any, Float]:
    """Δx, Δh and the border of every cut."""
    (x0, h0), (x1, h1) = ([mean(side) for mean in sums] for side in (near, far))
    inner = [np.asarray((x * h).sum(axis=1), float).ravel() for x, h in ((x0, h0), (x1, h1))]
    delta_x, delta_h = x1 - x0, h1 - h0
    if sparse.issparse(delta_x):
        delta_x, delta_h = sparse.csr_array(delta_x), sparse.csr_array(delta_h)
    return delta_x, delta_h, inner[1] - inner[0]


def _dense_rows(X: Any) -> Float:
    return np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X)


# -- from regions to shards --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Plan:
    """Which shard takes the points of a region; a region too full for one is dealt to several in turn."""

    first: Int  # (n_regions,) its first shard
    stripes: Int  # (n_regions,) over how many consecutive shards its points go round
    n_shards: int

    def place(self, region: Int, first_row: int) -> Int:  # (n,)
        """The shard of every point of a slab."""
        rows = np.arange(first_row, first_row + len(region))
        return np.asarray(self.first[region] + rows % self.stripes[region], np.int32)


def plan_shards(means: RegionMeans, counts: Long, shard_points: int) -> Plan:
    """Groups of neighbouring regions with about ``shard_points`` points at most."""
    filled = np.flatnonzero(counts)
    group = np.zeros(len(filled), np.int64)
    if len(filled) > 1:
        x, h, weight = means.x[filled], means.h[filled], counts[filled].astype(float)
        tree = ward_tree_of_means(x, h, weight, random_state=0)
        group = _joined(_cut(tree, counts[filled], shard_points), x, h, counts[filled], shard_points)
    first, stripes = np.zeros(len(counts), np.int32), np.ones(len(counts), np.int32)
    n_shards = 0
    for number in range(int(group.max()) + 1):
        members = filled[group == number]
        wide = max(1, -(-int(counts[members].sum()) // int(_FULL * shard_points)))
        first[members], stripes[members] = n_shards, wide
        n_shards += wide
    return Plan(first, stripes, n_shards)


def _cut(tree: Tree, counts: Long, limit: int) -> Long:  # (n_regions,)
    """The largest nodes with at most ``limit`` points, or one region: the group of every region."""
    running = np.concatenate([[0], np.cumsum(counts[tree.order])])
    points = running[tree.start + tree.size] - running[tree.start]
    group, node, number = np.empty(len(counts), np.int64), 0, 0
    while node < tree.n_nodes:
        if points[node] > limit and tree.size[node] > 1:
            node += 1
            continue
        group[tree.members(node)] = number
        number += 1
        node += 2 * int(tree.size[node]) - 1  # past the subtree
    return group


def _group_sums(group: Long, values: Float, n_groups: int) -> Float:  # (n, d) -> (n_groups, d)
    return np.stack([np.bincount(group, column, n_groups) for column in values.T], axis=1)


def _joined(group: Long, x: Float, h: Float, counts: Long, limit: int) -> Long:
    """Small groups joined with the one that costs least by Ward's criterion and has room."""
    n_groups = int(group.max()) + 1
    points: Float = np.bincount(group, counts, n_groups).astype(float)
    mean_x, mean_h = (_group_sums(group, counts[:, None] * v, n_groups) for v in (x, h))
    mean_x, mean_h = mean_x / points[:, None], mean_h / points[:, None]
    group, alive = group.copy(), np.ones(n_groups, bool)
    for small in np.argsort(points, kind="stable"):
        if points[small] >= _SMALL * limit or not alive[small]:
            continue
        room = alive & (points + points[small] <= _FULL * limit)
        room[small] = False
        if not room.any():
            continue
        inner = np.einsum("ij,ij->i", mean_x - mean_x[small], mean_h - mean_h[small])
        cost = np.where(room, points * points[small] / (points + points[small]) * inner, np.inf)
        best = int(np.argmin(cost))
        total = points[best] + points[small]
        for mean in (mean_x, mean_h):
            mean[best] = (points[best] * mean[best] + points[small] * mean[small]) / total
        points[best], alive[small] = total, False
        group[group == small] = best
    return np.unique(group, return_inverse=True)[1].astype(np.int64)
