"""Chunks: points or clusters cut by 2-means into sets that are small enough to be compared all with all."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from .._support.arrays import Float, Int, Long
from .._support.running import n_threads
from ..lifting import Lifted

_SMALLEST_SIDE = 0.05  # share of a segment that 2-means may split off


@dataclass(frozen=True)
class Clusters:
    """The clusters of a round: their means as the kernels take them, and their numbers of points."""

    arrays: tuple[Any, ...]  # as Lifted.arrays
    weight: Float  # (n,)

    @property
    def n_features(self) -> int:
        return int(self.arrays[-1]) if len(self.arrays) > 2 else int(self.arrays[0].shape[1])

    def merged(self, group: Int, n_groups: int, threads: int) -> Clusters:
        """One cluster per group: the weighted means."""
        weight = np.bincount(group, self.weight, n_groups).astype(np.float64, copy=False)
        if len(self.arrays) > 2:
            call = (*self.arrays, self.weight, group, n_groups, threads)
            means = _core.group_means(*call)
            return Clusters((*means, self.arrays[-1]), weight)
        x, h = self.arrays
        mean_x = self._dense_means(x, group, n_groups, threads)
        mean_h = mean_x if h is x else self._dense_means(h, group, n_groups, threads)
        return Clusters((mean_x, mean_h), weight)

    def _dense_means(self, x: Float, group: Int, n_groups: int, threads: int) -> Float:  # (n_groups, d)
        means = np.empty((n_groups, x.shape[1]))
        _core.dense_group_means(x, self.weight, group, means, threads)
        return means


def cut_into_chunks(
    lifted: Lifted, chunk: int, rng: np.random.Generator, n_jobs: int | None = None
) -> tuple[Int, Long]:  # (N,), (n_chunks + 1,)
    """Chunks of at most ``chunk`` points, by 2-means: c is order[bounds[c] : bounds[c + 1]]."""
    threads = n_threads(n_jobs, 4 * lifted.n_values)
    return split(Clusters(lifted.arrays, np.ones(lifted.n_points)), chunk, rng, threads)


def split(clusters: Clusters, chunk: int, rng: np.random.Generator, threads: int) -> tuple[Int, Long]:
    """Chunks of at most ``chunk`` clusters: c is order[bounds[c] : bounds[c + 1]]."""
    order, bounds = np.arange(len(clusters.weight), dtype=np.int32), np.array([0, len(clusters.weight)])
    for finer in split_levels(clusters, chunk, order, rng, threads):
        bounds = finer
    return order, bounds


def split_levels(
    clusters: Clusters, chunk: int, order: Int, rng: np.random.Generator, threads: int
) -> Iterator[Long]:
    """The bounds after each level of cuts, from one segment down; ``order`` is sorted along with them."""
    n = len(clusters.weight)
    bounds = np.array([0, n])
    patience = 2 * math.log2(n / chunk) + 8 if n > chunk else 0.0
    level = 0
    while np.diff(bounds).max() > chunk:
        # Lopsided splits are the data's own, but must not go on for ever: then segments are halved.
        side = _SMALLEST_SIDE if level < patience else 0.5
        seed = int(rng.integers(2**63))
        call = (*clusters.arrays, clusters.weight, order, bounds, chunk, side, seed, threads)
        bounds = _core.split_level(*call)
        yield bounds
        level += 1
