"""The paper's anchor tree (Moore 2000), Sections 2.3 and 3.3, for any Bregman divergence.

Each set of n points grows ⌈√n⌉ anchors (:mod:`bvdt.tree.anchor.growing`), the anchors merge into a binary
tree (:mod:`bvdt.tree.anchor.merging`), and each anchor is split again until single points are left. The
recursion runs level by level over arrays of segments: a segment is a node not yet split, one range of
``order``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, overload

import numpy as np

from ..._support.arrays import Chosen, Float, Int, Long
from ..._support.progress import Progress, stage
from ..._support.running import RandomState, generator, n_threads
from ...divergences import Product
from ...lifting import Lifted
from ..structure import Tree
from .growing import Anchors, grow_anchors, grow_many
from .jensen import divergence_of
from .merging import Agglomeration, Merge, place

_LARGE = 2000  # points from which a segment is grown alone: pruned, one call per anchor, threads over points
_MAX_LEVELS = 40  # balanced data need fewer than ten, text fifteen, a million equal points twenty
_BATCH_WORK = 1e8  # multiplications in one call for many small segments, so that Ctrl-C is answered


@dataclass(frozen=True)
class AnchorStats:
    """Divergences evaluated while growing, and how many it would be without the pruning of Eq. (23)."""

    evaluations: int
    brute_force: int
    levels: int

    @property
    def skipped(self) -> float:
        """Share of the evaluations that the pruning saved."""
        return 1.0 - self.evaluations / max(self.brute_force, 1)


@overload
def anchor_tree(
    lifted: Lifted,
    *,
    merge: Merge = ...,
    random_state: RandomState = ...,
    n_jobs: int | None = ...,
    progress: Progress = ...,
    return_stats: Literal[False] = ...,
) -> Tree: ...
@overload
def anchor_tree(
    lifted: Lifted,
    *,
    merge: Merge = ...,
    random_state: RandomState = ...,
    n_jobs: int | None = ...,
    progress: Progress = ...,
    return_stats: Literal[True],
) -> tuple[Tree, AnchorStats]: ...
def anchor_tree(
    lifted: Lifted,
    *,
    merge: Merge = "bregman",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Progress = False,
    return_stats: bool = False,
) -> Tree | tuple[Tree, AnchorStats]:
    """Anchor tree of the lifted points; O(N^1.5 log N) divergences when the anchors come out balanced.

    Parameters
    ----------
    merge
        ``"bregman"``: anchors merge by Eq. (22). ``"radius"``: by the smallest covering radius, Eq. (10), as
        in the original (Euclidean) variational dual-tree; squared Euclidean divergence only.
    random_state
        Chooses the first pivots; ``None``, an int, or NumPy's ``Generator`` or ``RandomState``.
    n_jobs
        Threads; ``None`` and −1 are all cores. The tree does not depend on it.
    progress
        Shows a bar of the points that have become leaves.
    return_stats
        Returns ``(tree, AnchorStats)``.
    """
    if merge not in ("bregman", "radius"):
        raise ValueError(f'anchor_tree needs merge="bregman" or "radius"; it is {merge!r}')
    if merge == "radius" and not divergence_of(lifted).self_dual:
        raise ValueError('anchor_tree(merge="radius") needs the squared Euclidean divergence')
    if isinstance(divergence_of(lifted), Product) and (lifted.is_mixed or lifted.is_sparse):
        raise ValueError('tree="anchor" takes dense views; tree="ward" takes sparse ones, too')
    if lifted.n_points < 2:
        raise ValueError(f"anchor_tree needs at least 2 points; there are {lifted.n_points}")
    builder = _Builder(lifted, merge, n_threads(n_jobs))
    with stage(progress, "anchor tree", lifted.n_points) as advance:
        builder.run(generator(random_state), advance)
    tree = Tree.from_sizes(builder.node_size, builder.order)
    stats = AnchorStats(builder.evaluations, builder.brute_force, builder.levels)
    return (tree, stats) if return_stats else tree


@dataclass(frozen=True)
class _Segments:
    """Nodes still to be split; node k's points are order[start : start + size]."""

    node: Long
    start: Long
    size: Long

    def __getitem__(self, which: Chosen) -> _Segments:
        return _Segments(self.node[which], self.start[which], self.size[which])

    @staticmethod
    def join(parts: list[_Segments]) -> _Segments:
        return _Segments(
            *(np.concatenate([getattr(p, name) for p in parts]) for name in ("node", "start", "size"))
        )

    def positions(self) -> Long:
        """The segments' ranges of ``order``, one after the other."""
        first = np.cumsum(self.size) - self.size
        return np.repeat(self.start - first, self.size) + np.arange(self.size.sum())


