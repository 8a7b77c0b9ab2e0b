"""The search in sparse points: chunks that are compared all with all, then neighbours of neighbours.

Points are cut by 2-means, as in the first round of a Ward tree, from several seeds, into chunks of at most
``CHUNK``; then each point is offered the links of its links (steps of NN-descent, Dong et al. 2011).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import _core
from .._support.arrays import Float, Int
from .._support.progress import Progress, stage
from .._support.running import n_threads
from ..lifting import Lifted
from ..tree import cut_into_chunks
from .cells import ranked_again

CHUNK = 2000  # points compared with each other
ROUNDS = 3  # chunks that a point is in
JOINS = 8  # passes over links of links, at most
_EXTRA = 5  # places of the lists beyond those that were asked for: more links


def search_chunks(
    lifted: Lifted,
    k: int,
    rng: np.random.Generator,
    n_jobs: int | None,
    enough: Callable[[Float], bool],
    progress: Progress = False,
) -> tuple[Int, Float]:  # (N, k) ×2
    """Lists of all points; ``enough(divergences)`` is asked after a pass whether to stop."""
    width, n = min(k + _EXTRA, lifted.n_points - 1), lifted.n_points
    index, divergence = np.full((n, width), -1, np.int32), np.full((n, width), np.inf)
    call, threads = (*lifted.arrays, lifted.u, lifted.w), n_threads(n_jobs)
    before, visited = np.empty((0, width), np.int32), np.arange(n, dtype=np.int32)
    with stage(progress, "nearest centres", ROUNDS + JOINS) as advance:
        for _ in range(ROUNDS):
            visited, bounds = cut_into_chunks(lifted, CHUNK, rng, n_jobs)
            offered = (*call, visited, bounds, index, divergence, threads)
            _core.chunk_neighbors(*offered)
            advance(1)
        for joins in range(JOINS):
            if joins > 0 and enough(divergence):
                break
            listed = index.copy()
            joined = (*call, listed, before, visited, index, divergence, threads)
            _core.join_neighbors(*joined)
            before = listed
            advance(1)
    return ranked_again(lifted, lifted, index, k, n_jobs)
