"""The search in dense points: cells, found by 2-means, of which a row is compared with the nearest ones'.

An inverted file (Jégou et al. 2011) for any divergence. Points of many coordinates are cut and compared in
fewer (:mod:`.projection`), and the best of those ranked again by the divergence itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._support.arrays import Float, Int, Long
from .._support.progress import Progress, stage
from .._support.running import n_threads
from ..lifting import Lifted, pair_divergences
from ..tree import cut_into_chunks
from .projection import Projection

CELL = 250  # points in a cell, at most
_QUERIES = 1 << 22  # scores of new rows with cells at once


@dataclass(frozen=True)
class Effort:
    """What a search spends: centres that a row is compared with, and how many of them are ranked again."""

    pairs: int
    ranked: int  # of k or more, if points were projected


@dataclass(frozen=True, eq=False)
class CellIndex:
    """Centres in cells, ready to be searched."""

    lifted: Lifted
    projection: Projection | None
    points: Lifted  # as they are compared: projected, or ``lifted``
    order: Int  # (N,)
    bounds: Long  # (n_cells + 1,)
    cells: Any
    n_jobs: int | None

    @classmethod
    def of(
        cls,
        lifted: Lifted,
        projected: tuple[Projection, Lifted] | None,
        rng: np.random.Generator,
        n_jobs: int | None,
    ) -> CellIndex:
        """The centres cut into cells of at most ``CELL``, as they are or projected."""
        projection, points = (None, lifted) if projected is None else projected
        order, bounds = cut_into_chunks(points, CELL, rng, n_jobs)
        return cls._packed(lifted, projection, points, order, bounds, n_jobs)

    @classmethod
    def _packed(
        cls,
        lifted: Lifted,
        projection: Projection | None,
        points: Lifted,
        order: Int,
        bounds: Long,
        n_jobs: int | None,
    ) -> CellIndex:
        arrays = (points.X, points.H, points.u, points.w, order, bounds)
        cells = _core.Cells(*arrays, n_threads(n_jobs, 16 * points.n_values))
        return cls(lifted, projection, points, order, bounds, cells, n_jobs)

    def __reduce__(self) -> tuple[Any, ...]:
        """Without the packed cells: a copy packs its own."""
        return self._packed, (self.lifted, self.projection, self.points, self.order, self.bounds, self.n_jobs)

    @property
    def cell_of(self) -> Int:  # (N,)
        """Each centre's cell."""
        cell = np.empty(len(self.order), np.int32)
        cell[self.order] = np.repeat(np.arange(len(self.bounds) - 1, dtype=np.int32), np.diff(self.bounds))
        return cell

    def search_all(self, k: int, effort: Effort, progress: Progress = False) -> tuple[Int, Float]:
        """Lists of all points, without themselves."""
        width = self._width(k, effort)
        return self.finished(None, *self.compare_all(width, max(effort.pairs, width + 1), progress), k)

    def compare_all(
        self, width: int, pairs: int, progress: Progress = False
    ) -> tuple[Int, Float]:  # (N, width) ×2
        """Lists of all points as they are compared, not ranked again."""
        index, divergence = lists = _empty(self.lifted.n_points, width)
        for first, last, threads in self.stretches("nearest centres", progress):
            self.cells.search(first, last, pairs, index, divergence, threads)
        return lists

    def finished(
        self, rows: NDArray[Any] | None, index: Int, divergence: Float, k: int
    ) -> tuple[Int, Float]:  # (n, k) ×2
        """The k best of the lists of some points (all, if None), ranked again if they were projected."""
        if self.projection is None:
            return np.ascontiguousarray(index[:, :k]), np.ascontiguousarray(divergence[:, :k])
        return self.ranked(rows, index, divergence, k)

    def ranked(
        self, rows: NDArray[Any] | None, index: Int, estimate: Float, k: int
    ) -> tuple[Int, Float]:  # (n, k) ×2
        """The k best by the divergence itself, of lists of some points (all, if None) by an estimate."""
        if rows is None:
            return self._ranked_again(self.lifted, self.order, index, estimate, k)
        order = np.arange(len(rows), dtype=np.int32)
        return self._ranked_again(taken(self.lifted, rows), order, index, estimate, k)

    def stretches(self, what: str, progress: Progress) -> Iterator[tuple[int, int, int]]:
        """Cells first … last − 1 and threads: short kernel calls, so that Ctrl-C is answered between them."""
        threads, n_cells = n_threads(self.n_jobs), len(self.bounds) - 1
        step = 512 * threads
        with stage(progress, what, n_cells) as advance:
            for first in range(0, n_cells, step):
                last = min(first + step, n_cells)
                yield first, last, threads
                advance(last - first)

    def search_own(self, chosen: NDArray[Any], k: int, effort: Effort) -> tuple[Int, Float]:
        """Lists of the chosen points, without themselves; as ``search_all`` finds them."""
        found = self.compare_own(chosen, self._width(k, effort), effort.pairs)
        return self.finished(chosen, *found, k)

    def compare_own(
        self, chosen: NDArray[Any], width: int, pairs: int, home: Int | None = None
    ) -> tuple[Int, Float]:  # (n, width) ×2
        """The same as they are compared, not ranked again; ``home``: other cells to set out from."""
        points, own = taken(self.points, chosen), chosen.astype(np.int32)
        return self._search(points, own, self.cell_of[chosen] if home is None else home, width, pairs)

    def search_new(self, new: Lifted, k: int, effort: Effort) -> tuple[Int, Float]:
        """Lists of other points, lifted alike."""
        points = new if self.projection is None else self.projection(new)
        nobody = np.full(new.n_points, -1, np.int32)
        width = self._width(k, effort)
        found = self._search(points, nobody, self.nearest_cells(points), width, effort.pairs)
        if self.projection is None:
            return found
        return self._ranked_again(new, np.arange(new.n_points, dtype=np.int32), *found, k)

    def scores(self, points: Lifted, rows: Any) -> Float:  # (n, n_cells)
        """⟨x − x̄, h − h̄⟩ of rows and cells' means, less what depends on the row alone."""
        turned, own = self.cells.means()
        turned = turned.reshape(-1, len(own))
        d = points.n_features
        scores = points.X[rows] @ turned[:d]
        scores += points.H[rows] @ turned[d:]
        return np.asarray(np.subtract(own, scores, out=scores))

    def scores_from(self, cells: Int) -> Float:  # (n,) -> (n, n_cells)
        """The same of cells' means instead of rows: how near the others are to them."""
        turned, own = self.cells.means()
        turned = turned.reshape(-1, len(own))
        h, x = np.split(turned, 2)
        return np.asarray(own - x[:, cells].T @ h - h[:, cells].T @ x)

    def nearest_cells(self, points: Lifted) -> Int:  # (n,)
        """The cell whose mean is the nearest."""
        home = np.empty(points.n_points, np.int32)
        step = max(1, _QUERIES // len(self.bounds))
        for first in range(0, points.n_points, step):
            rows = slice(first, first + step)
            home[rows] = np.argmin(self.scores(points, rows), axis=1)
        return home

    def _width(self, k: int, effort: Effort) -> int:
        return k if self.projection is None else min(max(k, effort.ranked), self.lifted.n_points - 1)

    def _search(
        self, points: Lifted, own: Int, home: Int, width: int, pairs: int
    ) -> tuple[Int, Float]:  # (n, width) ×2
        """Lists of rows that each have a cell as their home."""
        index, divergence = _empty(points.n_points, width)
        order = np.argsort(home, kind="stable").astype(np.int32)
        cells, first = np.unique(home[order], return_index=True)
        groups = (order, np.append(first, len(order)).astype(np.int64), cells.astype(np.int32))
        arrays = (points.X, points.H, points.u, own)
        self.cells.search_rows(
            *arrays, *groups, max(pairs, width + 1), index, divergence, n_threads(self.n_jobs)
        )
        return index, divergence

    def _ranked_again(
        self, rows: Lifted, order: Int, index: Int, estimate: Float, k: int
    ) -> tuple[Int, Float]:  # (n, width) ×2 -> (n, k) ×2
        """The k best by the divergence itself, ascending, then by index.

        ``order``: of the rows, so that those which have the same candidates stand side by side.
        """
        lists = np.empty((rows.n_points, k), np.int32), np.empty((rows.n_points, k))
        arrays = (rows.X, self.lifted.H, rows.u, self.lifted.w, order, index, estimate)
        threads = n_threads(self.n_jobs, float(index.size) * rows.n_features)
        _core.rank_exactly(*arrays, self.is_bound, *lists, threads)
        return lists

    @property
    def is_bound(self) -> bool:
        """Whether no divergence is below its estimate."""
        return self.projection is None or self.projection.is_bound


def taken(lifted: Lifted, rows: NDArray[Any]) -> Lifted:
    """Some of the points."""
    X = lifted.X[rows]
    return Lifted(lifted.u[rows], lifted.w[rows], X, X if lifted.H is lifted.X else lifted.H[rows])


def ranked_again(
    rows: Lifted, centres: Lifted, index: Int, k: int, n_jobs: int | None
) -> tuple[Int, Float]:  # (n, k') -> (n, k) ×2
    """The k best of each list in double precision, ascending by divergence, then by index."""
    found = index >= 0
    row = np.repeat(np.arange(len(index)), found.sum(axis=1))
    d = np.full(index.shape, np.inf)
    d[found] = pair_divergences(rows, centres, row, index[found], n_jobs)
    order = np.lexsort((index, d), axis=1)[:, :k]
    return np.take_along_axis(index, order, axis=1), np.take_along_axis(d, order, axis=1)


def _empty(n: int, k: int) -> tuple[Int, Float]:
    return np.full((n, k), -1, np.int32), np.full((n, k), np.inf)
