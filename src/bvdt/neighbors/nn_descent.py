"""NN-descent (Dong et al. 2011): candidate lists refined by local joins, dense or sparse.

In an iteration every point's forward neighbors, the first of its list, and reverse neighbors, whose lists
hold it, are compared with each other. Of many points that lie dense, a search finds the first neighbors soon
and the last ones late; neighbors of neighbors are these last ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from .._support.arrays import Float, Index, Int, batches
from .._support.progress import Progress, stage
from .._support.running import n_threads
from .exact import empty_lists

_PARTS = 8  # of an iteration, after each of which it may be enough

Read = Callable[[Index], tuple[Int, Float]]  # rows -> their lists, (m, k) ×2
Stop = Callable[[Read, bool], bool]  # whether it is enough; True at an iteration's end


class JoinedLists(Protocol):
    """Candidate lists that a kernel keeps, whatever the points are."""

    def link(self, threads: int) -> None:
        """Sample forward and reverse neighbors."""

    def join(self, first: int, last: int, threads: int) -> None:
        """The local joins of places first … last − 1."""

    def read(self, rows: Int, index: Int, estimate: Float, threads: int) -> None:
        """The lists of some points, into ``index`` and ``estimate``."""


def never(read: Read, at_end: bool) -> bool:
    return False


def descend(
    lists: JoinedLists,
    n: int,
    read: Read,
    k: int,
    n_iter: int,
    stop: Stop,
    n_jobs: int | None,
    progress: Progress,
) -> tuple[Int, Float]:  # (N, k) ×2
    """Lists after at most ``n_iter`` iterations, which end when ``stop`` says that it is enough.

    A pair that has several neighbors in common is found by any of them, so the first part of an iteration
    finds most; the places of a part lie apart, so all lists gain.
    """
    threads = n_threads(n_jobs)
    together = max(1, n // _PARTS**3)  # places side by side in one part
    with stage(progress, "NN-descent", n_iter * _PARTS) as advance:
        for _ in range(n_iter):
            lists.link(threads)
            if _iterate(lists, n, together, threads, lambda: stop(read, False), advance) or stop(read, True):
                break
    found = empty_lists(n, k)
    for batch in batches(n, 4 * k):
        rows = np.arange(batch.start, batch.stop)
        found[0][rows], found[1][rows] = read(rows)
    return found


def _iterate(
    lists: JoinedLists,
    n: int,
    together: int,
    threads: int,
    enough: Callable[[], bool],
    advance: Callable[[int], None],
) -> bool:
    """One iteration; whether it ended early."""
    for part in range(_PARTS):
        for first in range(part * together, n, _PARTS * together):
            lists.join(first, min(first + together, n), threads)
        advance(1)
        if part + 1 < _PARTS and enough():
            return True
    return False


def read_lists(
    lists: JoinedLists, rows: Index, width: int, threads: int
) -> tuple[Int, Float]:  # (m, width) ×2
    """What NN-descent has found for some points, and estimates, ascending."""
    index, estimate = empty_lists(len(rows), width)
    lists.read(rows.astype(np.int32), index, estimate, threads)
    return index, estimate
