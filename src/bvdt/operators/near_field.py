"""The near field (theory: Near and far field): each row's k nearest centres exactly, beside tied blocks.

    Q_i = λ_i·S_i + (1 − λ_i)·T_i,      S_ij ∝ exp(−d_ij / β_i) over the k nearest centres j of i

with T_i the row of the tree or forest. β_i = d_ik/3, a third of the divergence of the k-th centre, is the
row's own bandwidth: weights fall by at most e³ over the list, whatever the units and wherever the point lies,
as in a nearest-neighbour graph. λ_i = 0.95, or 0 for a point without a neighbour. Measured: docs/forest.md.
λ_i and β_i do not follow the walk's bandwidth: softmax weights at a narrow one label worse.
The centres are found by :mod:`bvdt.neighbors`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _core
from .._support import memory
from .._support.arrays import Float, Index, Int, checked_integer
from .._support.progress import Progress
from .._support.running import n_threads
from .._support.sparse import read_only
from ..lifting import Lifted, pair_divergences
from ..neighbors import NeighborIndex, Recall, joined_lists, neighbor_graph

UNIT = 2.0**-29  # weights λ·S_ij are whole numbers of it, 32 bits each, in products
SHARE = round(0.95 / UNIT) * UNIT  # λ
FALL = 3.0  # d_ik / β_i
_ROWS = 1 << 14  # of lists at once
_HELD = 1 << 17  # divergences of dense points that are held: a megabyte


def near_weights(divergences: Float) -> Float:  # (m, k) -> (m, k)
    """S_ij ∝ exp(−d_ij/β_i), β_i a third of the row's largest divergence; +∞ has weight 0."""
    found = divergences < np.inf
    last = np.max(divergences, axis=1, initial=0.0, where=found, keepdims=True)
    scale = np.where(last > 0, last / FALL, 1.0)  # all centres at 0: equal weights
    weight = np.where(found, np.exp(-divergences / scale), 0.0)
    return np.asarray(weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-300))


class RowSums(NamedTuple):
    """What the bound needs of a row, (N,) each."""

    cost: Float  # Σ_j S_ij·d_ij
    logs: Float  # Σ_j S_ij·log S_ij


def whole_weights(
    divergences: Float, units: int = round(SHARE / UNIT), n_jobs: int | None = None
) -> tuple[Int, RowSums]:  # (m, k) -> (m, k)
    """``near_weights`` times ``units``, in whole numbers that sum to it in every row; and what else it tells.

    They are rounded down, and the row's largest takes what is left, less than one unit per entry.
    """
    divergences = np.ascontiguousarray(divergences, np.float64)
    weight, sums = np.empty(divergences.shape, np.int32), RowSums(*np.empty((2, len(divergences))))
    threads = n_threads(n_jobs, 16.0 * divergences.size)  # an exponential each
    _core.weigh_lists(divergences, FALL, units, weight, *sums, threads)
    return weight, sums


def _batches(n_rows: int) -> Iterator[slice]:
    return (slice(first, min(first + _ROWS, n_rows)) for first in range(0, n_rows, _ROWS))


def _inverse(order: Int) -> Int:
    place = np.empty_like(order)
    place[order] = np.arange(len(order), dtype=order.dtype)
    return place


def _with_nobody(numbers: Int) -> Int:
    """The numbers of 0, 1, …, and −1 for −1."""
    return np.append(numbers, np.int32(-1))


