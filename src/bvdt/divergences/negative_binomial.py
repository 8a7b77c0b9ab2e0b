"""Section 4.1 once more, for counts that vary more than Poisson's: the negative binomial's divergence."""

from __future__ import annotations

import numpy as np
from scipy import special

from .._support.arrays import Float
from .._support.sparse import Points
from .base import BregmanDivergence
from .domain import Interval
from .family import COUNTS, Family
from .likelihood import likeliest, some_rows

R = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # among which r="likelihood" chooses


class NegativeBinomial(BregmanDivergence):
    """φ = Σ x log x − (x + r) log(x + r), d = Σ x log(x/y) − (x + r) log((x + r)/(y + r)).

    Counts of mean μ and variance μ + μ²/r, such as words, which come in bursts; ``gid``, Poisson's, is the
    limit of large r.

    Parameters
    ----------
    r : a number > 0, or "likelihood": the best of a few under the leave-one-out likelihood of the data.

    Examples
    --------
    >>> from bvdt.divergences import NegativeBinomial
    >>> round(float(NegativeBinomial(1.0).div([2.0, 1.0], [1.0, 1.0])), 4)
    0.1699
    """

    name = "negative_binomial"
    domain = Interval(0.0, np.inf)
    auto_smoothing = "background"
    background_share = 0.1  # measured: docs/choices.md

    def __init__(self, r: float | str = "likelihood") -> None:
        if r != "likelihood" and (isinstance(r, str) or not 0 < r < np.inf):
            raise ValueError(f'negative_binomial needs r > 0 or "likelihood"; got {r!r}')
        self.r = r

    @property
    def _r(self) -> float:
        if isinstance(self.r, str):
            raise ValueError("negative_binomial needs r as a number before it meets data; give r=")
        return float(self.r)

    def phi(self, X: Float) -> Float:
        r = self._r
        return np.asarray(-special.xlog1py(r, X / r) - _shortfall(X, r))

    def grad(self, X: Float) -> Float:
        return -np.log1p(self._r / X)

    def grad_inverse(self, T: Float) -> Float:
        return self._r / np.expm1(-T)

    def conjugate(self, T: Float) -> Float:
        return -self._r * np.log(-np.expm1(T))

    @property
    def family(self) -> Family | None:
        if isinstance(self.r, str):
            return None
        r = self._r
        return Family(
            "negative binomial",
            log_partition=lambda theta: -r * np.sum(np.log(-np.expm1(theta)), axis=-1),
            log_base_measure=lambda x: np.sum(
                special.gammaln(x + r) - special.gammaln(x + 1) - special.gammaln(r), axis=-1
            ),
            support=COUNTS,
        )

    def prepare(self, X: Points) -> tuple[BregmanDivergence, Points]:
        if self.r != "likelihood":
            return self, X
        return likeliest([NegativeBinomial(r) for r in R], some_rows(X)), X

    def over_parts(self) -> BregmanDivergence:
        self._r  # noqa: B018  # refuses "likelihood": a part of the data does not say which
        return self

    def __repr__(self) -> str:
        return f"NegativeBinomial(r={self.r!r})"


def _shortfall(x: Float, r: float) -> Float:
    """x·log((x + r)/x), 0 at 0."""
    return np.asarray(x * np.log1p(r / np.where(x > 0, x, 1.0)))
