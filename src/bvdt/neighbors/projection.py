"""Fewer coordinates to rank by: ⟨x_i, h_j⟩ ≈ ⟨x_i P, h_j P⟩ + what is left of both, with u and w as they are.

P's columns are orthonormal, the principal directions of a sample's rows and centres together, each in units
of its own spread. One more coordinate is the length of what they leave, ρ_i = ‖(x_i − x̄)(1 − PPᵀ)‖ and σ_j
likewise of h: a product of two remainders is at most ρσ. For squared Euclidean data P are the principal
components, and the estimate with ρσ is never above d_ij. Elsewhere a share of ρσ is taken, that of a point's
own two remainders. Lists are found by the estimate, longer than asked for, and ranked again by the
divergence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float
from ..lifting import Lifted

SAMPLE = 4000  # rows that the directions are found on
_SMALL = 300  # columns up to which all eigenvectors are found: no slower than a few steps
_STEPS = 3
_ORTHOGONAL, _NEARLY = 1e-10, 0.1  # products of directions that are as good as none, or soon will be
_BATCH = 1 << 19  # values handled at once
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
        directions = np.ascontiguousarray(self.directions[:, :r])
        return Projection(directions, self.mean_x, self.mean_h, self.share)

    def __call__(self, lifted: Lifted) -> Lifted:
        """The points in r + 1 coordinates; what the means take part in is moved into u and w, exactly."""
        return Growing(self, lifted).points(self.directions.shape[1])[1]


class Growing:
    """Points along more and more of a projection's directions."""

    def __init__(self, projection: Projection, lifted: Lifted) -> None:
        self.projection, self.lifted = projection, lifted
        # ⟨x, h⟩ = ⟨x − x̄, h − h̄⟩ + ⟨x̄, h⟩ + ⟨x, h̄⟩ − ⟨x̄, h̄⟩
        both = projection.mean_x @ projection.mean_h
        by_mean_h = lifted.X @ projection.mean_h
        self.u = lifted.u - (by_mean_h - both)
        self.w = lifted.w - (by_mean_h if lifted.H is lifted.X else lifted.H @ projection.mean_x)
        own = self.u + self.w if lifted.H is lifted.X else None  # d_ii = 0: ⟨x − x̄, h − h̄⟩
        self._sides = [_Side(lifted.X, projection.mean_x, projection.directions, own)]
        if lifted.H is not lifted.X:
            self._sides.append(_Side(lifted.H, projection.mean_h, projection.directions))

    @property
    def both_sides(self) -> tuple[_Side, _Side]:
        return self._sides[0], self._sides[-1]

    def along(self, r: int) -> tuple[Float, Float, Float, Float]:  # (N, r) ×2, (N,) ×2
        """x and h along the first r directions, and the lengths of what is left of them."""
        for side in self._sides:
            side.grow(r)
        x, h = self.both_sides
        left = x.left(r)
        return x.along(r), h.along(r), self.projection.share * left, left if h is x else h.left(r)

    def points(self, r: int) -> tuple[Projection, Lifted]:
        """The first r directions and the points in them."""
        x, h, left_x, left_h = self.along(r)
        X = np.column_stack([x, left_x])
        H = X if self.projection.is_bound else np.column_stack([h, left_h])
        return self.projection.leading(r), Lifted(self.u, self.w, X, H)


class Estimates:
    """The same by r directions in single precision: d_ij ≈ u_i − unit·⟨row_i, centre_j⟩, with w inside."""

    def __init__(self, growing: Growing, r: int) -> None:
        x, h, left_x, left_h = growing.along(r)
        size_x, size_h = (_size(side.squares) for side in growing.both_sides)
        unit = size_x * size_h
        self._parts = x, left_x, size_x
        self._centres = np.empty((len(h), r + 2), np.float32)
        np.multiply(h, 1 / size_h, out=self._centres[:, :r], casting="same_kind")
        self._centres[:, r] = left_h / size_h
        self._centres[:, r + 1] = growing.w / -unit

    def nearness(self, rows: NDArray[np.intp]) -> NDArray[np.float32]:  # (m, N)
        """⟨row_i, centre_j⟩, −∞ for the row itself."""
        x, left_x, size = self._parts
        some = np.column_stack([x[rows] / size, left_x[rows] / size, np.ones(len(rows))]).astype(np.float32)
        near = some @ self._centres.T
        near[np.arange(len(rows)), rows] = -np.inf
        return np.asarray(near)


