"""From slabs to shards: survey, regions, assignment, shuffle, trees; then bandwidth and optimum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import Long
from .._support.running import generator
from ..blocks import Curve, dimension_of, resolve_bandwidth_of
from ..divergences import BregmanDivergence, get
from ..divergences.family import GAUSSIAN
from ..lifting import Lifting, refuse_rounding, warn_of_one_column
from . import shard
from .executors import Executor, Reference
from .regions import RegionMeans, Regions, grow_regions, plan_shards
from .shard import Summary
from .sizing import shard_bytes, sizes, slab_bytes
from .survey import survey
from .top import Top, TopSolution


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the rows of X are: by slab, and by shard, each shard's rows ascending."""

    lengths: Long  # (n_slabs,)
    where: list[Reference]  # per slab: the shard of every row
    counts: Long  # (n_slabs, n_shards)

    @property
    def starts(self) -> Long:  # (n_slabs + 1,)
        return np.concatenate([[0], np.cumsum(self.lengths)])

    @property
    def offsets(self) -> Long:  # (n_slabs + 1, n_shards)
        """Where a slab's rows begin inside a shard."""
        return np.concatenate([np.zeros((1, self.counts.shape[1]), np.int64), np.cumsum(self.counts, axis=0)])

    @property
    def n_points(self) -> int:
        return int(self.lengths.sum())

    @property
    def n_shards(self) -> int:
        return int(self.counts.shape[1])


@dataclass(frozen=True, eq=False)
class Shards:
    """All shards: references to what lies where the points are, and what the driver knows of them."""

    executor: Executor
    layout: Layout
    lifting: Lifting
    regions: Regions
    means: RegionMeans
    origins: list[Reference]
    points: list[Reference]  # as given
    grown: list[Reference]
    lifted_by: Reference  # the lifting, for functions of shards
    summaries: list[Summary]
    regions_of: list[tuple[Long, Long]]  # per shard: its regions, and its points in each

    def each(self, value: Any) -> list[Any]:
        """The same value for every shard."""
        return [value] * self.layout.n_shards


def build_shards(
    executor: Executor,
    slabs: Sequence[Reference],
    lengths: Sequence[int],
    divergence: str | BregmanDivergence,
    *,
    smoothing: float | str | ArrayLike = "auto",
    n_neighbors: int = 0,
    shard_points: int | None = None,
    random_state: Any = None,
) -> Shards:
    """One valid tree over all rows, in pieces: the shards' own trees, and the sums for the top one."""
    rng = generator(random_state)
    found = survey(executor, slabs, lengths, get(divergence), smoothing, rng)
    most, usual = sizes(found.n_points, found.width, found.lifting.sparse, shard_points)
    need = shard_bytes(found.n_points, usual, found.width, found.lifting.sparse, n_neighbors)
    remedy = "shard_points= makes shards smaller"
    executor.reserve(max(need, slab_bytes(lengths, found.width)), "a shard", remedy)
    sample = found.lifting.transform(found.sample)
    warn_of_one_column(sample.X, found.lifting.divergence.name)
    if not found.lifting.divergence.translation_invariant:
        refuse_rounding(sample, found.lifting.divergence.name)
    regions, means = grow_regions(sample, most, rng, executor.n_jobs)
    layout, assigned = _shuffle_plan(executor, slabs, lengths, found.lifting, regions, means, usual)
    pieces = _shuffled(executor, slabs, layout, assigned)
    seeds = [int(seed) for seed in rng.integers(2**63, size=layout.n_shards)]
    lifting, each = executor.put(found.lifting), [executor.n_jobs] * layout.n_shards
    grown = executor.map("trees", shard.grow, pieces, [lifting] * layout.n_shards, seeds, each)
    parts = executor.unpack(grown, [4] * len(grown))
    origins, points, trees, summaries = (list(items) for items in zip(*parts, strict=True))
    del pieces, grown, parts
    own = _regions_of(executor, origins)
    summaries = executor.gather(summaries)
    return Shards(
        executor, layout, found.lifting, regions, means, origins, points, trees, lifting, summaries, own
    )