class _Builder:
    """The arrays that grow into a tree: subtree sizes in pre-order, and the points' order."""

    def __init__(self, lifted: Lifted, merge: Merge, threads: int) -> None:
        n = lifted.n_points
        self.lifted, self.threads = lifted, threads
        self.agglomeration = Agglomeration(lifted, merge)
        self.node_size = np.ones(2 * n - 1, np.int32)
        self.order = np.arange(n, dtype=np.int32)
        self.evaluations = self.brute_force = self.levels = 0

    def run(self, rng: np.random.Generator, advance: Callable[[int], None]) -> None:
        """Splits level by level until only single points are left; ``advance`` hears of new leaves."""
        n = self.lifted.n_points
        level = _Segments(np.array([0]), np.array([0]), np.array([n]))
        while len(level.size):
            # One number per point and level: a segment takes its lowest point's, wherever the segment lies.
            draws = rng.random(n)
            children = []
            for batch in self._batches(level):
                children.append(self._split(batch, draws))
                advance(int(batch.size.sum() - children[-1].size.sum()))
            level = _Segments.join(children)
            self.levels += 1

    def _batches(self, level: _Segments) -> Iterator[_Segments]:
        """Large segments alone; small ones together, of like size, in slices of bounded work."""
        level = level[np.argsort(-level.size, kind="stable")]
        work = level.size * _n_anchors(level.size) * self._width()
        n_large = int(((level.size >= _LARGE) | (work >= _BATCH_WORK)).sum())
        yield from (level[s : s + 1] for s in range(n_large))
        small, done = level[n_large:], np.cumsum(work[n_large:])
        cuts = np.flatnonzero(np.diff(done // _BATCH_WORK)) + 1
        for part in np.split(np.arange(len(done)), cuts):
            if len(part):
                yield small[part[np.argsort(small.start[part])]]

    def _width(self) -> float:
        """Multiplications in one divergence."""
        X = self.lifted.X
        return max(1.0, X.nnz / X.shape[0]) if self.lifted.is_sparse else float(X.shape[1])

    def _split(self, segments: _Segments, draws: Float) -> _Segments:
        """Grows and merges the segments' anchors; returns the anchors of more than one point."""
        positions = segments.positions()  # ascending
        points = self.order[positions]
        anchors = self._grow(segments, points, draws).halved(segments.size)
        label = np.repeat(anchors.offsets[:-1], segments.size) + anchors.owner
        size, radius = np.bincount(label), np.zeros(len(anchors.pivots))
        np.maximum.at(radius, label, anchors.distance)
        node, start = np.empty_like(size), np.empty_like(size)
        count = np.diff(anchors.offsets)
        for k in np.unique(count):
            which = np.flatnonzero(count == k)
            rows = anchors.offsets[which, None] + np.arange(k)  # (S, k) into the anchors
            merges = self.agglomeration.merges(anchors.pivots[rows], size[rows].astype(float), radius[rows])
            below = segments[which]
            node[rows], start[rows] = place(merges, size[rows], below.node, below.start, self.node_size)
        self.order[positions] = points[np.argsort(start[label], kind="stable")]
        inner = size > 1
        return _Segments(node[inner], start[inner], size[inner])

    def _grow(self, segments: _Segments, points: Int, draws: Float) -> Anchors:
        lowest = points[np.cumsum(segments.size) - segments.size]
        first = (draws[lowest] * segments.size).astype(np.int64)
        wanted = _n_anchors(segments.size)
        if self.levels >= _MAX_LEVELS:
            # Not in the paper. Outliers far from each other become anchors of one point, √n per level, O(N²)
            # in all; one anchor without rivals is halved by distance instead, which ends in log₂ n levels.
            wanted = np.ones_like(wanted)
        if len(wanted) == 1:
            anchors = grow_anchors(self.lifted, points, int(first[0]), int(wanted[0]), threads=self.threads)
        else:
            anchors = grow_many(self.lifted, points, segments.size, first, wanted, threads=self.threads)
        self.evaluations += anchors.evaluations
        self.brute_force += int((segments.size * np.diff(anchors.offsets)).sum())
        return anchors


def _n_anchors(size: Long) -> Long:
    """⌈√n⌉"""
    return np.ceil(np.sqrt(size)).astype(np.int64)
