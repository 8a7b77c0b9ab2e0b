"""Exponential families in canonical form, Eq. (14), and their divergences (Banerjee et al. 2005)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import Float


def identity(z: Float) -> Float:
    """g(z) = z: the observation is its own natural statistic."""
    return z


@dataclass(frozen=True)
class Family:
    """p(x; θ) = exp(⟨θ, x⟩ − ψ(θ))·p_0(x), x = g(z), Eq. (14); the functions reduce the last axis.

    ============================ =======================================
    ``log_partition(theta)``     ψ(θ)                 (..., d) -> (...)
    ``log_base_measure(x)``      log p_0(x)           (..., d) -> (...)
    ``natural_statistics(z)``    x = g(z)
    ============================ =======================================

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

    def log_density(self, x: ArrayLike, theta: ArrayLike) -> Float:  # (..., d) ×2 -> (...)
        """log p(x; θ), Eq. (14)."""
        x, theta = np.asarray(x, float), np.asarray(theta, float)
        inner = np.sum(theta * x, axis=-1)
        return np.asarray(inner - self.log_partition(theta) + self.log_base_measure(x))
