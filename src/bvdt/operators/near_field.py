"""The near field (theory: Near and far field): each row's k nearest centers exactly, beside tied blocks.

    Q_i = λ_i·S_i + (1 − λ_i)·T_i,      S_ij ∝ exp(−d_ij / β_i) over the k nearest centers j of i

with T_i the row of the tree or forest. β_i = d_ik/3, a third of the divergence of the k-th center, is the
row's own bandwidth: weights fall by at most e³ over the list, whatever the units and wherever the point lies,
as in a nearest-neighbor graph. λ_i = 0.95, or 0 for a point without a neighbor: docs/decisions.md, 16.
λ_i and β_i do not follow the walk's bandwidth: softmax weights at a narrow one label worse.
The centers are found by :mod:`bvdt.neighbors`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from .. import _core
from .._support.arrays import Float, Index, Int, Mask, checked_integer
from .._support.progress import Progress
from .._support.running import n_threads
from .._support.sparse import read_only
from ..lifting import Lifted, pair_divergences
from ..neighbors import NeighborIndex, Recall, joined_lists, neighbor_graph

UNIT = 2.0**-29  # weights λ·S_ij are whole numbers of it, 32 bits each: so rows sum to λ exactly
SHARE = round(0.95 / UNIT) * UNIT  # λ
FALL = 3.0  # d_ik / β_i
_ROWS = 1 << 14  # of lists at once
_HELD = 1 << 17  # divergences of dense points that are held: a megabyte


def near_weights(divergences: Float) -> Float:  # (m, k) -> (m, k)
    """S_ij ∝ exp(−d_ij/β_i), β_i a third of the row's largest divergence; +∞ has weight 0."""
    found = divergences < np.inf
    last = np.max(divergences, axis=1, initial=0.0, where=found, keepdims=True)
    scale = np.where(last > 0, last / FALL, 1.0)  # all centers at 0: equal weights
    weight = np.where(found, np.exp(-divergences / scale), 0.0)
    return np.asarray(weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-300))


class RowSums(NamedTuple):
    """What the bound needs of a row, (N,) each."""

    cost: Float  # Σ_j S_ij·d_ij
    logs: Float  # Σ_j S_ij·log S_ij


def whole_weights(
    divergences: Float, units: int = round(SHARE / UNIT), n_jobs: int | None = None
) -> tuple[Int, RowSums]:  # (m, k) -> (m, k)
    """``near_weights`` times ``units``, in whole numbers that sum to it in every row, and the rows' sums.

    They are rounded down, and the row's largest takes what is left, less than one unit per entry.
    """
    divergences = np.ascontiguousarray(divergences, np.float64)
    weight, sums = np.empty(divergences.shape, np.int32), RowSums(*np.empty((2, len(divergences))))
    threads = n_threads(n_jobs, 16.0 * divergences.size)  # an exponential each
    _core.weigh_lists(divergences, FALL, units, weight, *sums, threads)
    return weight, sums


