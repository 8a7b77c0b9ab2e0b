"""The push of all pairs on a map, O(N) per step: t-SNE's, over a mesh and by FFT (Linderman et al. 2019).

The potential φ(y) = Σ_j 1/(1 + ‖y − y_j‖²) has −2·Σ_j (y − y_j)/(1 + ‖y − y_j‖²)² as its slope: one potential
gives both the push and its normalisation. Points go onto the mesh and read it by cubic B-splines, whose own
smoothing is divided out of the kernel's spectrum, as in smooth particle-mesh Ewald (Essmann et al. 1995).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from .. import _core

Single = NDArray[np.float32]

UNIT = 0.5  # of the mesh, beside a kernel of width 1; at 0.7 and 1.0 maps are a little worse
FINE, NARROW = 0.25, 24.0  # the unit up to such a width: there it costs little, and steps begin there
MOST = 1024  # nodes each way; a wider map has a coarser mesh
_ROUND = 16  # nodes by which a mesh grows, so that kernels are seldom made anew
_BORDER = 6  # nodes beside the points


@dataclass(frozen=True, eq=False)
class Potential:
    """φ of some points on a mesh around them, to be read anywhere on it."""

    low: tuple[float, float]
    unit: float
    values: Single  # (rows, columns)

    @classmethod
    def of(cls, Y: Single, threads: int) -> Potential:
        """That of the points Y."""
        columns = Y[:, 0], Y[:, 1]  # one by one: NumPy is slow along an axis of rows this short
        low, high = (np.array([reach(c) for c in columns], float) for reach in (np.min, np.max))
        width = float((high - low).max())
        unit = FINE if width < NARROW else max(UNIT, width / (MOST - _BORDER - _ROUND))
        size = _ROUND * np.ceil(((high - low) / unit + _BORDER) / _ROUND).astype(int)
        first, second = ((low + high) / 2 - unit * (size - 1) / 2).tolist()
        mass = np.empty(size, np.float32)
        _core.spread_points(Y, first, second, unit, mass, threads)
        return cls((first, second), unit, _convolved(mass, unit))

    def at(self, Y: Single, threads: int) -> Single:  # (n, 2) -> (n, 3)
        """φ and its two slopes at the points Y; outside the mesh, those of its border."""
        found = np.empty((len(Y), 3), np.float32)
        _core.read_potential(Y, *self.low, self.unit, self.values, found, threads)
        return found


def _convolved(mass: Single, unit: float) -> Single:
    """Σ over all nodes of mass / (1 + distance²); on one thread, since it takes a small share of a step."""
    n, m = mass.shape
    spectrum = fft.fft(fft.rfft(mass, 2 * m, axis=1), 2 * n, axis=0)  # twice the mesh: nothing wraps around
    spectrum *= _kernel(2 * n, 2 * m, unit)
    rows = fft.ifft(spectrum, axis=0, overwrite_x=True)[:n]
    return np.ascontiguousarray(fft.irfft(rows, 2 * m, axis=1)[:, :m])


@lru_cache(maxsize=4)
def _kernel(n: int, m: int, unit: float) -> Any:  # (n, m/2 + 1) float32
    """Spectrum of 1/(1 + r²) on a torus of n × m nodes, over the splines' own, twice."""
    along, across = (unit * np.minimum(np.arange(k), k - np.arange(k)) for k in (n, m))
    spectrum = fft.rfft2(1.0 / (1.0 + along[:, None] ** 2 + across**2)).real
    spline = [(2 + np.cos(2 * np.pi * np.arange(k) / k)) / 3 for k in (n, m)]
    return (spectrum / (spline[0][:, None] * spline[1][: m // 2 + 1]) ** 2).astype(np.float32)
