"""Fewer coordinates to rank by: ⟨x_i, h_j⟩ ≈ ⟨x_i P, h_j P⟩, with u and w as they are.

P's columns are orthonormal, the principal directions of a sample's rows and centres together, each in units
of its own spread. For squared Euclidean data they are the principal components, and the estimate of d_ij
lacks only what two points share outside them. Lists are found by the estimate, somewhat longer than asked
for, and ranked again by the divergence itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._support.arrays import Float
from ..lifting import Lifted

SAMPLE = 4000  # rows that the directions are found on
_SMALL = 1500  # columns up to which all eigenvectors are found: no slower than a few steps
_STEPS = 4


@dataclass(frozen=True, eq=False)
class Projection:
    """From lifted points to fewer coordinates."""

    directions: Float  # (d, r)
    mean_x: Float  # (d,)
    mean_h: Float  # (d,)

    def leading(self, r: int) -> Projection:
        """The same with its first r directions only."""
        return Projection(np.ascontiguousarray(self.directions[:, :r]), self.mean_x, self.mean_h)

    def leading_of(self, projected: Lifted) -> Lifted:
        """Points that a projection with more directions was applied to, in this one's."""
        r = self.directions.shape[1]
        X = np.ascontiguousarray(projected.X[:, :r])
        H = X if projected.H is projected.X else np.ascontiguousarray(projected.H[:, :r])
        return Lifted(projected.u, projected.w, X, H)

    def __call__(self, lifted: Lifted) -> Lifted:
        """The points in r coordinates; what the means take part in is moved into u and w, exactly."""
        # ⟨x, h⟩ = ⟨x − x̄, h − h̄⟩ + ⟨x̄, h⟩ + ⟨x, h̄⟩ − ⟨x̄, h̄⟩
        X = (lifted.X - self.mean_x) @ self.directions
        H = X if lifted.H is lifted.X else (lifted.H - self.mean_h) @ self.directions
        w = lifted.w - lifted.H @ self.mean_x
        u = lifted.u - lifted.X @ self.mean_h + self.mean_x @ self.mean_h
        X = np.ascontiguousarray(X)
        return Lifted(u, w, X, X if lifted.H is lifted.X else np.ascontiguousarray(H))


def principal(lifted: Lifted, most: int, rng: np.random.Generator) -> Projection:
    """The ``most`` leading directions of a sample."""
    n = lifted.n_points
    some = np.sort(rng.choice(n, min(n, SAMPLE), replace=False))
    X = lifted.X[some]
    mean_x = X.mean(axis=0)
    X = X - mean_x
    moments, mean_h = X.T @ X, mean_x
    if lifted.H is not lifted.X:
        H = lifted.H[some]
        mean_h = H.mean(axis=0)
        H = H - mean_h
        moments = moments / max(np.trace(moments), 1e-300)
        other = H.T @ H
        moments += other / max(np.trace(other), 1e-300)
    return Projection(_leading_vectors(moments, most, rng), mean_x, mean_h)


def _leading_vectors(moments: Float, most: int, rng: np.random.Generator) -> Float:  # (d, d) -> (d, most)
    """Eigenvectors of the largest eigenvalues; a few steps of subspace iteration are enough to rank by."""
    d = len(moments)
    width = min(d, most + 16)
    if d <= _SMALL or 2 * width > d:
        return np.ascontiguousarray(np.linalg.eigh(moments)[1][:, ::-1][:, :most])
    basis = rng.standard_normal((d, width))
    for _ in range(_STEPS):
        basis = np.linalg.qr(moments @ basis)[0]
    _, turn = np.linalg.eigh(basis.T @ moments @ basis)
    return np.ascontiguousarray((basis @ turn)[:, ::-1][:, :most])
