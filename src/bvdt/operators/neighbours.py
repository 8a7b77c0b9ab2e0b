"""The search for each point's nearest centres.

They are found, not all looked at. Up to ``CHUNK`` points all pairs are compared. More are cut by 2-means, as
in the first round of a Ward tree:

- dense points once, into cells of at most ``CELL``; a point is compared with the cells whose means are the
  nearest to it until they hold ``PAIRS`` points (an inverted file, Jégou et al. 2011, for any divergence);
- sparse points from ``ROUNDS`` seeds, into chunks of at most ``CHUNK``; all pairs of a chunk are compared,
  then neighbours of neighbours are offered twice (steps of NN-descent, Dong et al. 2011).
"""

from __future__ import annotations

import numpy as np

from .. import _core
from .._support.arrays import Float, Int, Long
from .._support.progress import Progress, stage
from .._support.running import n_threads
from ..lifting import Lifted, pair_divergences
from ..tree import cut_into_chunks

CHUNK = 2000  # points compared with each other
ROUNDS = 3  # chunks that a sparse point is in
JOINS = 2  # passes over neighbours of neighbours of sparse points
CELL = 150  # dense points in a cell
PAIRS = 6000  # centres that a dense point is compared with, or 8 for each that is sought


def nearest_centres(
    lifted: Lifted,
    k: int,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    progress: Progress = False,
    *,
    rows: int | None = None,
) -> tuple[Int, Float]:  # (N, k) ×2
    """Each point's k nearest centres and their divergences, ascending; −1 and +∞ where fewer were found.

    ``rows``: only the lists of so many first points are wanted, (rows, k); the others are centres alone.
    O(N·PAIRS + (N/CELL)²) time, for sparse data O(N·CHUNK).
    """
    rows = lifted.n_points if rows is None else rows
    indices, divergences = np.full((lifted.n_points, k), -1, np.int32), np.full((lifted.n_points, k), np.inf)
    if lifted.is_sparse or lifted.n_points <= CHUNK:
        _search_chunks(lifted, indices, divergences, rng, n_jobs, progress)
        return _exactly(lifted, indices[:rows], n_jobs)
    _search_cells(lifted, indices, divergences, rng, n_jobs, progress, rows)
    return indices[:rows], divergences[:rows]


def _search_chunks(
    lifted: Lifted,
    indices: Int,
    divergences: Float,
    rng: np.random.Generator,
    n_jobs: int | None,
    progress: Progress,
) -> None:
    """Fills the lists from chunks, then from neighbours of neighbours."""
    call, threads = (*lifted.arrays, lifted.u, lifted.w), n_threads(n_jobs)
    rounds, joins = (ROUNDS, JOINS) if lifted.n_points > CHUNK else (1, 0)
    with stage(progress, "nearest centres", rounds + joins) as advance:
        for _ in range(rounds):
            chunks = cut_into_chunks(lifted, CHUNK, rng, n_jobs)
            offered = (*call, *chunks, indices, divergences, threads)
            _core.chunk_neighbors(*offered)
            advance(1)
        for _ in range(joins):
            offered = (*call, indices.copy(), indices, divergences, threads)
            _core.join_neighbors(*offered)
            advance(1)


def _search_cells(
    lifted: Lifted,
    indices: Int,
    divergences: Float,
    rng: np.random.Generator,
    n_jobs: int | None,
    progress: Progress,
    rows: int,
) -> None:
    """Fills the lists from the nearest cells; ascending by divergence in double precision, then by index."""
    order, bounds, n_cells = _cut_into_cells(lifted, rows, rng, n_jobs)
    threads = n_threads(n_jobs)
    cells = _core.Cells(lifted.X, lifted.H, lifted.u, lifted.w, order, bounds, threads)
    pairs = max(PAIRS, 8 * indices.shape[1])
    step = 512 * threads  # short kernel calls, so that Ctrl-C is answered between them
    with stage(progress, "nearest centres", n_cells) as advance:
        for first in range(0, n_cells, step):
            last = min(first + step, n_cells)
            cells.search(first, last, pairs, indices, divergences, threads)
            advance(last - first)


def _cut_into_cells(
    lifted: Lifted, rows: int, rng: np.random.Generator, n_jobs: int | None
) -> tuple[Int, Long, int]:  # (N,), (n_cells + 1,), cells of the points with lists
    """Cells of the points whose lists are wanted, then cells of the others."""
    order, bounds = cut_into_chunks(lifted.slice(0, rows), CELL, rng, n_jobs)
    if rows == lifted.n_points:
        return order, bounds, len(bounds) - 1
    others, more = cut_into_chunks(lifted.slice(rows, lifted.n_points), CELL, rng, n_jobs)
    both = np.concatenate([order, others + np.int32(rows)])
    return both, np.concatenate([bounds, rows + more[1:]]), len(bounds) - 1


def _exactly(lifted: Lifted, indices: Int, n_jobs: int | None) -> tuple[Int, Float]:
    """The lists with divergences in double precision throughout, ascending by them, then by index."""
    found = indices >= 0
    row = np.repeat(np.arange(len(indices)), found.sum(axis=1))
    centre = indices[found]
    d = np.full(indices.shape, np.inf)
    d[found] = pair_divergences(lifted, lifted, row, centre, n_jobs)
    order = np.lexsort((indices, d), axis=1)
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(d, order, axis=1)
