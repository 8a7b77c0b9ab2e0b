"""How likely a fitted family makes the rows that it was not fitted to."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._support.arrays import Float
from .base import BregmanDivergence


@dataclass(frozen=True, eq=False)
class Scores:
    """Rows of a fit: log p of those left out and of those held out."""

    divergence: BregmanDivergence
    smoothing: float
    bandwidth: float
    left_out: Float
    held_out: Float
    n_fitted: int

    @property
    def score(self) -> float:
        n = len(self.left_out) + len(self.held_out)
        total = float(self.left_out.sum() + self.held_out.sum())
        return float(total - 0.5 * self.n_fitted * np.log(n)) / n

    def plus(self, train: Float, test: Float) -> Scores:
        return replace(self, left_out=self.left_out + train, held_out=self.held_out + test)
