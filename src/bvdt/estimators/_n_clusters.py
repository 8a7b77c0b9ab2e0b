"""How many clusters: eigengaps say where the spectrum breaks, stability whether k-means agrees with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float
from ..walks.eigenvectors import unit_rows

MOST = 20  # clusters that are considered
CANDIDATES = 6  # of the largest gaps, whose stability is measured
PAIRS = 4  # of random halves


@dataclass(frozen=True)
class Choice:
    """One number of clusters: its eigengap λ_k − λ_(k+1), and its stability where it was measured."""

    n_clusters: int
    eigengap: float
    stability: float | None = None  # mean adjusted Rand index of clusters found from two halves

    @property
    def score(self) -> float:
        return 0.0 if self.stability is None else self.eigengap * max(self.stability, 0.0)


def choices(values: Float, vectors: Float, rng: np.random.Generator) -> list[Choice]:
    """All numbers from 2 on with their evidence; ``values`` (m,) and ``vectors`` (N, m) lead the spectrum."""
    numbers = np.arange(2, len(values))
    gaps = values[1:-1] - values[2:]
    measured = set(numbers[np.argsort(-gaps, kind="stable")[:CANDIDATES]].tolist())
    return [
        Choice(
            int(k), float(gap), stability(unit_rows(vectors[:, :k]), int(k), rng) if k in measured else None
        )
        for k, gap in zip(numbers, gaps, strict=True)
    ]


def best(found: list[Choice]) -> int:
    """The number whose gap times stability is largest; 2 where there is no gap at all."""
    return max(found, key=lambda choice: choice.score).n_clusters if found else 2


def stability(rows: Float, n_clusters: int, rng: np.random.Generator) -> float:
    """Agreement of the clusters of all points by the means of one random half and of the other."""
    from sklearn.metrics import adjusted_rand_score  # here, as below: 17 MiB that no other estimator needs

    scores = []
    for _ in range(PAIRS):
        halves = np.array_split(rng.permutation(len(rows)), 2)
        if min(len(half) for half in halves) < n_clusters:
            return 0.0
        one, other = (_by_half(rows, half, n_clusters, rng) for half in halves)
        scores.append(adjusted_rand_score(one, other))
    return float(np.mean(scores))


def _by_half(
    rows: Float, half: NDArray[np.intp], n_clusters: int, rng: np.random.Generator
) -> NDArray[np.int32]:
    from sklearn.cluster import KMeans

    seed = int(rng.integers(2**31))
    return np.asarray(KMeans(n_clusters, n_init=3, random_state=seed).fit(rows[half]).predict(rows))
