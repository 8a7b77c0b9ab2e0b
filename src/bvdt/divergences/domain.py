"""The open interval that every coordinate of a point must lie in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from .._support.arrays import Float

_FAR = 700.0  # exp(700) is the largest power of e a float64 holds


@dataclass(frozen=True)
class Interval:
    """Open interval (low, high): where φ is differentiable, coordinate by coordinate.

    Examples
    --------
    >>> from bvdt.divergences import Interval
    >>> Interval(0.0, 1.0).low
    0.0
    """

    low: float = -np.inf
    high: float = np.inf

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"domain needs low < high; got ({self.low:g}, {self.high:g})")

    @property
    def is_everything(self) -> bool:
        """Whether it holds every finite number."""
        return self.low == -np.inf and self.high == np.inf

    def contains(self, x: ArrayLike) -> NDArray[np.bool_]:
        """Strictly inside."""
        x = np.asarray(x)
        return (self.low < x) & (x < self.high)

    def closure_contains(self, x: ArrayLike) -> NDArray[np.bool_]:
        """Inside or on a finite end."""
        x = np.asarray(x)
        return (self.low <= x) & (x <= self.high)

    def requirement(self, closed: bool) -> str:
        """``"X >= 0"``, ``"0 < X < 1"``: what an error message asks for."""
        sign = "<=" if closed else "<"
        if np.isinf(self.high):
            return f"X {sign.replace('<', '>')} {self.low:g}"
        if np.isinf(self.low):
            return f"X {sign} {self.high:g}"
        return f"{self.low:g} {sign} X {sign} {self.high:g}"

    # -- a smooth increasing map of the real line onto the interval, for root finding ----------------------

    def from_line(self, s: Float) -> Float:
        """Point of the interval at s; near an end a unit step multiplies the distance to it by a constant."""
        s = np.clip(s, -_FAR, _FAR)
        if np.isfinite(self.low) and np.isfinite(self.high):
            width = self.high - self.low
            return np.asarray(
                np.where(
                    s < 0,
                    self.low + width * special.expit(s),
                    self.high - width * special.expit(-s),
                )
            )
        if np.isfinite(self.low):
            return self.low + np.exp(s)
        if np.isfinite(self.high):
            return self.high - np.exp(-s)
        return np.sinh(s)

    def ends(self) -> Float:  # (2,)
        """Points of the closed interval as near to its ends as float64 allows."""
        return self.from_line(np.array([-_FAR, _FAR]))

    def sample(self, n: int) -> Float:  # (n,)
        """Increasing points spread over the middle of the interval."""
        reach = 3.0 if np.isinf(self.low) == np.isinf(self.high) else 6.0
        return self.from_line(np.linspace(-reach, reach, n))