def _size(squares: Float) -> float:
    return float(np.sqrt(max(np.median(squares), 0.0))) or 1.0


class _Side:
    """Rows or centres, less their mean, along the directions so far."""

    def __init__(self, points: Float, mean: Float, directions: Float, squares: Float | None = None) -> None:
        self._points, self._mean, self._directions = points, mean, directions
        self._along = np.empty((len(points), 0))
        self.squares = _squares(points, mean) if squares is None else squares

    def grow(self, r: int) -> None:
        done = self._along.shape[1]
        if r <= done:
            return
        directions = np.ascontiguousarray(self._directions[:, done:r])
        offset = self._mean @ directions
        new = self._points @ directions
        new -= offset
        self._along = np.concatenate([self._along, new], axis=1) if done else new

    def along(self, r: int) -> Float:  # (N, r)
        return self._along[:, :r]

    def left(self, r: int) -> Float:  # (N,)
        x = self.along(r)
        return np.asarray(np.sqrt(np.maximum(self.squares - np.einsum("ij,ij->i", x, x), 0)))


def _squares(points: Float, mean: Float) -> Float:  # (N,)
    """Of the distances from the mean."""
    squares = np.empty(len(points))
    for rows in _batches(*points.shape):
        away = points[rows] - mean
        squares[rows] = np.einsum("ij,ij->i", away, away)
    return squares


def _batches(n: int, d: int) -> Iterator[slice]:
    step = max(1, _BATCH // d)
    return (slice(first, first + step) for first in range(0, n, step))


def principal(lifted: Lifted, most: int, rng: np.random.Generator) -> Projection:
    """The ``most`` leading directions of a sample."""
    n = lifted.n_points
    some = np.sort(rng.choice(n, min(n, SAMPLE), replace=False))
    X = lifted.X[some]
    mean_x = X.mean(axis=0)
    X = X - mean_x
    moments = X.T @ X
    if lifted.H is lifted.X:
        return Projection(_leading_vectors(moments, most, rng), mean_x, mean_x, 1.0)
    H = lifted.H[some]
    mean_h = H.mean(axis=0)
    H = H - mean_h
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
    if d <= _SMALL or 2 * width > d:
        return np.ascontiguousarray(np.linalg.eigh(moments)[1][:, ::-1][:, :most])
    basis = rng.standard_normal((d, width))
    for step in range(_STEPS):
        basis = _orthonormal(moments @ basis, 2 if step == _STEPS - 1 else 1)
    _, turn = np.linalg.eigh(basis.T @ moments @ basis)
    return np.ascontiguousarray((basis @ turn)[:, ::-1][:, :most])


def _orthonormal(basis: Float, times: int) -> Float:  # (d, r) -> (d, r)
    """Of the same span, by Cholesky's factor of its Gram matrix: products are faster than QR.

    Once is enough for the next step, twice for the last digits.
    """
    try:
        for _ in range(times):
            basis = basis @ np.linalg.inv(np.linalg.cholesky(basis.T @ basis)).T
    except np.linalg.LinAlgError:  # fewer directions than columns
        return np.linalg.qr(basis)[0]
    product = basis.T @ basis  # a factor of rounding errors leaves columns that are not orthogonal
    limit = _ORTHOGONAL if times > 1 else _NEARLY
    return basis if np.abs(product - np.eye(len(product))).max() < limit else np.linalg.qr(basis)[0]
