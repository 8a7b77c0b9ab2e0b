"""Exponential families in canonical form, Eq. (14), and their divergences (Banerjee et al. 2005)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .._support.arrays import Float, Mask


def identity(z: Float) -> Float:
    """g(z) = z: the observation is its own natural statistic."""
    return z


@dataclass(frozen=True)
class Dispersion:
    """What a bandwidth does to a family: p(x; μ, β) = p(x; x)·exp(d·log_scale(β) − d_φ(x, μ)/β) is a density.

    Such a family is a reproductive dispersion model (Jørgensen 1987), p(x; x) the density at its own mean
    where β = 1. ``fitted(D)`` is the β of the largest likelihood where the mean divergence per coordinate is
    D.
    """

    log_scale: Callable[[float], float]  # per coordinate, 0 at β = 1
    fitted: Callable[[float], float]


def _gamma_log_scale(beta: float) -> float:
    """x is gamma with shape k = 1/β: k^k·e^(−k)/Γ(k), over its value at k = 1."""
    k = 1.0 / beta
    if k > 1e6:  # Stirling: the three terms lose their digits
        return float(1.0 - 0.5 * np.log(2.0 * np.pi * beta) - beta / 12.0)
    return float(1.0 + k * np.log(k) - k - special.gammaln(k))


def _gamma_fitted(divergence: float) -> float:
    """β = 1/k of log k − digamma(k) = D, by Newton's steps from a close guess."""
    if divergence < 1e-5:
        return 2.0 * divergence  # the next term of the series is smaller by this factor
    k = (3.0 - divergence + np.sqrt((divergence - 3.0) ** 2 + 24.0 * divergence)) / (12.0 * divergence)
    for _ in range(6):
        residual = np.log(k) - special.digamma(k) - divergence
        k = max(k - residual / (1.0 / k - special.polygamma(1, k)), k / 10.0)
    return float(1.0 / k)


GAUSSIAN = Dispersion(lambda beta: -0.5 * float(np.log(beta)), lambda divergence: 2.0 * divergence)
GAMMA = Dispersion(_gamma_log_scale, _gamma_fitted)


@dataclass(frozen=True)
class Support:
    """Where a family has its mass: on points of which each has a probability, or with a density."""

    requirement: str
    contains: Callable[[Float], Mask]
    discrete: bool = False


REALS = Support("numbers", np.isfinite)
POSITIVE = Support("numbers > 0", lambda x: x > 0)
COUNTS = Support("whole numbers >= 0", lambda x: (x >= 0) & (np.rint(x) == x), discrete=True)
BINARY = Support("zeros and ones", lambda x: (x == 0) | (x == 1), discrete=True)


@dataclass(frozen=True)
class Family:
    """p(x; θ) = exp(⟨θ, x⟩ − ψ(θ))·p_0(x), x = g(z), Eq. (14); the functions reduce the last axis.

    ============================ ===========================================================
    ``log_partition(theta)``     ψ(θ)                 (..., d) -> (...)
    ``log_base_measure(x)``      log p_0(x)           (..., d) -> (...)
    ``natural_statistics(z)``    x = g(z)
    ``support``                  what x may be
    ``dispersion``               the family with a bandwidth β ≠ 1; None where none is known
    ============================ ===========================================================

    Examples
    --------
    >>> import numpy as np
    >>> from bvdt.divergences import get
    >>> poisson = get("gid").family
    >>> round(float(poisson.log_partition(np.log([2.0, 3.0]))), 6)
    5.0
    """

    name: str
    log_partition: Callable[[Float], Float]
    log_base_measure: Callable[[Float], Float]
    natural_statistics: Callable[[Float], Float] = identity
    support: Support = REALS
    dispersion: Dispersion | None = None

    def log_density(self, x: ArrayLike, theta: ArrayLike) -> Float:  # (..., d) ×2 -> (...)
        """log p(x; θ), Eq. (14)."""
        x, theta = np.asarray(x, float), np.asarray(theta, float)
        inner = np.sum(theta * x, axis=-1)
        return np.asarray(inner - self.log_partition(theta) + self.log_base_measure(x))
