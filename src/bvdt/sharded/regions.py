"""Regions: a sample cut by 2-means, from the top down, and the way of any point to its region.

Every cut is a plane in lifted coordinates: with Δ = side 1 − side 0 of the sides' means a point goes to
side 1 when ⟨x, Δh⟩ + ⟨h, Δx⟩ exceeds ⟨x̄_1, h̄_1⟩ − ⟨x̄_0, h̄_0⟩, as in Ward's chunking (theory: Ward
trees). So a point takes about log₂(regions) inner products, whatever their number. Neighboring regions are
then grouped into shards by Ward's criterion.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .. import _core
from .._support.arrays import Float, Int, Long
from .._support.running import n_threads
from ..lifting import Lifted
from ..tree import Clusters, Tree, split_levels, ward_tree_of_means

_SMALL = 0.25  # of a shard's points: a group with fewer joins another one
_FULL = 1.25  # of a shard's points: no group grows beyond by that


@dataclass(frozen=True, eq=False)
class Regions:
    """A binary tree of planes, whose leaves are the regions; plane 0 is the root, parents come first."""

    child: Int  # (n_planes, 2) of either side: another plane, or −1 − r for region r
    x: Any  # (n_planes, d) Δx, dense or CSR
    h: Any  # (n_planes, d) Δh
    border: Float  # (n_planes,)

    @property
    def n_regions(self) -> int:
        return len(self.border) + 1

    def find(self, lifted: Lifted, n_jobs: int | None = 1) -> Int:  # (N,)
        """The region of every point."""
        if lifted.is_sparse:
            return self._find_sparse(lifted)
        out = np.empty(lifted.n_points, np.int32)
        X, H = (np.ascontiguousarray(values) for values in (lifted.X, lifted.H))
        planes = (self.x, self.x if H is X else self.h)
        _core.find_regions(X, H, *planes, self.border, self.child, out, n_threads(n_jobs))
        return out

    def _find_sparse(self, lifted: Lifted) -> Int:
        """Plane by plane, each with all points that come to it."""
        out = np.zeros(lifted.n_points, np.int32)
        coming = {0: np.arange(lifted.n_points)}
        for plane in range(len(self.border)):
            rows = coming.pop(plane)
            score = lifted.X[rows] @ self.h[[plane]].toarray()[0]
            score += lifted.H[rows] @ self.x[[plane]].toarray()[0]
            far = score > self.border[plane]
            for child, side in zip(self.child[plane].tolist(), (~far, far), strict=True):
                if child >= 0:
                    coming[child] = rows[side]
                else:
                    out[rows[side]] = -1 - child
        return out


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
    planes, leaves = np.flatnonzero(left >= 0), np.flatnonzero(left < 0)
    number = np.empty(len(left), np.int32)
    number[planes], number[leaves] = np.arange(len(planes)), -1 - np.arange(len(leaves))
    child = np.stack([number[left[planes]], number[right[planes]]], axis=1)
    delta_x, delta_h, border = _planes(sums, spans[left[planes]], spans[right[planes]])
    means = RegionMeans(*(_dense_rows(total(spans[leaves])) for total in sums))
    return Regions(child, delta_x, delta_h, border), means


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
    """Groups of neighboring regions with about ``shard_points`` points at most."""
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