@dataclass(frozen=True, eq=False)
class NearField:
    """The k nearest centers of every point, ascending; −1 and +∞ where fewer were found.

    Many dense points' divergences are not held: they are twice the indices' memory, and soon found again.
    """

    indices: Int  # (N, k) in the points' own order and numbers
    given: Float | None  # (N, k) divergences; None: those of ``lifted``
    share: float = SHARE
    recall: Recall | None = None  # of the lists, as the search measured it; None if it did not
    lifted: Lifted | None = None
    index: NeighborIndex | None = None  # that the lists come from

    def __getstate__(self) -> dict[str, object]:
        """Without what is derived."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def n_points(self) -> int:
        return len(self.indices)

    @property
    def k(self) -> int:
        return int(self.indices.shape[1])

    @classmethod
    def of(
        cls,
        lifted: Lifted,
        k: int,
        rng: np.random.Generator,
        n_jobs: int | None = None,
        progress: Progress = False,
        recall: float | None = None,
    ) -> NearField:
        """That of the k nearest centers of every point."""
        k = checked_integer(k, "n_neighbors", 1, lifted.n_points - 1)
        index: NeighborIndex | None
        index, lists, reached = neighbor_graph(lifted, k, rng, n_jobs, progress, recall)
        return cls._held(lifted, *lists, reached, index if index.serves_new_points else None)

    @classmethod
    def _held(
        cls,
        lifted: Lifted,
        indices: Int,
        divergences: Float,
        recall: Recall | None,
        index: NeighborIndex | None = None,
    ) -> NearField:
        """With the divergences of sparse or mixed points, or of few."""
        if lifted.is_sparse or lifted.is_mixed:
            return cls(indices, divergences, recall=recall, index=index)
        few = divergences if indices.size <= _HELD else None
        return cls(indices, few, recall=recall, lifted=lifted, index=index)

    def joined(self, lifted: Lifted) -> NearField:
        """That of the same points and of those after them in ``lifted``; k stays.

        Exact lists stay exact; the recall of others is not measured again.
        """
        indices, divergences = joined_lists(lifted, self.indices, self.divergences)
        recall = Recall.exact() if self.recall == Recall.exact() else None
        return replace(self._held(lifted, indices, divergences, recall), share=self.share)

    # -- divergences and weights --------------------------------------------------------------------------

    @property
    def divergences(self) -> Float:  # (N, k)
        """Of the centers from their points."""
        if self.given is not None:
            return self.given
        points = np.arange(self.n_points)
        return np.concatenate([self.divergences_of(part) for part in np.split(points, points[_ROWS::_ROWS])])

    def divergences_of(self, points: Index | Int, n_jobs: int | None = None) -> Float:  # (m,) -> (m, k)
        """Those of some points' lists."""
        if self.given is not None:
            return self.given[points]
        assert self.lifted is not None
        listed = self.indices[points]
        missing = listed < 0
        row, center = np.repeat(points.astype(np.int32), self.k), np.where(missing, 0, listed).ravel()
        d = pair_divergences(self.lifted, self.lifted, row, center, n_jobs).reshape(listed.shape)
        d[missing | np.isnan(d)] = np.inf  # not a number: of points near the largest, as in the search
        return d

    def whole_weights(
        self, n_jobs: int | None = None, order: Int | None = None
    ) -> tuple[Int, RowSums]:  # (N, k), (N,) ×2
        """λ·S in ``UNIT``s, 0 where the list is shorter; rows sum to λ exactly. And the rows' sums.

        ``order``: in which rows are worked on; a tree's reads each center from cache.
        """
        weight, sums = np.empty((self.n_points, self.k), np.int32), RowSums(*np.empty((2, self.n_points)))
        order = np.arange(self.n_points, dtype=np.int32) if order is None else order
        for first in range(0, self.n_points, _ROWS):
            points = order[first : first + _ROWS]
            d = self.divergences_of(points, n_jobs)
            weight[points], (sums.cost[points], sums.logs[points]) = whole_weights(d, self._units, n_jobs)
        return weight, sums

    def row(self, point: int) -> tuple[Int, Float]:
        """Columns and entries of a row of λS."""
        listed, d = self.indices[point], self.divergences_of(np.array([point]), 1)
        weight = whole_weights(d, self._units, 1)[0][0]
        return listed[listed >= 0], UNIT * weight[listed >= 0]

    def row_values(self, bandwidth: float, n_jobs: int | None = None) -> Float:  # (N,)
        """−Σ_j S_ij·(d_ij/β + log S_ij): what S_i alone gives of the row's bound; 0 without a neighbor."""
        _, sums = self.whole_weights(n_jobs)
        return np.asarray(-(sums.cost / bandwidth + sums.logs))

    @cached_property
    def far_share(self) -> Float:  # (N,)
        """1 − λ_i; one number for all, where all points have a neighbor."""
        far = 1.0 - self._units * UNIT
        found = self.indices[:, 0] >= 0
        return np.broadcast_to(far, self.n_points) if found.all() else np.where(found, far, 1.0)

    @cached_property
    def uniform_mixing(self) -> bool:
        """Whether all rows have one share of the far field."""
        return bool((self.far_share == self.far_share[0]).all())

    @property
    def _units(self) -> int:
        return round(self.share / UNIT)

    # -- as a matrix --------------------------------------------------------------------------------------

    def in_order(self, order: Int, n_jobs: int | None = None) -> _core.Links:
        """λS with its points in an order."""
        indices = np.ascontiguousarray(self.indices, np.int32)
        threads = n_threads(n_jobs, 8.0 * indices.size)
        return _core.Links(indices, self.whole_weights(n_jobs, order)[0], UNIT, order, threads)

    @cached_property
    def matrix(self) -> csr_array:  # (N, N)
        """λ_i·S_i as a sparse matrix; products read ``in_order`` instead, whose weights it has."""
        found = self.indices >= 0
        first = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
        values = UNIT * self.whole_weights()[0][found]
        return read_only(csr_array((values, self.indices[found], first), shape=(self.n_points,) * 2))

    @cached_property
    def symmetric(self) -> csr_array:  # (N, N)
        """The mean of the matrix and its transpose; threads share it, so its rows are sorted now."""
        return read_only(((self.matrix + self.matrix.T) / 2).tocsr())

    def parts(self, kept: Mask | None = None) -> Index:  # (N,)
        """Number of each point's connected part, without the links of points that are not ``kept``."""
        indices, part = np.ascontiguousarray(self.indices, np.int32), np.empty(self.n_points, np.int32)
        if kept is not None:
            linked = np.append(kept, False)  # the last for −1
            indices = np.where(kept[:, None] & linked[indices], indices, np.int32(-1))
        _core.linked_parts(indices, part)
        return part.astype(np.intp)