class NearField:
    """The k nearest centres of every point, ascending; −1 and +∞ where fewer were found.

    Many dense points' divergences are not held: they are twice the indices' memory, and soon found again.
    """

    indices: Int  # (N, k) in the points' own order and numbers
    given: Float | None  # (N, k) divergences; None: those of ``lifted``
    share: float
    recall: Recall | None  # of the lists, as the search measured it; None if it did not
    lifted: Lifted | None
    index: NeighborIndex | None  # that the lists come from

    def __init__(
        self,
        indices: Int,  # (N, k)
        given: Float | None,
        share: float = SHARE,
        recall: Recall | None = None,
        lifted: Lifted | None = None,
        index: NeighborIndex | None = None,
    ) -> None:
        self.indices, self.index = indices, index
        self._mean: tuple[Int, _core.Links] | None = None
        self.n_points, self.k = indices.shape
        self.given, self.share, self.recall, self.lifted = given, share, recall, lifted

    def __reduce__(self) -> tuple[Any, ...]:
        return NearField, (self.indices, self.given, self.share, self.recall, self.lifted, self.index)

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
        """That of the k nearest centres of every point."""
        k = checked_integer(k, "near", 1, lifted.n_points - 1)
        index: NeighborIndex | None
        index, lists, reached = neighbor_graph(lifted, k, rng, n_jobs, progress, recall)
        indices, divergences = lists
        index = index if index.serves_new_points else None
        if lifted.is_sparse:
            return cls(indices, divergences, recall=reached, index=index)
        held = divergences if indices.size <= _HELD else None
        return cls(indices, held, recall=reached, lifted=lifted, index=index)

    def joined(self, lifted: Lifted) -> NearField:
        """That of the same points and of those after them in ``lifted``; k stays.

        Exact lists stay exact; the recall of others is not measured again.
        """
        indices, divergences = joined_lists(lifted, self.indices, self.divergences)
        recall = Recall.exact() if self.recall == Recall.exact() else None
        if lifted.is_sparse:
            return NearField(indices, divergences, self.share, recall)
        held = divergences if indices.size <= _HELD else None
        return NearField(indices, held, self.share, recall, lifted)

    def divergences_of(self, points: Index) -> Float:  # (m,) -> (m, k)
        """Those of some points' lists."""
        return self._divergences(points.astype(np.int32), self.indices[points], None)

    @property
    def divergences(self) -> Float:  # (N, k)
        """Of the centres from their points."""
        if self.given is not None:
            return self.given
        indices, points = self.indices, np.arange(self.n_points, dtype=np.int32)
        parts = [self._divergences(points[rows], indices[rows], None) for rows in _batches(len(points))]
        return np.concatenate(parts)

    def _divergences(self, points: Int, listed: Int, n_jobs: int | None) -> Float:  # (m,), (m, k) -> (m, k)
        """Those of some points' lists."""
        if self.given is not None:
            return self.given[points]
        assert self.lifted is not None
        nobody = listed < 0
        row, centre = np.repeat(points, listed.shape[1]), np.where(nobody, 0, listed).ravel()
        d = pair_divergences(self.lifted, self.lifted, row, centre, n_jobs).reshape(listed.shape)
        d[nobody | np.isnan(d)] = np.inf  # not a number: of points near the largest, as in the search
        return d

    @cached_property
    def far_share(self) -> Float:  # (N,)
        """1 − λ_i; one number for all, where all points have a neighbour."""
        far = 1.0 - self._units * UNIT
        found = self.indices[:, 0] >= 0
        return np.broadcast_to(far, self.n_points) if found.all() else np.where(found, far, 1.0)

    @property
    def _units(self) -> int:
        return round(self.share / UNIT)

    @cached_property
    def matrix(self) -> Any:  # CSR (N, N)
        """λ_i·S_i as a sparse matrix; products read :mod:`.links` instead, whose weights it has."""
        return read_only(self._as_matrix(UNIT * self.whole_weights()[0]))

    def _as_matrix(self, values: NDArray[Any]) -> Any:  # (N, k) -> CSR (N, N)
        indices, shape = self.indices, (self.n_points, self.n_points)
        found = indices >= 0
        if found.all():
            first = np.arange(self.n_points + 1) * self.k
            return sparse.csr_array((values.ravel(), indices.flatten(), first), shape=shape)
        first = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
        return sparse.csr_array((values[found], indices[found], first), shape=shape)

    @cached_property
    def symmetric(self) -> Any:
        """The mean of the matrix and its transpose; threads share it, so its rows are sorted now."""
        return read_only(((self.matrix + self.matrix.T) / 2).tocsr())

    @cached_property
    def even(self) -> bool:
        """Whether all rows have one share of the far field."""
        return bool((self.far_share == self.far_share[0]).all())

    def whole_weights(
        self, points: Int | None = None, n_jobs: int | None = None
    ) -> tuple[Int, RowSums]:  # (m,) -> (m, k), (m,) ×2
        """λ·S of some points in ``UNIT``s, 0 where there is nobody; rows sum to λ exactly. And their sums.

        All points, if None.
        """
        points = np.arange(self.n_points, dtype=np.int32) if points is None else points
        weight = np.empty((len(points), self.k), np.int32)
        sums = RowSums(*np.empty((2, len(points))))
        for rows in _batches(len(points)):
            d = self._divergences(points[rows], self.indices[points[rows]], n_jobs)
            weight[rows], (sums.cost[rows], sums.logs[rows]) = whole_weights(d, self._units, n_jobs)
        return weight, sums

    def weights_in(self, order: Int, n_jobs: int | None) -> Iterator[tuple[slice, Int]]:
        """``whole_weights`` of all points, (m, k) for slices of places in an order: a tree's reads each
        centre from cache."""
        for rows in _batches(self.n_points):
            points = order[rows]
            d = self._divergences(points, self.indices[points], n_jobs)
            yield rows, whole_weights(d, self._units, n_jobs)[0]

    def placed(self, order: Int) -> Int:  # (N, k)
        """The lists in an order, and in its numbers."""
        place, listed = _with_nobody(_inverse(order)), np.empty_like(self.indices)
        for rows in _batches(self.n_points):
            listed[rows] = place[self.indices[order[rows]]]
        return listed

    def mean_links(
        self, order: Int, n_jobs: int | None, threads: int, forward: _core.Links | None = None
    ) -> _core.Links:
        """(λS + (λS)ᵀ)/2 in an order; ``forward``: λS in that order, if it is there.

        The last ones are kept for all walks in their order.
        """
        last = self._mean
        if last is not None and np.array_equal(last[0], order):
            return last[1]
        making = _core.MeanLinks(self.placed(order), UNIT, order, threads)
        if forward is not None and len(forward.weight) == self.n_points * self.k:
            making.weigh(0, forward.weight.reshape(self.n_points, self.k))
        else:
            for rows, weight in self.weights_in(order, n_jobs):
                making.weigh(rows.start, weight)
        links = making.finished(threads)
        self._mean = order, links
        memory.give_back(self.n_points)
        return links

    @cached_property
    def parts(self) -> NDArray[np.intp]:  # (N,)
        """Number of each point's connected part."""
        return self.parts_among(None)

    def parts_among(self, kept: NDArray[np.bool_] | None) -> NDArray[np.intp]:  # (N,)
        """The same without the links of points that are not kept."""
        indices, part = np.ascontiguousarray(self.indices, np.int32), np.empty(self.n_points, np.int32)
        if kept is not None:
            kept = np.append(kept, False)  # for nobody, −1
            indices = np.where(kept[:-1, None] & kept[indices], indices, np.int32(-1))
        _core.linked_parts(indices, part)
        return part.astype(np.intp)

    def row_values(self, bandwidth: float, n_jobs: int | None = None) -> Float:  # (N,)
        """−Σ_j S_ij·(d_ij/β + log S_ij): what S_i alone gives of the row's bound; 0 without a neighbour."""
        _, sums = self.whole_weights(n_jobs=n_jobs)
        return np.asarray(-(sums.cost / bandwidth + sums.logs))
