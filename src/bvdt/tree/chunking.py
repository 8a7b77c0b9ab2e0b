"""Chunks: points or clusters cut by 2-means into sets that are small enough to be compared all with all."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import _core
from .._support.arrays import Float, Int, Long
from .._support.running import n_threads
from ..lifting import Lifted
from ..lifting.lifted import KernelArrays

_SMALLEST_SIDE = 0.05  # share of a segment that 2-means may split off
_AHEAD = 64  # levels of one kernel call; more are seldom needed


@dataclass(frozen=True)
class Clusters:
    """The clusters of a round: their means as the kernels take them, and their numbers of points."""

    arrays: KernelArrays  # as Lifted.arrays
    weight: Float  # (n,)

    @property
    def n_features(self) -> int:
        return int(self.arrays[-1]) if len(self.arrays) > 2 else int(self.arrays[0].shape[1])

    def merged(self, group: Int, n_groups: int, threads: int) -> Clusters:
        """One cluster per group: the weighted means."""
        if len(self.arrays) > 2:
            call = (*self.arrays, self.weight, group, n_groups, threads)
            means = _core.group_means(*call)
            weight = np.bincount(group, self.weight, n_groups).astype(np.float64, copy=False)
            return Clusters((*means, self.arrays[-1]), weight)
        x, h = self.arrays
        weight = np.empty(n_groups)
        mean_x = self._dense_means(x, group, weight, threads)
        mean_h = mean_x if h is x else self._dense_means(h, group, weight, threads)
        return Clusters((mean_x, mean_h), weight)

    def _dense_means(self, x: Float, group: Int, weight: Float, threads: int) -> Float:  # (n_groups, d)
        """Each group's mean; fills ``weight``, too."""
        means = np.empty((len(weight), x.shape[1]))
        _core.dense_group_means(x, self.weight, group, means, weight, threads)
        return means


def cut_into_chunks(
    lifted: Lifted, chunk: int, rng: np.random.Generator, n_jobs: int | None = None
) -> tuple[Int, Long]:  # (N,), (n_chunks + 1,)
    """Chunks of at most ``chunk`` points, by 2-means: c is order[bounds[c] : bounds[c + 1]]."""
    threads = n_threads(n_jobs, 4 * lifted.n_values)
    return split(Clusters(lifted.arrays, np.ones(lifted.n_points)), chunk, rng, threads)


def split(clusters: Clusters, chunk: int, rng: np.random.Generator, threads: int) -> tuple[Int, Long]:
    """Chunks of at most ``chunk`` clusters: c is order[bounds[c] : bounds[c + 1]]."""
    n = len(clusters.weight)
    order, bounds, level = np.arange(n, dtype=np.int32), np.array([0, n]), 0
    while np.diff(bounds).max() > chunk:
        # All at once: how many levels are needed, and so how many seeds are drawn, is known afterwards.
        state = rng.bit_generator.state
        seeds = rng.integers(2**63, size=_AHEAD)
        rng.bit_generator.state = state
        bounds, used = _cut(clusters, chunk, order, bounds, level, seeds, threads)
        rng.integers(2**63, size=used)
        level += used
    return order, bounds


def split_levels(
    clusters: Clusters, chunk: int, order: Int, rng: np.random.Generator, threads: int
) -> Iterator[Long]:
    """The bounds after each level of cuts, from one segment down; ``order`` is sorted along with them."""
    bounds, level = np.array([0, len(clusters.weight)]), 0
    while np.diff(bounds).max() > chunk:
        bounds, _ = _cut(clusters, chunk, order, bounds, level, rng.integers(2**63, size=1), threads)
        yield bounds
        level += 1


def _cut(
    clusters: Clusters, chunk: int, order: Int, bounds: Long, level: int, seeds: Long, threads: int
) -> tuple[Long, int]:
    """The bounds after one level of cuts per seed, from ``level`` on, and how many levels were needed."""
    # Lopsided splits are the data's own, but must not go on for ever: then segments are halved.
    patience = 2 * math.log2(len(order) / chunk) + 8
    side = np.where(level + np.arange(len(seeds)) < patience, _SMALLEST_SIDE, 0.5)
    call = (*clusters.arrays, clusters.weight, order, bounds, chunk, side, seeds, threads)
    return _core.split_levels(*call)
