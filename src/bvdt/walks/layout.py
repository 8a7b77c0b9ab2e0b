"""A 2-D layout of the points for the map: a force-directed drawing of the walk, O(N) per step.

Every point is drawn to the mean of the points that its (reversible) walk leads to, and pushed off by all
others: the forces of ForceAtlas2 (Jacomy et al. 2014), which lie between a spectral layout and t-SNE (Böhm,
Berens and Kobak 2022). The pull is one product with the operator; the push of all pairs is a convolution on a
grid, by FFT (Linderman et al. 2019). The start is two eigenvectors of the walk, scaled by rank so that far
outliers do not squeeze the rest together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import fft

from .._support.arrays import Float
from .._support.running import generator
from ..operators import ForestOperator, NearField, SymmetrizedOperator, WalkOperator
from .inputs import symmetrized

STEPS = 40
PUSH = 10.0  # of all points together on one, beside a pull of the distance to the mean
GRID = 128
START_VECTORS, START_STEPS = 6, 12
NEAR = 10


def map_coordinates(op: Any, *, random_state: Any = None) -> Float:  # (N, 2)
    """Coordinates for the map: near each other are points that the walk links; axes have no meaning.

    ``op`` is any walk operator; one without near field gets one first, which takes longer than the map.
    The same seed gives the same map.
    """
    n_points = int(op.shape[0])
    if n_points < 3:
        return np.column_stack([np.arange(n_points, dtype=float), np.zeros(n_points)])
    rng = generator(random_state)
    S = symmetrized(_linked(op, rng))
    root = np.sqrt(S.degrees)[:, None]
    Y = 10.0 * _centred_ranks(_start(S, rng))
    for step in range(STEPS):
        pull = np.asarray(S @ (Y * root)) / root - Y
        Y = Y + (1.0 - 0.9 * step / STEPS) * (pull + PUSH / n_points * _push(Y))
        Y -= Y.mean(axis=0)
    return _lying(_outliers_drawn_in(Y))


def _linked(op: Any, rng: np.random.Generator) -> Any:
    """The operator with a near field: blocks alone tie the points of a group together on one spot."""
    if not isinstance(op, WalkOperator) or getattr(op, "near", None) is not None:
        return op
    field = NearField.of(op.lifted, min(NEAR, op.shape[0] - 1), rng, op.n_jobs)
    weights = op.weights if isinstance(op, ForestOperator) else "uniform"
    return ForestOperator(op.members, weights=weights, near=field)


def _start(S: SymmetrizedOperator, rng: np.random.Generator) -> Float:  # (N, 2)
    """Two leading eigenvectors of the walk but the constant one, roughly: a little subspace iteration."""
    n_points = S.shape[0]
    first = np.sqrt(S.degrees / S.degrees.sum())
    V = rng.normal(size=(n_points, min(START_VECTORS, n_points - 1)))
    for _ in range(START_STEPS):
        V = np.linalg.qr(V - np.outer(first, first @ V))[0]
        V = np.asarray(S @ V)
    V = np.linalg.qr(V - np.outer(first, first @ V))[0]
    _, turn = np.linalg.eigh(V.T @ np.asarray(S @ V))
    return np.asarray((V @ turn[:, ::-1])[:, :2] / first[:, None])


def _centred_ranks(Y: Float) -> Float:
    """Each column's values replaced by their places, −½ to ½."""
    places = Y.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    return np.asarray((places + 0.5) / len(Y) - 0.5)


def _push(Y: Float) -> Float:  # (N, 2)
    """Σ_j (y_i − y_j) / (1 + ‖y_i − y_j‖²) for all i, points and forces interpolated on a grid."""
    low, high = Y.min(axis=0), Y.max(axis=0)
    unit = max(1.02 * float((high - low).max()), 1e-9) / (GRID - 1)
    place = (Y - (low + high) / 2) / unit + (GRID - 1) / 2
    corner = np.clip(place.astype(np.int64), 0, GRID - 2)
    f = place - corner
    corners = [(corner[:, 0] + a) * GRID + corner[:, 1] + b for a in (0, 1) for b in (0, 1)]
    shares = [np.abs(1 - a - f[:, 0]) * np.abs(1 - b - f[:, 1]) for a in (0, 1) for b in (0, 1)]
    mass = np.bincount(np.concatenate(corners), np.concatenate(shares), minlength=GRID**2)
    size = 2 * GRID  # twice the grid: the convolution does not wrap around
    offset = unit * size * np.fft.fftfreq(size)
    kernel = 0.5 * np.log1p(offset[:, None] ** 2 + offset**2)  # whose gradient is r / (1 + ‖r‖²)
    spectrum = fft.rfft2(mass.reshape(GRID, GRID), (size, size)) * fft.rfft2(kernel)
    potential = fft.irfft2(spectrum, (size, size))[:GRID, :GRID]
    return np.column_stack(
        [
            sum(field.ravel()[at] * share for at, share in zip(corners, shares, strict=True))
            for field in np.gradient(potential, unit)
        ]
    )


def _lying(Y: Float) -> Float:
    """Turned so that it is wider than high, as screens are."""
    _, axes = np.linalg.eigh(np.cov(Y.T))
    return np.asarray(Y @ axes[:, ::-1])


def _outliers_drawn_in(Y: Float) -> Float:
    """Beyond the radius that holds 99 % of the points, distances from the middle grow as a logarithm."""
    Y = Y - np.median(Y, axis=0)
    length = np.linalg.norm(Y, axis=1, keepdims=True)
    usual = max(float(np.quantile(length, 0.99)), 1e-300)
    times = np.maximum(length / usual, 1.0)
    return np.asarray(Y / times * (1.0 + np.log(times)))