def _shuffle_plan(
    executor: Executor,
    slabs: Sequence[Reference],
    lengths: Sequence[int],
    lifting: Lifting,
    regions: Regions,
    means: RegionMeans,
    shard_points: int,
) -> tuple[Layout, list[Reference]]:
    """Every row's region, and from the regions' counts every row's shard."""
    starts = np.concatenate([[0], np.cumsum(lengths)])[:-1].tolist()
    n, put = len(slabs), executor.put
    assigned = executor.map("assignment", shard.assign, slabs, starts, [put(lifting)] * n, [put(regions)] * n)
    counted = executor.map("counts", shard.count, assigned, [regions.n_regions] * n)
    counts = np.sum(executor.gather(counted), axis=0)
    plan = put(plan_shards(means, counts, shard_points))
    placed = executor.unpack(executor.map("places", shard.place, assigned, starts, [plan] * n), [2] * n)
    where, summaries = ([items[k] for items in placed] for k in range(2))
    filled = np.stack(executor.gather(summaries))
    if not filled.any(axis=0).all():  # a region dealt out in turn may have rows for some shards only
        number = executor.put((np.cumsum(filled.any(axis=0)) - 1).astype(np.int32))
        where = executor.map("places", shard.renumber, where, [number] * n)
        filled = filled[:, filled.any(axis=0)]
    return Layout(np.asarray(lengths, np.int64), where, filled), assigned


def _shuffled(
    executor: Executor, slabs: Sequence[Reference], layout: Layout, assigned: list[Reference]
) -> list[list[Reference]]:
    """Per shard, its pieces in the order of the slabs."""
    starts = layout.starts[:-1].tolist()
    dealt = executor.map("shuffle", shard.deal, slabs, starts, layout.where, assigned)
    pieces = executor.unpack(dealt, (layout.counts > 0).sum(axis=1).tolist())
    return by_shard(layout, pieces)


def by_shard(layout: Layout, pieces: list[list[Reference]]) -> list[list[Reference]]:
    """Pieces given per slab, for the shards that get any, as lists per shard."""
    out: list[list[Reference]] = [[] for _ in range(layout.n_shards)]
    for slab, items in enumerate(pieces):
        for p, item in zip(np.flatnonzero(layout.counts[slab]), items, strict=True):
            out[p].append(item)
    return out


def _regions_of(executor: Executor, origins: list[Reference]) -> list[tuple[Long, Long]]:
    return executor.gather(executor.map("regions", shard.regions_in, origins))


# -- bandwidth and optimum ----------------------------------------------------------------------------------


def resolve(shards: Shards, top: Top, bandwidth: float | str) -> float:
    """The bandwidth as a number, by the rules of one machine; "auto" looks at distinct points only."""
    summaries = shards.summaries
    distinct_only = bandwidth == "auto"
    counts = [s.distinct if distinct_only else s.sums.n_points for s in summaries]
    weights = top.distinct(counts, [s.key for s in summaries])
    if not distinct_only:
        weights.alike[:], weights.kept[:] = False, True
        weights.count[:] = top.n_points
        alone = [s.sums.n_points == 1 for s in summaries]
        leaves = top.shard >= 0
        weights.alike[leaves] = np.array(alone)[top.shard[leaves]]
    above = top.mean_divergence[1:][weights.kept[1:]]
    positive = above[above > 0]
    least = min([s.least if distinct_only else s.least_of_all for s in summaries] + positive.tolist())
    greatest = max([s.greatest for s in summaries] + above.tolist())
    middles = [s.middle for s in summaries if s.middle > 0] or positive.tolist()
    nonzero = sum(s.nonzero for s in summaries) / shards.layout.n_points
    dimension, dispersion = dimension_of(shards.lifting.divergence, shards.lifting.n_features, nonzero)
    scaled_alike = bandwidth == "auto" or dispersion is GAUSSIAN
    unit = float(2.0 ** np.round(np.log2(np.median(middles)))) if middles and scaled_alike else 1.0
    ends = np.array([least, greatest]) / unit if greatest > 0 else np.zeros(1)
    scaled = Top(top.tree, top.n_points, top.mean_divergence / unit, top.sibling, top.shard)

    def curve(beta: float) -> Curve:
        given = (shards.each(unit), shards.each(beta), shards.each(distinct_only), shards.each(jobs))
        inside = executor.gather(executor.map("bandwidth", shard.curve_of, shards.grown, *given))
        return scaled.curve(inside, weights, beta)

    executor, jobs = shards.executor, shards.executor.n_jobs
    if not isinstance(bandwidth, str):
        return resolve_bandwidth_of(bandwidth, 0.0, ends * unit, curve)
    return float(unit * resolve_bandwidth_of(bandwidth, dimension, ends, curve, dispersion))


def solve_shards(shards: Shards, top: Top, bandwidth: float) -> tuple[list[Reference], TopSolution]:
    """Every shard's own optimum, ready for products, and the top's."""
    executor, each = shards.executor, shards.each
    jobs = each(executor.n_jobs)
    solved = executor.map("optimum", shard.solve, shards.grown, each(bandwidth), jobs)
    products, values = (
        list(items) for items in zip(*executor.unpack(solved, [2] * len(solved)), strict=True)
    )
    return products, top.solve(executor.gather(values), bandwidth)
