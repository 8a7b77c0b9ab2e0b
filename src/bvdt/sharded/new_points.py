"""Classes of new points: the mean of their nearest fitted points', which may lie in several shards.

A new point is compared with the shards that hold the regions nearest to its own, as the near field's points
are. Each shard reports the divergences of its nearest; from all of them follow the weights, and each shard
returns its part of the mean. So a point and a shard exchange some lists of 15 numbers, and one number per
class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .._support.arrays import Float, Index, Int
from ..lifting import Lifting
from ..neighbors import NeighborIndex
from ..operators.near_field import FALL
from .building import Shards
from .columns import Columns
from .executors import Reference
from .near_field import regions_nearby
from .regions import Regions
from .sizing import Sized

NEIGHBORS = 15  # fitted points that a new point's classes are the mean of


@dataclass(frozen=True, eq=False)
class Search(Sized):
    """Which shards are searched for the points of a region."""

    shards: Index  # region by region, ascending
    first: Index  # (n_regions + 1,)

    @classmethod
    def of(cls, shards: Shards) -> Search:
        holders: list[set[int]] = [set() for _ in range(shards.regions.n_regions)]
        for p, (regions, _) in enumerate(shards.regions_of):
            for region in regions:
                holders[region].add(p)
        found = [sorted(set().union(*(holders[r] for r in near))) for near in regions_nearby(shards)]
        first = np.concatenate([[0], np.cumsum([len(each) for each in found])])
        return cls(np.array([p for each in found for p in each], np.intp), first)

    def rows_by_shard(self, region: Int) -> dict[int, Index]:
        """For every shard to be searched, the rows that look there."""
        counts = np.diff(self.first)[region]
        rows = np.repeat(np.arange(len(region)), counts)
        inside = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        there = self.shards[np.repeat(self.first[region], counts) + inside]
        return {int(p): rows[there == p] for p in np.unique(there)}


def new_distributions(
    shards: Shards, distributions: Columns, slabs: Sequence[Reference]
) -> list[Reference]:  # per slab (n, k)
    """Class probabilities of new points, slab by slab."""
    executor, n = shards.executor, len(slabs)
    search, lifting = executor.put(Search.of(shards)), shards.lifted_by
    given = ([lifting] * n, [executor.put(shards.regions)] * n, [search] * n)
    looked = executor.map("places", rows_to_search, slabs, *given)
    present = executor.gather(executor.map("places", list, looked))
    pairs = [(s, p) for s in range(n) for p in present[s]]
    pieces = executor.map("places", piece_for, *_for_pairs(pairs, slabs, looked), [p for _, p in pairs])
    found = executor.map(
        "prediction",
        nearest_there,
        pieces,
        [shards.points[p] for _, p in pairs],
        [lifting] * len(pairs),
    )
    del pieces
    weights = executor.map("prediction", weights_of, looked, _by_slab(pairs, found, n))
    parts = executor.map(
        "prediction",
        part_of_mean,
        found,
        *_for_pairs(pairs, weights),
        [p for _, p in pairs],
        [distributions.parts[p] for _, p in pairs],
    )
    width = [distributions.width] * n
    return executor.map("prediction", mean_of_parts, looked, _by_slab(pairs, parts, n), slabs, width)


def _for_pairs(pairs: list[tuple[int, int]], *by_slab: Sequence[Reference]) -> list[list[Reference]]:
    return [[references[s] for s, _ in pairs] for references in by_slab]


def _by_slab(pairs: list[tuple[int, int]], values: list[Reference], n: int) -> list[list[Reference]]:
    out: list[list[Reference]] = [[] for _ in range(n)]
    for (s, _), value in zip(pairs, values, strict=True):
        out[s].append(value)
    return out


# -- on slabs and shards ------------------------------------------------------------------------------------


def rows_to_search(X: Any, lifting: Lifting, regions: Regions, search: Search) -> dict[int, Index]:
    """For every shard, the new points of a slab that look there; shards ascending."""
    X = _values(X)
    return search.rows_by_shard(regions.find(lifting.transform(X))) if X.shape[0] else {}


def _values(X: Any) -> Any:
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    return sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)


def piece_for(X: Any, looked: dict[int, Index], shard: int) -> Any:
    return _values(X)[looked[shard]]


def nearest_there(X: Any, points: Any, lifting: Lifting) -> tuple[Index, Float]:  # (m, ≤ 15) ×2
    """A shard's points nearest to new ones, and the divergences from them; −1 and +∞ for none."""
    k = min(NEIGHBORS, points.shape[0])
    index, divergence = NeighborIndex.build(lifting.transform(points)).search(lifting.transform(X), k)
    return index.astype(np.intp), divergence


def weights_of(looked: dict[int, Index], found: list[tuple[Index, Float]]) -> dict[int, Float]:
    """For every shard the weights of what was found there; an equal point leaves none to others."""
    n = 1 + max((int(rows.max(initial=-1)) for rows in looked.values()), default=-1)
    best = np.full((n, NEIGHBORS), np.inf)
    for rows, (_, divergence) in zip(looked.values(), found, strict=True):
        best[rows] = np.sort(np.concatenate([best[rows], divergence], axis=1), axis=1)[:, :NEIGHBORS]
    last = np.max(best, axis=1, initial=0.0, where=best < np.inf, keepdims=True)
    equal = best[:, :1] == 0
    farthest = np.where(equal, 0.0, last)
    scale = np.where(last > 0, last / FALL, 1.0)
    return {
        p: np.where(divergence <= farthest[rows], np.exp(-divergence / scale[rows]), 0.0)
        for (p, rows), (_, divergence) in zip(looked.items(), found, strict=True)
    }


def part_of_mean(
    found: tuple[Index, Float], weights: dict[int, Float], shard: int, P: Float
) -> Float:  # (m, k)
    """What a shard's points give, not yet divided by the weights' sum."""
    return np.asarray(np.einsum("ij,ijk->ik", weights[shard], P[np.maximum(found[0], 0)]))


def mean_of_parts(looked: dict[int, Index], parts: list[Float], X: Any, width: int) -> Float:  # (n, k)
    """Probabilities of a slab's points."""
    out = np.zeros((X.shape[0], width))
    for rows, part in zip(looked.values(), parts, strict=True):
        out[rows] += part
    return np.asarray(out / np.maximum(out.sum(axis=1, keepdims=True), np.finfo(float).tiny))
