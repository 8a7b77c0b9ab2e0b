"""The anchor growing phase, Eq. (7): k pivots by farthest point, every point with its nearest pivot.

The anchors hierarchy is of Moore 2000. Differs from Section 2.3: no lists sorted by distance. One scan over
the segment per new anchor compares each point's distance with its anchor's threshold, Eq. (23): the same
pruning, the same result, and in parallel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ... import _core
from ..._support.arrays import Float, Int, Long
from ...lifting import Lifted
from .jensen import Baselined, SparseRows, baseline_of, divergence_of, mixture_sums

_PRUNING_PAYS = 0.05  # share of skipped evaluations below which thresholds are no longer computed
_NO_THRESHOLD = np.empty(0)

# Each has a dense and a sparse form, which *lifted.arrays chooses.
_steal: Callable[..., tuple[int, int]] = _core.anchor_steal
_grow: Callable[..., int] = _core.anchor_grow


@dataclass(frozen=True)
class Anchors:
    """Anchors of one or many segments, over the segments' points one after the other.

    ``pivots[offsets[s] : offsets[s + 1]]`` are segment s's, in the order they were grown; ``owner`` counts
    from 0 in each segment.
    """

    pivots: Long  # (K,) points
    offsets: Long  # (S + 1,) into pivots
    owner: Int  # (n,)
    distance: Float  # (n,) to the owner's pivot
    evaluations: int

    def halved(self, sizes: Long) -> Anchors:  # (S,)
        """Segments with one anchor cut into its nearer and its farther half, by position among equals."""
        count = np.diff(self.offsets)
        single = count == 1
        if not single.any():
            return self
        pivots = np.repeat(self.pivots, np.repeat(np.where(single, 2, 1), count))
        offsets = np.concatenate([[0], np.cumsum(np.maximum(count, 2))])
        segment = np.repeat(np.arange(len(sizes)), sizes)
        inside = np.flatnonzero(single[segment])
        ranked = inside[np.lexsort((self.distance[inside], segment[inside]))]
        middle = (np.cumsum(sizes) - sizes + sizes // 2)[segment[inside]]
        owner = self.owner.copy()
        owner[ranked] = inside >= middle
        return Anchors(pivots, offsets, owner, self.distance, self.evaluations)


def grow_anchors(
    lifted: Lifted, points: Int, first: int, n_anchors: int, *, prune: bool = True, threads: int = 1
) -> Anchors:
    """At most ``n_anchors`` anchors of one segment; ``first`` is the first pivot's position in ``points``.

    Fewer when every point already equals its pivot: a point at distance 0 is never a new pivot.
    """
    n = len(points)
    owner, distance = np.zeros(n, np.int32), np.full(n, np.inf)
    given = (*lifted.arrays, lifted.u, lifted.w, points)
    threshold = Threshold.of(lifted) if prune else None
    pivots: list[int] = []
    evaluations, position, pays = 0, first, True
    while position >= 0 and len(pivots) < n_anchors:
        pivot = int(points[position])
        limits = threshold(pivots, pivot) if threshold and pays and pivots else _NO_THRESHOLD
        done, position = _steal(*given, distance, owner, limits, position, len(pivots), threads)
        pivots.append(pivot)
        evaluations += done
        if 4 * len(pivots) >= n_anchors:
            pays = pays and evaluations < (1.0 - _PRUNING_PAYS) * n * len(pivots)
    return Anchors(np.array(pivots), np.array([0, len(pivots)]), owner, distance, evaluations)


def grow_many(
    lifted: Lifted, points: Int, sizes: Long, first: Long, n_anchors: Long, *, threads: int = 1
) -> Anchors:  # points: (Σ sizes,); sizes, first, n_anchors: (S,)
    """Anchors of many small segments at once, without pruning; as :func:`grow_anchors` for each."""
    wanted = np.concatenate([[0], np.cumsum(n_anchors)])
    owner, distance = np.zeros(len(points), np.int32), np.empty(len(points))
    pivots, grown = np.full(wanted[-1], -1, np.int32), np.zeros(len(sizes), np.int32)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    given = (*lifted.arrays, lifted.u, lifted.w, points)
    evaluations = _grow(*given, distance, owner, offsets, first, wanted, pivots, grown, threads)
    offsets = np.concatenate([[0], np.cumsum(grown)])
    return Anchors(pivots[pivots >= 0].astype(np.int64), offsets, owner, distance, evaluations)


class Threshold:
    """d_thr of a new pivot b against the older ones a: the Jensen gap of φ* at ½, Eq. (23)–(24).

    The minimiser y of Eq. (24) has gradient ½(a* + b*), whence d_thr = ½(φ*(a*) + φ*(b*)) − φ*(½(a* + b*)).
    Where all points lie on a plane, as those of ``kl``, the minimum over that plane is larger.
    """

    lifted: Lifted

    def least(self, ends: Float, middle: Float) -> Float:
        """The gap, less what rounding may have added: a threshold too small only costs evaluations."""
        gap = ends - middle - 1e-10 * (np.abs(ends) + np.abs(middle))
        assert self.lifted.lifting is not None
        return divergence_of(self.lifted).threshold(gap, self.lifted.lifting.smoothing)

    @staticmethod
    def of(lifted: Lifted) -> Callable[[list[int], int], Float]:
        return SparseThreshold(lifted) if lifted.is_sparse else DenseThreshold(lifted)


class DenseThreshold(Threshold):
    def __init__(self, lifted: Lifted) -> None:
        self.lifted = lifted
        self.conjugate_sum: Callable[[Float], Float] = divergence_of(lifted).conjugate_sum

    def __call__(self, older: list[int], new: int) -> Float:  # (len(older),)
        w, H = self.lifted.w, self.lifted.H
        ends = 0.5 * (w[older] + w[new])  # w = φ*(h) for dense points
        middle = self.conjugate_sum(0.5 * (H[older] + H[new]))
        return self.least(ends, middle)


class SparseThreshold(Threshold):
    def __init__(self, lifted: Lifted) -> None:
        divergence, base = divergence_of(lifted), baseline_of(lifted)
        self.lifted, self.H = lifted, lifted.H
        self.f = Baselined.of(divergence.conjugate, divergence.grad(base))
        self.scratch = np.zeros(lifted.n_features)
        self.rows: list[tuple[Long, Float]] = []
        self.ends: list[float] = []

    def __call__(self, older: list[int], new: int) -> Float:  # (len(older),)
        for pivot in [*older, new][len(self.rows) :]:
            entries = slice(self.H.indptr[pivot], self.H.indptr[pivot + 1])
            columns, values = self.H.indices[entries], self.H.data[entries]
            self.rows.append((columns, values))
            self.ends.append(float(self.f(values, columns).sum()))
        ends = 0.5 * (np.array(self.ends[:-1]) + self.ends[-1])
        half = np.full(len(older), 0.5)
        middle = mixture_sums(self.f, self.rows[-1], SparseRows.stack(self.rows[:-1]), half, self.scratch)
        return self.least(ends, middle)
