"""The near field (DESIGN 2.9): each row's k nearest centres kept exactly, beside the trees' tied blocks.

    Q_i = λ_i·S_i + (1 − λ_i)·T_i,      S_ij ∝ exp(−d_ij / β_i) over the k nearest centres j of i

with T_i the row of the tree or forest. β_i = d_ik/3, a third of the divergence of the k-th centre, is the
row's own bandwidth: weights fall by at most e³ over the list, whatever the units and wherever the point lies,
as in a nearest-neighbour graph. λ_i = 0.95, or 0 for a point without a neighbour. Measured: docs/forest.md.
Differs from DESIGN 2.9: λ_i and β_i do not follow the walk's bandwidth; softmax weights at it label worse.

The centres are found, not all looked at. Up to ``CHUNK`` points all pairs are compared. More are cut by
2-means, as in the first round of a Ward tree:

- dense points once, into cells of at most ``CELL``; a point is compared with the cells whose means are the
  nearest to it until they hold ``PAIRS`` points (an inverted file, Jégou et al. 2011, for any divergence);
- sparse points from ``ROUNDS`` seeds, into chunks of at most ``CHUNK``; all pairs of a chunk are compared,
  then neighbours of neighbours are offered twice (steps of NN-descent, Dong et al. 2011).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._running import n_threads, progress_bar
from ._scipy import scipy
from .lift import Lifted
from .optimum import Float
from .partition import pair_dots
from .tree.ward import cut_into_chunks

CHUNK = 2000  # points compared with each other
ROUNDS = 3  # chunks that a sparse point is in
JOINS = 2  # passes over neighbours of neighbours of sparse points
CELL = 150  # dense points in a cell
PAIRS = 6000  # centres that a dense point is compared with, or 8 for each that is sought
SHARE = 0.95  # λ
FALL = 3.0  # d_ik / β_i


@dataclass(frozen=True, eq=False)
class NearField:
    """The k nearest centres of every point, ascending; −1 and +∞ where fewer were found."""

    indices: NDArray[np.int32]  # (N, k)
    divergences: Float  # (N, k)
    share: float = SHARE

    @classmethod
    def of(
        cls,
        lifted: Lifted,
        k: int,
        rng: np.random.Generator,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> NearField:
        """Found as the module's head says; O(N·PAIRS + (N/CELL)²) time, for sparse data O(N·CHUNK)."""
        if isinstance(k, bool) or k != int(k) or not 1 <= k < lifted.n_points:
            raise ValueError(f"near needs an integer from 0 to {lifted.n_points - 1}; got {k!r}")
        lists = np.full((lifted.n_points, int(k)), -1, np.int32), np.full((lifted.n_points, int(k)), np.inf)
        if lifted.is_sparse or lifted.n_points <= CHUNK:
            _search_chunks(lifted, *lists, rng, n_jobs, progress)
            return cls(*_exactly(lifted, lists[0], n_jobs))
        _search_cells(lifted, *lists, rng, n_jobs, progress)
        return cls(*lists)

    @cached_property
    def far_share(self) -> Float:  # (N,)
        """1 − λ_i."""
        return np.where(self.indices[:, 0] >= 0, 1.0 - self.share, 1.0)

    @cached_property
    def matrix(self) -> Any:  # CSR (N, N)
        """λ_i·S_i as a sparse matrix."""
        found = self.indices >= 0
        last = np.max(self.divergences, axis=1, initial=0.0, where=found, keepdims=True)
        scale = np.where(last > 0, last / FALL, 1.0)  # all centres at 0: equal weights
        weight = np.where(found, np.exp(-self.divergences / scale), 0.0)
        weight *= (1.0 - self.far_share[:, None]) / np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
        first = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
        n_points = len(self.indices)
        return scipy.sparse.csr_array((weight[found], self.indices[found], first), shape=(n_points, n_points))

    @cached_property
    def transposed(self) -> Any:
        return self.matrix.T.tocsr()

    @cached_property
    def symmetric(self) -> Any:
        """The mean of the matrix and its transpose."""
        return ((self.matrix + self.matrix.T) / 2).tocsr()

    def row_values(self, bandwidth: float) -> Float:  # (N,)
        """−Σ_j S_ij·(d_ij/β + log S_ij): what S_i alone gives of the row's bound; 0 without a neighbour."""
        found = self.indices >= 0
        S = np.zeros(self.indices.shape)
        S[found] = self.matrix.data / np.repeat(1.0 - self.far_share, found.sum(axis=1))
        logs = np.log(S, out=np.zeros_like(S), where=S > 0)
        d = np.where(found, self.divergences, 0.0)
        return np.asarray(-(S * (d / bandwidth + logs)).sum(axis=1))


def _search_chunks(
    lifted: Lifted,
    indices: NDArray[np.int32],
    divergences: Float,
    rng: np.random.Generator,
    n_jobs: int | None,
    progress: bool,
) -> None:
    """Fills the lists from chunks, then from neighbours of neighbours."""
    call, threads = (*lifted.arrays, lifted.u, lifted.w), n_threads(n_jobs)
    rounds, joins = (ROUNDS, JOINS) if lifted.n_points > CHUNK else (1, 0)
    with progress_bar(progress, "nearest centres", rounds + joins) as advance:
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
    indices: NDArray[np.int32],
    divergences: Float,
    rng: np.random.Generator,
    n_jobs: int | None,
    progress: bool,
) -> None:
    """Fills the lists from the nearest cells; ascending by divergence in double precision, then by index."""
    order, bounds = cut_into_chunks(lifted, CELL, rng, n_jobs)
    threads, n_cells = n_threads(n_jobs), len(bounds) - 1
    cells = _core.Cells(lifted.X, lifted.H, lifted.u, lifted.w, order, bounds, threads)
    pairs = max(PAIRS, 8 * indices.shape[1])
    step = 512 * threads  # short kernel calls, so that Ctrl-C is answered between them
    with progress_bar(progress, "nearest centres", n_cells) as advance:
        for first in range(0, n_cells, step):
            last = min(first + step, n_cells)
            cells.search(first, last, pairs, indices, divergences, threads)
            advance(last - first)


def _exactly(
    lifted: Lifted, indices: NDArray[np.int32], n_jobs: int | None
) -> tuple[NDArray[np.int32], Float]:
    """The lists with divergences in double precision throughout, ascending by them, then by index."""
    found = indices >= 0
    row = np.repeat(np.arange(len(indices)), found.sum(axis=1))
    centre = indices[found]
    inner = pair_dots(lifted.X, lifted.H, row, centre, n_jobs)
    d = np.full(indices.shape, np.inf)
    d[found] = np.maximum(lifted.u[row] + lifted.w[centre] - inner, 0.0)
    order = np.lexsort((indices, d), axis=1)
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(d, order, axis=1)
