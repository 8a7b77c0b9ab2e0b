"""The near field (theory: Near and far field): each row's k nearest centres exactly, beside tied blocks.

    Q_i = λ_i·S_i + (1 − λ_i)·T_i,      S_ij ∝ exp(−d_ij / β_i) over the k nearest centres j of i

with T_i the row of the tree or forest. β_i = d_ik/3, a third of the divergence of the k-th centre, is the
row's own bandwidth: weights fall by at most e³ over the list, whatever the units and wherever the point lies,
as in a nearest-neighbour graph. λ_i = 0.95, or 0 for a point without a neighbour. Measured: docs/forest.md.
λ_i and β_i do not follow the walk's bandwidth: softmax weights at a narrow one label worse.
The centres are found by :mod:`bvdt.neighbours`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from .. import _core
from .._support.arrays import Float, Int, checked_integer
from .._support.progress import Progress
from .._support.running import n_threads
from ..lifting import Lifted, pair_divergences
from ..neighbours import Recall, nearest_centres

UNIT = 2.0**-29  # weights λ·S_ij are whole numbers of it, 32 bits each, in products
SHARE = round(0.95 / UNIT) * UNIT  # λ
FALL = 3.0  # d_ik / β_i
_ROWS = 1 << 16  # of lists at once
_FEW = 1 << 17  # entries of lists, a megabyte of divergences


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


@dataclass(frozen=True, eq=False)
class NearField:
    """The k nearest centres of every point, ascending; −1 and +∞ where fewer were found.

    Many dense points' divergences are not held: they are twice the indices' memory, and soon found again.
    """

    indices: Int  # (N, k)
    given: Float | None  # (N, k) divergences; None: those of ``lifted``
    share: float = SHARE
    recall: Recall | None = None  # of the lists, as the search measured it; None if it did not
    lifted: Lifted | None = None

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
        indices, divergences, reached = nearest_centres(lifted, k, rng, n_jobs, progress, recall)
        if lifted.is_sparse or indices.size <= _FEW:
            return cls(indices, divergences, recall=reached)
        return cls(indices, None, recall=reached, lifted=lifted)

    @property
    def divergences(self) -> Float:  # (N, k)
        """Of the centres from their points."""
        if self.given is not None:
            return self.given
        points = np.arange(len(self.indices), dtype=np.int32)
        return np.concatenate([self._divergences(points[rows], None) for rows in _batches(len(points))])

    def _divergences(self, points: Int, n_jobs: int | None) -> Float:  # (m,) -> (m, k)
        """Those of some points."""
        if self.given is not None:
            return self.given[points]
        assert self.lifted is not None
        listed = self.indices[points]
        nobody = listed < 0
        row, centre = np.repeat(points, listed.shape[1]), np.where(nobody, 0, listed).ravel()
        d = pair_divergences(self.lifted, self.lifted, row, centre, n_jobs).reshape(listed.shape)
        d[nobody | np.isnan(d)] = np.inf  # not a number: of points near the largest, as in the search
        return d

    @cached_property
    def far_share(self) -> Float:  # (N,)
        """1 − λ_i."""
        return np.where(self.indices[:, 0] >= 0, 1.0 - self._units * UNIT, 1.0)

    @property
    def _units(self) -> int:
        return round(self.share / UNIT)

    @cached_property
    def matrix(self) -> Any:  # CSR (N, N)
        """λ_i·S_i as a sparse matrix; products read :mod:`.links` instead, whose weights it has."""
        return self._as_matrix(UNIT * self.whole_weights()[0])

    def _as_matrix(self, values: NDArray[Any]) -> Any:  # (N, k) -> CSR (N, N)
        found, n_points = self.indices >= 0, len(self.indices)
        if found.all():
            first = np.arange(n_points + 1) * values.shape[1]
            of_rows = (values.ravel(), self.indices.ravel(), first)
            return sparse.csr_array(of_rows, shape=(n_points, n_points))
        first = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
        return sparse.csr_array((values[found], self.indices[found], first), shape=(n_points, n_points))

    @cached_property
    def symmetric(self) -> Any:
        """The mean of the matrix and its transpose."""
        return ((self.matrix + self.matrix.T) / 2).tocsr()

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
        points = np.arange(len(self.indices), dtype=np.int32) if points is None else points
        weight = np.empty((len(points), self.indices.shape[1]), np.int32)
        sums = RowSums(*np.empty((2, len(points))))
        for rows in _batches(len(points)):
            d = self._divergences(points[rows], n_jobs)
            weight[rows], (sums.cost[rows], sums.logs[rows]) = whole_weights(d, self._units, n_jobs)
        return weight, sums

    def weights_in(self, order: Int, n_jobs: int | None) -> Int:  # (N,) -> (N, k)
        """``whole_weights`` of all points, in their own order, but found in another: a tree's reads each
        centre from cache."""
        weight = np.empty(self.indices.shape, np.int32)
        for rows in _batches(len(order)):
            d = self._divergences(order[rows], n_jobs)
            weight[order[rows]], _ = whole_weights(d, self._units, n_jobs)
        return weight

    @cached_property
    def parts(self) -> NDArray[np.intp]:  # (N,)
        """Number of each point's connected part."""
        links = self._as_matrix(np.ones(self.indices.shape))
        return np.asarray(connected_components(links, directed=False)[1], np.intp)

    def row_values(self, bandwidth: float, n_jobs: int | None = None) -> Float:  # (N,)
        """−Σ_j S_ij·(d_ij/β + log S_ij): what S_i alone gives of the row's bound; 0 without a neighbour."""
        _, sums = self.whole_weights(n_jobs=n_jobs)
        return np.asarray(-(sums.cost / bandwidth + sums.logs))
