"""The search in sparse points: rare features or chunks to begin with, then neighbours of neighbours.

- An inverted index: a row reads the postings of its rarest features and ranks again the best centres met.
- Or chunks, cut by 2-means from several seeds, as in the first round of a Ward tree, and compared all with
  all: where common features decide, as between counts of documents of different lengths.
- Then each point is offered the links of its links (steps of NN-descent, Dong et al. 2011).

Sampled rows say which beginning finds more, and when to stop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._support.arrays import Float, Int
from .._support.progress import Progress, stage
from .._support.running import n_threads
from ..lifting import Lifted
from ..tree import cut_into_chunks
from .cells import ranked_again

CHUNK = 2000  # points compared with each other
ROUNDS = 3  # chunks that a point is in
CUTTINGS = 3  # times so many, where chunks are the beginning, with passes over links between them
JOINS = 4  # passes over links of links between two efforts, at most
GAIN = 0.01  # of the recall, for which another pass is worth its time
EFFORTS = ((5_000, 60), (80_000, 200), (1_280_000, 600))  # postings read, centres ranked again
_USEFUL = 0.3  # recall of the first effort from which on the index is the better beginning
FIXED_JOINS = 2  # passes where no recall is asked for, over links one way: a quarter of the time of both
_EXTRA = 5  # places of the lists beyond those that were asked for: more links

Hits = Callable[[Float], float]  # the share that lists (N, ≥ k) of sampled rows hold


class SparseSearch:
    """Lists of all points that fill up, effort by effort."""

    def __init__(self, lifted: Lifted, k: int, n_jobs: int | None, extra: int = _EXTRA) -> None:
        self.lifted, self.k, self.n_jobs = lifted, k, n_jobs
        n, width = lifted.n_points, min(k + extra, lifted.n_points - 1)
        self.index, self.divergence = np.full((n, width), -1, np.int32), np.full((n, width), np.inf)
        self._call = (*lifted.arrays, lifted.u, lifted.w)
        self._visited = np.arange(n, dtype=np.int32)
        self._before = np.empty((0, width), np.int32)

    def read_postings(self, effort: tuple[int, int], rows: NDArray[Any] | None = None) -> None:
        """What the rows' rarest features lead to; all rows, if None."""
        visited = self._visited if rows is None else np.sort(rows).astype(np.int32)
        call = (*self._call, visited, *effort, self.index, self.divergence, n_threads(self.n_jobs))
        _core.posting_neighbors(*call)

    def compare_chunks(self, rng: np.random.Generator) -> None:
        """What is in the same chunk."""
        order, bounds = cut_into_chunks(self.lifted, CHUNK, rng, self.n_jobs)
        call = (*self._call, order, bounds, self.index, self.divergence, n_threads(self.n_jobs))
        _core.chunk_neighbors(*call)
        self._visited = order

    def join(self, both_ways: bool = True) -> None:
        """What the links of links are; also of those who list a point."""
        listed = self.index.copy()
        links = (listed, self._before, self._visited)
        call = (*self._call, *links, self.index, self.divergence, n_threads(self.n_jobs), both_ways)
        _core.join_neighbors(*call)
        self._before = listed

    @property
    def is_full(self) -> bool:
        """Whether every list has k entries."""
        return bool((self.index[:, self.k - 1] >= 0).all())

    def result(self) -> tuple[Int, Float]:  # (N, k) ×2
        """The lists with divergences in double precision throughout."""
        return ranked_again(self.lifted, self.lifted, self.index, self.k, self.n_jobs)


def search_by_rule(
    lifted: Lifted, k: int, rng: np.random.Generator, n_jobs: int | None, progress: Progress = False
) -> tuple[Int, Float]:  # (N, k) ×2
    """Lists of all points by a fixed effort, unmeasured: ``ROUNDS`` of chunks, ``FIXED_JOINS``."""
    search = SparseSearch(lifted, k, n_jobs, extra=0)
    with stage(progress, "nearest centres", ROUNDS + FIXED_JOINS) as advance:
        for _ in range(ROUNDS):
            search.compare_chunks(rng)
            advance(1)
        for _ in range(FIXED_JOINS):
            search.join(both_ways=False)
            advance(1)
    return search.result()


def search_sparse(
    lifted: Lifted,
    k: int,
    rng: np.random.Generator,
    n_jobs: int | None,
    sample: NDArray[Any],
    share: Hits,
    enough: Callable[[Float], bool],
    progress: Progress = False,
) -> tuple[Int, Float]:  # (N, k) ×2
    """Lists of all points: spends until ``enough(divergences)``, or until nothing more is gained."""
    trial = SparseSearch(lifted, k, n_jobs)
    trial.read_postings(EFFORTS[0], sample)
    by_postings = share(trial.divergence) >= _USEFUL
    search = SparseSearch(lifted, k, n_jobs)
    efforts: tuple[tuple[int, int] | None, ...] = EFFORTS if by_postings else (None,) * CUTTINGS
    passes = JOINS if by_postings else 2 * JOINS
    with stage(progress, "nearest centres", len(efforts) * (1 + passes)) as advance:
        for effort in efforts:
            reached = share(search.divergence)
            _begin(search, effort, rng)
            advance(1)
            if _join_while_it_helps(search, share, enough, passes, advance):
                break
            if effort is None and share(search.divergence) < reached + GAIN:
                break
    return search.result()


def _begin(search: SparseSearch, effort: tuple[int, int] | None, rng: np.random.Generator) -> None:
    """Postings by an effort, and chunks where they leave lists unfilled; or rounds of chunks."""
    if effort is not None:
        search.read_postings(effort)
    if effort is None or not search.is_full:  # rows whose features few others have
        for _ in range(ROUNDS if effort is None else 1):
            search.compare_chunks(rng)


def _join_while_it_helps(
    search: SparseSearch,
    share: Hits,
    enough: Callable[[Float], bool],
    passes: int,
    advance: Callable[[int], None],
) -> bool:
    """Whether it is enough after at most so many passes."""
    reached = share(search.divergence)
    for _ in range(passes):
        if enough(search.divergence):
            return True
        search.join()
        advance(1)
        last, reached = reached, share(search.divergence)
        if reached < last + GAIN:
            break
    return enough(search.divergence)
