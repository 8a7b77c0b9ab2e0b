"""Ground truth: sampled queries with exact lists, by which an index is tuned and its recall measured.

One half of the queries tunes, the other is held out: it measures what was reached, and more is spent where it
falls short.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float, Index, Int
from ..lifting import Lifted
from .differences import ROUNDING
from .exact import exact_lists
from .nn_descent import Read
from .recall import Recall, count_hits, recall_lower_bound

SAMPLE = 256  # queries in each half
_MIN_GAIN = 0.1  # of the misses, for which another iteration of NN-descent is worth its time


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """Sampled queries and their exact lists."""

    rows: Index  # (m,) points
    indices: Int  # (m, k)
    divergences: Float  # (m, k)
    rounding: Float  # (m, 1) of these
    ranks: Int | None = None  # (m, k) how many others an estimate puts before each, where there is one

    @classmethod
    def of(cls, points: Lifted, k: int, rng: np.random.Generator, n_queries: int = 2 * SAMPLE) -> GroundTruth:
        """By comparing all pairs."""
        rows = rng.choice(points.n_points, min(n_queries, points.n_points), replace=False)
        lists = exact_lists(points, points, k, rows, rows)
        return cls.measured_by(points, rows, lists)

    @classmethod
    def measured_by(
        cls, points: Lifted, rows: Index, lists: tuple[Int, Float], ranks: Int | None = None
    ) -> GroundTruth:
        """By exact lists that are there; divergences may differ where they are added up in another order."""
        size = np.abs(points.u[rows]) + np.abs(points.w[lists[0]]).max(axis=1)
        return cls(rows, *lists, np.asarray(ROUNDING * size[:, None]), ranks)

    @property
    def k(self) -> int:
        return int(self.indices.shape[1])

    def hits(self, divergences: Float) -> NDArray[np.intp]:  # (m, k) -> (m,)
        """How many of each query's true neighbors lists of these queries hold."""
        return np.minimum(count_hits(divergences - self.rounding, self.divergences), self.k)


@dataclass(frozen=True, eq=False)
class Target:
    """A recall to be reached; the first half of the ground truth tunes, the second checks and measures."""

    recall: float
    truth: GroundTruth

    @property
    def k(self) -> int:
        return self.truth.k

    @property
    def rows(self) -> Index:
        return self.truth.rows

    def split(self, hits: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:  # (m,)
        """Of tuning and of held-out queries."""
        middle = len(hits) // 2
        return hits[:middle], hits[middle:]

    def enough(self, hits: NDArray[np.intp]) -> bool:  # (m,)
        """Whether it is reached: with confidence on the tuning queries, if they can show it, and held out."""
        tuning, held_out = self.split(hits)
        most = recall_lower_bound(np.full_like(tuning, self.k), self.k)  # if all were hits
        sure = recall_lower_bound(tuning, self.k) >= min(self.recall, most)
        return sure and bool(held_out.mean() >= self.recall * self.k)

    def is_met(self, divergences: Float) -> bool:
        """Whether lists of ``rows`` show it on both halves."""
        return all(half.mean() >= self.recall * self.k for half in self.split(self.truth.hits(divergences)))

    def measured(self, divergences: Float) -> Recall:
        """By the held-out queries."""
        return Recall.of(self.split(self.truth.hits(divergences))[1], self.k)

    def stop(self) -> Callable[[Read, bool], bool]:
        """For NN-descent: when it is reached, or an iteration gains little."""
        last = [-np.inf]

        def is_enough(read: Read, at_end: bool) -> bool:
            hits = self.truth.hits(read(self.rows)[1])
            if self.enough(hits):
                return True
            mean = float(self.split(hits)[0].mean())
            gained, missing = mean - last[0], self.k - last[0]
            if at_end:
                last[0] = mean
            return at_end and gained < _MIN_GAIN * missing

        return is_enough
