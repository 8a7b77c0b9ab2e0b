"""Fewer coordinates to rank by: ⟨x_i, h_j⟩ ≈ ⟨x_i P, h_j P⟩ + what is left of both, with u and w as they are.

P's columns are orthonormal, the principal directions of a sample's rows and centers together, each in units
of its own spread. One more coordinate is the length of what they leave, ρ_i = ‖(x_i − x̄)(1 − PPᵀ)‖ and σ_j
likewise of h: a product of two remainders is at most ρσ. For squared Euclidean data P are the principal
components, and the estimate with ρσ is never above d_ij. Elsewhere a share of ρσ is taken, that of a point's
own two remainders. Candidates are found by the estimate and re-ranked by the divergence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._support.arrays import Float, batches
from ..lifting import Lifted

FEW_FEATURES = 64  # coordinates that are compared as they are
MOST = 255  # directions
SAMPLE = 4000  # rows that the directions are found on
_LEAST_SHARE = 0.1  # of the sample's points, whose own remainders have a smaller share than is taken


@dataclass(frozen=True, eq=False)
class Projection:
    """From lifted points to fewer coordinates."""

    directions: Float  # (d, r)
    mean_x: Float  # (d,)
    mean_h: Float  # (d,)
    share: float  # of the remainders' lengths that their product is taken to be; 1: at most

    @property
    def is_bound(self) -> bool:
        """Whether no divergence is below its estimate."""
        return self.share == 1

    def leading(self, r: int) -> Projection:
        """The same with its first r directions only."""
        return replace(self, directions=np.ascontiguousarray(self.directions[:, :r]))

    def __call__(self, points: Lifted) -> Lifted:
        """The points in r + 1 coordinates; what the means take part in is moved into u and w, exactly."""
        # ⟨x, h⟩ = ⟨x − x̄, h − h̄⟩ + ⟨x̄, h⟩ + ⟨x, h̄⟩ − ⟨x̄, h̄⟩
        is_self_dual, both = points.H is points.X, self.mean_x @ self.mean_h
        by_mean_h = points.X @ self.mean_h
        u = points.u - (by_mean_h - both)
        w = points.w - (by_mean_h if is_self_dual else points.H @ self.mean_x)
        X = self._along(points.X, self.mean_x)
        H = X if is_self_dual else self._along(points.H, self.mean_h)
        if not self.is_bound:
            X = np.column_stack([X[:, :-1], self.share * X[:, -1]])
        return Lifted(u, w, X, H)

    def shortened(self, projected: Lifted, r: int) -> Lifted:
        """What ``leading(r)`` makes of the points that this one has projected."""

        def shorter(rows: Float, share: float) -> Float:
            left = np.square(rows[:, -1] / share) + np.square(rows[:, r:-1]).sum(axis=1)
            return np.column_stack([rows[:, :r], share * np.sqrt(left)])

        H = shorter(projected.H, 1.0)
        X = H if self.is_bound else shorter(projected.X, max(self.share, 1e-300))
        return Lifted(projected.u, projected.w, X, H)

    def _along(self, rows: Float, mean: Float) -> Float:  # (n, d) -> (n, r + 1)
        """Rows less their mean along the directions, and the lengths of what these leave."""
        r = self.directions.shape[1]
        out = np.empty((len(rows), r + 1))
        for batch in batches(*rows.shape):
            away = rows[batch] - mean
            along = out[batch, :r] = away @ self.directions
            left = np.einsum("ij,ij->i", away, away) - np.einsum("ij,ij->i", along, along)
            out[batch, r] = np.sqrt(np.maximum(left, 0))
        return out


def principal(points: Lifted, seed: int) -> Projection:
    """The leading directions of a sample, at most half of the coordinates."""
    n, most, rng = points.n_points, min(MOST, points.n_features // 2), np.random.default_rng(seed)
    some = points.take(np.sort(rng.choice(n, min(n, SAMPLE), replace=False)))
    mean_x, mean_h = some.X.mean(axis=0), some.H.mean(axis=0)
    X, H = some.X - mean_x, some.H - mean_h
    moments = X.T @ X
    if points.H is points.X:
        return Projection(_leading_vectors(moments, most, rng), mean_x, mean_x, 1.0)
    moments = moments / max(np.trace(moments), 1e-300)
    other = H.T @ H
    moments += other / max(np.trace(other), 1e-300)
    directions = _leading_vectors(moments, most, rng)
    return Projection(directions, mean_x, mean_h, _own_share(X, H, directions))


def _own_share(X: Float, H: Float, directions: Float) -> float:
    """⟨x, h⟩ of most points' remainders over the product of their lengths: more would put d_ii below 0."""
    X, H = (part - (part @ directions) @ directions.T for part in (X, H))
    lengths = np.linalg.norm(X, axis=1) * np.linalg.norm(H, axis=1)
    shares = np.einsum("ij,ij->i", X, H) / np.maximum(lengths, 1e-300)
    return float(np.clip(np.quantile(shares, _LEAST_SHARE), 0, 0.999))


def _leading_vectors(moments: Float, most: int, rng: np.random.Generator) -> Float:  # (d, d) -> (d, most)
    """Eigenvectors of the largest eigenvalues; a few steps of subspace iteration are enough to rank by."""
    d = len(moments)
    width = min(d, most + 16)
    if 2 * width > d:
        return np.ascontiguousarray(np.linalg.eigh(moments)[1][:, ::-1][:, :most])
    basis = rng.standard_normal((d, width))
    for _ in range(3):
        basis = np.linalg.qr(moments @ basis)[0]
    _, rotation = np.linalg.eigh(basis.T @ moments @ basis)
    return np.ascontiguousarray((basis @ rotation)[:, ::-1][:, :most])
