"""Recall: the share of the true nearest neighbors that lists hold, estimated on sampled queries.

A query's k hits depend on each other: one between two inverted lists misses several at once. So the interval
is that of Clopper and Pearson 1934 for as many independent trials as give the variance that queries show.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .._support.arrays import Float

_TIE = 1e-9  # relative: divergences that close are one
_LEAST_EFFECT = 1.5  # trials per independent one, at least
# So many rows that miss are added, with the effect of `_design_effect`: a few of the sample show too little
# variance.
_PRIOR_ROWS = 10


@dataclass(frozen=True)
class Recall:
    """An estimate and its 95 % interval, from ``n_rows`` rows with exact answers; none: exact throughout."""

    estimate: float
    low: float
    high: float
    n_rows: int

    @classmethod
    def exact(cls) -> Recall:
        """That of a search which compares all pairs."""
        return cls(1.0, 1.0, 1.0, 0)

    @classmethod
    def of(cls, hits: NDArray[np.intp], k: int) -> Recall:  # (n_rows,) of 0 … k
        """From the numbers of true neighbors that rows found, of k each."""
        share, trials = float(hits.mean()) / k, _independent_trials(hits, k, wide=True)
        low, high = _clopper_pearson(share * trials, trials, 0.025)
        return cls(share, low, high, len(hits))

    def __str__(self) -> str:
        return f"{self.estimate:.3f} ({self.low:.3f} to {self.high:.3f})"


def recall_lower_bound(hits: NDArray[np.intp], k: int) -> float:
    """What the recall is not below, with 95 % confidence."""
    share, trials = float(hits.mean()) / k, _independent_trials(hits, k)
    return _clopper_pearson(share * trials, trials, 0.05)[0]


def sure_share(recall: float, n_rows: int, k: int) -> float:
    """What rows must show, by and large, so that the lower bound of the recall is what is asked for."""
    trials = n_rows * k / _design_effect(k)
    shares = np.linspace(recall, 1, 50)
    sure = (share for share in shares if _clopper_pearson(share * trials, trials, 0.05)[0] >= recall)
    return float(next(sure, 1.0))


def count_hits(divergences: Float, exact: Float) -> NDArray[np.intp]:  # (n_rows, k) ×2 -> (n_rows,)
    """How many of each row's are no farther than its true k-th: of equal divergences any will do."""
    farthest = exact[:, -1:]
    return np.asarray((divergences <= farthest + _TIE * np.abs(farthest)).sum(axis=1))


def _design_effect(k: int) -> float:
    """Trials per independent one, of lists with k places, before rows have shown any.

    Images, blobs, vectors and histograms had 1.1 to 1.6 at k = 5, 1.1 to 2.5 at 15 and 1.3 to 5 at 40.
    """
    return min(1 + k / 5, k)


def _independent_trials(hits: NDArray[np.intp], k: int, wide: bool = False) -> float:
    """By the design effect that rows show, shrunk to what lists of k usually have.

    ``wide``: no less than what they show. Rows that miss everything together show more than is usual, as
    lists made elsewhere may.
    """
    share, missing = float(hits.mean()) / k, int((hits < k).sum())
    effect = (
        float(np.var(hits / k, ddof=1)) * k / (share * (1 - share))
        if 0 < share < 1 and len(hits) > 1
        else 0.0
    )
    shrunk = (missing * effect + _PRIOR_ROWS * _design_effect(k)) / (missing + _PRIOR_ROWS)
    effect = max(effect, shrunk) if wide else shrunk
    return len(hits) * k / float(np.clip(effect, min(_LEAST_EFFECT, k), k))


def _clopper_pearson(hits: float, trials: float, tail: float) -> tuple[float, float]:
    """Where so many hits of so many trials would be in each tail."""
    low = 0.0 if hits <= 0 else float(special.betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if hits >= trials else float(special.betaincinv(hits + 1, trials - hits, 1 - tail))
    return low, high
