"""The leading eigenspace of a symmetric matrix known by its products, all vectors at once (LOBPCG).

Knyazev's method (2001): from the b Ritz vectors X, improvements W of them and the last step's directions P,
the best b vectors of span[X, W, P]. A block finds multiple eigenvalues as it finds others, since no vector of
it stands for more than itself. The basis is kept orthonormal, P by coefficients alone (Hetmaniuk and Lehoucq
2006), so one product of b columns at most and matrix products of 3b columns are one step.

W is either the residuals R = S·X − X·Θ after a preconditioner that is about (1 − S)⁻¹, or X after a Chebyshev
polynomial of S that is small on all unwanted eigenvalues. The first is good at eigenvalues close to 1, the
second where many lie close together far from 1; the Ritz values tell which is expected to gain more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support.arrays import Float

Product = Callable[[Float], Float]  # (N, m) -> (N, m)
_DEPENDENT = 1e-10  # of the largest: directions that add nothing
_NOISE = 0.1  # what is left of a unit vector that was orthogonal already; less was rounding
DEGREE = 16  # of the polynomial, whose products then cost about what a step costs beside them
_LOWEST = -1.0  # eigenvalue of S
_BEST_RATE = 0.25  # per step, of the preconditioner, at any gap


@dataclass(frozen=True, eq=False)
class Space:
    """b Ritz pairs, the largest first, with the residuals' lengths ‖S·v − λ·v‖."""

    values: Float  # (b,)
    vectors: Float  # (N, b)
    residuals: Float  # (b,)
    steps: int


def leading_space(
    product: Product,
    start: Float,  # (N, at least n_columns)
    n_wanted: int,
    n_columns: int,
    *,
    precondition: Product | None,
    tol: float,
    max_steps: int,
    known: Any = None,
) -> Space:
    """The leading ``n_columns`` Ritz pairs from the best of ``start`` until ``n_wanted`` residuals are ≤ tol.

    The others are guards: they hold what lies close below the last wanted one. ``known`` (N, c), an array or
    sparse matrix with orthonormal columns, is kept out: the space is the leading one orthogonal to it.
    """
    V = orthonormal(_outside(known, orthonormal(_outside(known, start))), _NOISE)
    AV = product(V)
    values, turn = _descending(V.T @ AV)
    b = min(n_columns, len(values))
    values, turn = values[:b], turn[:, :b]
    V, AV, H = V @ turn, AV @ turn, np.diag(values)  # an orthonormal basis [X, P], its image, and VᵀAV
    steps = 0
    while True:
        R = AV[:, :b] - V[:, :b] * values
        lengths = np.linalg.norm(R, axis=0)
        going = lengths > tol
        if steps == max_steps or not going[:n_wanted].any():
            return Space(values, np.ascontiguousarray(V[:, :b]), lengths, steps)
        if precondition is None or _polynomial_gains_more(values, n_wanted):
            W = _filtered(product, V[:, :b][:, going], AV[:, :b][:, going], float(values[-1]))
        else:
            W = precondition(np.ascontiguousarray(R[:, going]))
        W = _orthogonal_to(V, known, W)
        if W.shape[1] == 0:
            return Space(values, np.ascontiguousarray(V[:, :b]), lengths, steps)
        AW = product(W)
        across, inside = V.T @ AW, W.T @ AW
        H = np.block([[H, across], [across.T, inside]])
        values, turn = _descending(H)
        values, best = values[:b], turn[:, :b]
        directions = best.copy()
        directions[:b] = 0.0
        directions = _independent(directions - best @ (best.T @ directions))
        keep = np.column_stack([best, directions])
        V, AV = _combined(V, W, keep), _combined(AV, AW, keep)
        H = keep.T @ H @ keep
        steps += 1


def _polynomial_gains_more(values: Float, n_wanted: int) -> bool:
    """Compares the error's expected factors per step, for the last wanted vector beside the last of all."""
    last, edge = 1.0 - values[n_wanted - 1], 1.0 - values[-1]
    gap = max(edge - last, 0.0)
    polynomial = np.exp(-2 * DEGREE * np.sqrt(gap / (1.0 - _LOWEST)))
    root = np.sqrt(gap / max(edge, 1e-300))
    return bool(polynomial < max((1 - root) / (1 + root), _BEST_RATE))


def _filtered(product: Product, X: Float, AX: Float, edge: float) -> Float:
    """T(S)·X with T Chebyshev's polynomial for [−1, edge], scaled to about 1 at the eigenvalue 1."""
    centre, radius = (edge + _LOWEST) / 2, (edge - _LOWEST) / 2
    ratio = radius / (1.0 - centre)
    first, now = X, (AX - centre * X) * (ratio / radius)
    double = 2 / ratio
    for _ in range(DEGREE - 1):
        last, ratio = ratio, 1.0 / (double - ratio)
        new = product(now)
        new -= centre * now
        new *= 2 * ratio / radius
        new -= (last * ratio) * first
        first, now = now, new
    return now


def _descending(H: Float) -> tuple[Float, Float]:
    values, vectors = np.linalg.eigh((H + H.T) / 2)
    return values[::-1], vectors[:, ::-1]


def _combined(V: Float, W: Float, keep: Float) -> Float:
    """[V, W]·keep without a copy of both."""
    n = V.shape[1]
    out = V @ keep[:n]
    out += W @ keep[n:]
    return np.asarray(out)


def _outside(known: Any, V: Float) -> Float:
    """V less its part along the known columns."""
    return V if known is None else np.asarray(V - known @ (known.T @ V))


def _orthogonal_to(V: Float, known: Any, W: Float) -> Float:
    """Orthonormal columns that span W's part outside V's and the known ones'; twice is enough."""
    for noise in (0.0, _NOISE):
        W = _outside(known, W)
        W = orthonormal(W - V @ (V.T @ W), noise)
    return W


def _independent(directions: Float) -> Float:  # (m, b) -> (m, at most b)
    """An orthonormal basis of the few coefficients' span."""
    U, sizes, _ = np.linalg.svd(directions, full_matrices=False)
    return np.asarray(U[:, sizes > 1e-7])


def orthonormal(W: Float, noise: float = 0.0) -> Float:  # (N, m) -> (N, at most m)
    """An orthonormal basis of the columns' span, by their Gram matrix.

    Dependent directions are left out, and columns no longer than ``noise``.
    """
    lengths = np.linalg.norm(W, axis=0)
    W = W[:, lengths > noise] / lengths[lengths > noise]
    values, vectors = np.linalg.eigh(W.T @ W)
    keep = values > _DEPENDENT * max(float(values[-1]), 0.0) if len(values) else np.empty(0, bool)
    return np.asarray(W @ (vectors[:, keep] / np.sqrt(values[keep])))
