"""The default tree: Ward's agglomeration in rounds over chunks.

A round cuts the current clusters into chunks by top-down 2-means, agglomerates each chunk by Ward's
criterion, and carries out the cheapest merges over all chunks. The next round cuts the merged clusters anew,
so a point whose neighbours fell into another chunk waits, unmerged, for a round in which they do not. When
one chunk is left, all its merges are carried out. Time O(N·chunk), memory O(N).

The merging cost is |A||B|/(|A|+|B|)·⟨x̄_A − x̄_B, h̄_A − h̄_B⟩: Ward's for the symmetrised divergence. It needs
the lifted form alone, so a user's own φ runs at full speed.
Differs from Eq. (22): means of x and of h instead of pivots and φ; a far better bound (docs/decisions.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._running import generator, n_threads, progress_bar
from ..lift import Lifted
from .balance import limit_depth
from .structure import Tree

Float = NDArray[np.float64]
Index = NDArray[np.int32]
Bounds = NDArray[np.int64]

# Chunk of the first round, the largest of later ones, and shrink; measured, see docs/decisions.md.
_DENSE, _SPARSE = (300, 300, 3.0), (1000, 2000, 6.0)
_SMALL = 3000  # so many points are one chunk: Ward's tree itself
_WORK = 1 << 30  # products of a thread in one kernel call, about 0.1 s
_SMALLEST_SIDE = 0.05  # share of a segment that 2-means may split off


def ward_tree(
    lifted: Lifted,
    *,
    chunk: int | None = None,
    shrink: float | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Tree:
    """Ward tree of the lifted points.

    Parameters
    ----------
    chunk
        Most clusters agglomerated together; time grows with it, quality too. ``None``: all up to 3000 points;
        beyond, 300 for dense data and 1000, growing to 2000 in later rounds, for sparse.
    shrink
        Clusters before a round over clusters after it; > 1. Nearer to 1: more rounds, a better tree.
        ``None``: 3 for dense data, 6 for sparse.
    random_state
        Seeds of 2-means; ``None``, an int, or NumPy's ``Generator`` or ``RandomState``.
    n_jobs
        Threads; ``None`` and −1 are all cores. The tree does not depend on it.
    progress
        Shows a bar of the merges carried out.
    """
    n_points = lifted.n_points
    if n_points < 2:
        raise ValueError(f"ward_tree needs at least 2 points; there are {n_points}")
    *chunks, usual = _SPARSE if lifted.is_sparse else _DENSE
    shrink = usual if shrink is None else shrink
    if chunk is not None or n_points <= _SMALL:
        chunks = [_SMALL if chunk is None else chunk] * 2
    if chunks[0] < 2 or not shrink > 1:
        raise ValueError(f"ward_tree needs chunk >= 2 and shrink > 1; they are {chunk} and {shrink}")
    rng, threads = generator(random_state), n_threads(n_jobs)
    linkage = np.empty((n_points - 1, 2), np.int32)
    with progress_bar(progress, "ward tree", n_points - 1) as advance:
        clusters = _Clusters(lifted.arrays, np.ones(n_points))
        _agglomerate(clusters, linkage, chunks, shrink, rng, threads, advance)
    return limit_depth(Tree.from_merges(linkage), most=int(4 * math.log2(n_points) + 50))


def varied(n_points: int, rng: np.random.Generator) -> dict[str, int]:
    """Options for one more tree over the same points: small data, one chunk by default, are cut as well.

    Larger data need none: the seeds of 2-means make their trees differ.
    """
    if n_points > _SMALL or n_points < 8:
        return {}
    return {"chunk": int(rng.integers(n_points // 4, n_points // 2 + 1))}


def cut_into_chunks(
    lifted: Lifted, chunk: int, rng: np.random.Generator, n_jobs: int | None = None
) -> tuple[Index, Bounds]:  # (N,), (n_chunks + 1,)
    """Chunks of at most ``chunk`` points, by 2-means: c is order[bounds[c] : bounds[c + 1]]."""
    return _split(_Clusters(lifted.arrays, np.ones(lifted.n_points)), chunk, rng, n_threads(n_jobs))


@dataclass(frozen=True)
class _Clusters:
    """The clusters of a round: their means as the kernels take them, and their numbers of points."""

    arrays: tuple[Any, ...]  # as Lifted.arrays
    weight: Float  # (n,)

    @property
    def n_features(self) -> int:
        return int(self.arrays[-1]) if len(self.arrays) > 2 else int(self.arrays[0].shape[1])

    def merged(self, group: Index, n_groups: int, threads: int) -> _Clusters:
        """One cluster a group: the weighted means."""
        weight = np.bincount(group, self.weight, n_groups).astype(np.float64, copy=False)
        if len(self.arrays) > 2:
            call = (*self.arrays, self.weight, group, n_groups, threads)
            means = _core.group_means(*call)
            return _Clusters((*means, self.arrays[-1]), weight)
        x, h = self.arrays
        mean_x = self._dense_means(x, group, n_groups, threads)
        mean_h = mean_x if h is x else self._dense_means(h, group, n_groups, threads)
        return _Clusters((mean_x, mean_h), weight)

    def _dense_means(self, x: Float, group: Index, n_groups: int, threads: int) -> Float:  # (n_groups, d)
        means = np.empty((n_groups, x.shape[1]))
        _core.dense_group_means(x, self.weight, group, means, threads)
        return means


def _agglomerate(
    clusters: _Clusters,
    linkage: Index,
    chunks: list[int],
    shrink: float,
    rng: np.random.Generator,
    threads: int,
    advance: Callable[[int], None],
) -> None:
    """Rounds of splitting and merging until one cluster is left; fills ``linkage`` (N − 1, 2)."""
    chunk, largest = chunks
    name = np.arange(len(linkage) + 1, dtype=np.int32)  # number of each cluster in the linkage
    done = 0
    while done < len(linkage):
        # Fewer clusters afford larger chunks for the same work.
        cap = int(min(largest, chunk * (len(linkage) + 1) / len(name)))
        order, bounds = _split(clusters, cap, rng, threads)
        pairs, costs = _merge_chunks(clusters, order, bounds, threads)
        if len(bounds) > 2:
            pairs = _cheapest(pairs, costs, len(name) - int(len(name) / shrink))
        group = np.empty(len(name), np.int32)
        made = linkage[done : done + len(pairs)]
        n_groups = _core.apply_merges(pairs, name, len(linkage) + 1 + done, made, group)
        name = name[:n_groups].copy()
        done += len(pairs)
        advance(len(pairs))
        if n_groups > 1:
            clusters = clusters.merged(group, n_groups, threads)


def _split(clusters: _Clusters, chunk: int, rng: np.random.Generator, threads: int) -> tuple[Index, Bounds]:
    """Chunks of at most ``chunk`` clusters: c is order[bounds[c] : bounds[c + 1]]."""
    n = len(clusters.weight)
    order, bounds = np.arange(n, dtype=np.int32), np.array([0, n])
    patience = 2 * math.log2(n / chunk) + 8 if n > chunk else 0.0
    level = 0
    while np.diff(bounds).max() > chunk:
        # Lopsided splits are the data's own, but must not go on for ever: then segments are halved.
        side = _SMALLEST_SIDE if level < patience else 0.5
        seed = int(rng.integers(2**63))
        call = (*clusters.arrays, clusters.weight, order, bounds, chunk, side, seed, threads)
        bounds = _core.split_level(*call)
        level += 1
    return order, bounds


def _merge_chunks(
    clusters: _Clusters, order: Index, bounds: Bounds, threads: int
) -> tuple[Index, Float]:  # (n_merges, 2), (n_merges,)
    """Ward's merges inside every chunk, children before parents, with their costs."""
    n_merges = len(order) - (len(bounds) - 1)
    pairs, costs = np.empty((n_merges, 2), np.int32), np.empty(n_merges)
    work = int(np.diff(bounds).max()) ** 2 * (clusters.n_features + 40)
    for first, last in _slices(len(bounds) - 1, threads * max(16, _WORK // work)):
        made = slice(bounds[first] - first, bounds[last] - last)
        chunks = (order, bounds[first : last + 1], pairs[made], costs[made], threads)
        call = (*clusters.arrays, clusters.weight, *chunks)
        _core.ward_chunks(*call)
    return pairs, costs


def _slices(count: int, step: int) -> Iterator[tuple[int, int]]:
    """Short kernel calls, so that Ctrl-C is answered between them."""
    for first in range(0, count, step):
        yield first, min(first + step, count)


def _cheapest(pairs: Index, costs: Float, count: int) -> Index:
    """The ``count`` cheapest merges in their old order, with those that cost the same as the last."""
    if count >= len(costs):
        return pairs
    keep: Index = pairs[costs <= np.partition(costs, count - 1)[count - 1]]
    return keep
