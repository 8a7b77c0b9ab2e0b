"""The leading eigenspace of a symmetric matrix known by its products, all vectors at once (LOBPCG).

By Knyazev 2001: from the b Ritz vectors X, improvements W of them and the last step's directions P,
the best b vectors of span[X, W, P]. A block finds multiple eigenvalues as it finds others, since no vector of
it stands for more than itself. The basis is kept orthonormal, P by coefficients alone (Hetmaniuk and Lehoucq
2006), so one product of b columns at most and matrix products of 3b columns are one step. After a polynomial
of a high degree X and P bring nothing beside X + W, and one Gram matrix of b columns is all.

W is either the residuals R = S·X − X·Θ after a preconditioner that is about (1 − S)⁻¹, or X after a Chebyshev
polynomial of S that is small on all unwanted eigenvalues. The first is good at eigenvalues close to 1, the
second where many lie close together far from 1; the Ritz values tell which is expected to cost less.

The polynomial is applied to the residuals alone: T(S)·X − X·T(Θ) adds the same to span[X], and its numbers
shrink with R. So single precision is enough for it at any tolerance, at half the cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support.arrays import Float

Product = Callable[[Float], Float]  # (N, m) -> (N, m)
Preconditioner = Callable[[Float], Float | None]  # the same
# See ``recurrence``.
Recurrence = Callable[[Float | None, Float | None, Float], Float]
Tolerance = Callable[[Float, Float], float | Float]  # of the Ritz values and residuals' lengths, (b,) both
_DEPENDENT = 1e-10  # of the largest: directions that add nothing
_SOUND = 1e-7  # of the least eigenvalue of a Gram matrix: rounding is 1e-9 then
_SAFE = 1e-2  # of a unit column, what is orthogonal to those before it, where one round has to do
_FAR = 0.3  # of a unit vector: a step that may make others like it
_NOISE = 0.1  # what is left of a unit vector that was orthogonal already; less was rounding
DEGREES = (8, 32)  # of the polynomial: what a step costs beside the products is that of about 8
_GROWTH = 24.0  # e-folds of rounding errors, see ``_most``
_LOWEST = -1.0  # eigenvalue of S
_BEST_RATE = 0.25  # per step, of the preconditioner, at any gap
_MARGIN = 2.0  # e-folds more than needed, rather than one more step
CYCLE = 16.0  # products that a multigrid cycle costs
_FILLS = 3  # of a start whose columns are dependent, by random ones
_FIRST_EDGE, _FIRST_DEGREE = 0.5, 20  # of the polynomial that makes a start of random columns


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
    precondition: Preconditioner | None,
    tol: float | Tolerance,
    max_steps: int,
    known: Any = None,
    setup: float = 0.0,
    recur: Recurrence | None = None,
    cycle: float = CYCLE,
) -> Space:
    """The leading ``n_columns`` Ritz pairs from the best of ``start`` until ``n_wanted`` residuals are ≤ tol.

    The others are guards: they hold what lies close below the last wanted one. ``known`` (N, c), an array or
    sparse matrix with orthonormal columns, is kept out: the space is the leading one orthogonal to it.
    ``precondition`` may give None where it has nothing to give; ``setup``: products that its first use costs.
    ``recur``: the product's recurrence, if there is a faster one. ``cycle``: products that a use costs.
    """
    recur = recur or recurrence(product)
    V = _basis(start, known, n_columns)
    AV = product(V)
    values, rotation = _descending(V.T @ AV)
    b = min(n_columns, len(values))
    values, rotation = values[:b], np.ascontiguousarray(rotation[:, :b])
    V, AV, H = (
        V @ rotation,
        AV @ rotation,
        np.diag(values),
    )  # an orthonormal basis [X, P], its image, and VᵀAV
    steps = 0
    while True:
        R = V[:, :b] * values
        R = np.subtract(AV[:, :b], R, out=R)
        lengths = _lengths(R)
        aim = tol(values, lengths) if callable(tol) else tol
        going: Any = lengths > aim
        if steps == max_steps or not going[:n_wanted].any():
            return Space(values, np.ascontiguousarray(V[:, :b]), lengths, steps)
        steps += 1
        degree = _degree(values, n_wanted, float((lengths / aim)[:n_wanted].max()), setup, cycle)
        going = slice(None) if going.all() else going  # which copies nothing
        R, W = R[:, going], None
        if precondition is not None and degree is None:
            W, setup = precondition(np.ascontiguousarray(R)), 0.0
        if W is None:
            W = _filtered(recur, R, values[going], float(values[-1]), degree or DEGREES[1])
            if degree is not None:
                X, AX = (np.ascontiguousarray(columns[:, :b]) for columns in (V, AV))
                moved = _moved(product, X, AX, going, _outside(known, W))
                if moved is not None:
                    values, V, AV, H = moved, X, AX, np.diag(moved)
                    continue
        W = _orthogonal_to(V, known, W)
        if W.shape[1] == 0:
            return Space(values, np.ascontiguousarray(V[:, :b]), lengths, steps)
        AW = product(W)
        across, inside = V.T @ AW, W.T @ AW
        H = np.block([[H, across], [across.T, inside]])
        values, rotation = _descending(H)
        values, best = values[:b], rotation[:, :b]
        keep = best if degree is not None else np.column_stack([best, _directions(best, b)])
        V, AV = _combined(V, W, keep), _combined(AV, AW, keep)
        H = keep.T @ H @ keep


def _moved(product: Product, X: Float, AX: Float, going: Any, E: Float) -> Float | None:  # (b,)
    """The Ritz values of X's span, moved by E in the columns that go on; None if they are dependent.

    Writes the Ritz vectors to X and their images to AX: new arrays would be new pages of memory, round by
    round. X + E is what the polynomial makes of X. Where E is small, so is its part along X. Else leading
    vectors are in all columns of it, and (X + E)·(1 + XᵀE)⁻¹, of the same span, is X and what is orthogonal
    to it.
    """
    Y = X.copy()
    Y[:, going] += E
    try:
        if _lengths(E).max() > _FAR:
            along = np.eye(X.shape[1])
            along[:, going] += X.T @ E
            Y = Y @ np.linalg.inv(along)
        gram = Y.T @ Y
        size = np.sqrt(np.diag(gram))
        root = np.linalg.cholesky(gram / (size * size[:, None]))
    except np.linalg.LinAlgError:
        return None
    if not np.diag(root).min() > _SAFE:
        return None
    AY, to_unit = product(Y), np.linalg.inv(root) / size
    values, rotation = _descending(to_unit @ (Y.T @ AY) @ to_unit.T)
    rotation = to_unit.T @ rotation
    np.matmul(Y, rotation, out=X), np.matmul(AY, rotation, out=AX)
    return values


def _lengths(R: Float) -> Float:  # (N, m) -> (m,)
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", R, R)))


def _degree(values: Float, n_wanted: int, ratio: float, setup: float, cycle: float) -> int | None:
    """Of the polynomial that is to shorten the longest residual by ``ratio``; None where cycles cost less.

    Both are judged by the factor that is expected for the last wanted vector beside the last of all.
    """
    last, edge = 1.0 - values[n_wanted - 1], 1.0 - values[-1]
    gap = max(edge - last, 0.0)
    per_product = float(np.arccosh(1.0 + 2 * gap / (values[-1] - _LOWEST))) if gap > 0 else 1e-9
    root = np.sqrt(gap / max(edge, 1e-300))
    per_cycle = -np.log(max((1 - root) / (1 + root), _BEST_RATE)) if root > 1e-9 else 1e-9
    needed = np.log(max(ratio, 2.0))
    if needed / per_product > needed / per_cycle * cycle + setup:
        return None
    return int(np.clip(np.ceil((needed + _MARGIN) / per_product), DEGREES[0], _most(values, n_wanted)))


def _most(values: Float, n_wanted: int) -> int:
    """Degree up to which single precision serves: T(1)/T(λ) of the last wanted one is no more than e²⁴.

    Rounding that falls on a leading vector grows as the vector would, and is taken out at the end; but what
    is rounded beside it on the way is not.
    """
    radius = (values[-1] - _LOWEST) / 2
    at = np.maximum(1.0 + (np.array([1.0, values[n_wanted - 1]]) - values[-1]) / radius, 1.0)
    leading, last = np.arccosh(at)
    return int(np.clip(_GROWTH / max(float(leading - last), 1e-300), *DEGREES))


def _filtered(recur: Recurrence, R: Float, values: Float, edge: float, degree: int) -> Float:  # (N, m)
    """T(S)·X·T(Θ)⁻¹ − X from R = S·X − X·Θ, with T Chebyshev's polynomial for [−1, edge].

    E_n = T_n(S)·X·T_n(Θ)⁻¹ − X obeys E_(n+1) = ρ_n·(2·S·E_n + 2·R) − ρ_n·ρ_(n−1)·E_(n−1) in units in which
    the interval is [−1, 1], with ρ_n = T_n(Θ)/T_(n+1)(Θ), and E_1 = ρ_0·R.
    """
    center, radius = (edge + _LOWEST) / 2, (edge - _LOWEST) / 2
    theta = np.maximum((values - center) / radius, 1.0)
    rho = np.empty((degree, len(theta)))
    rho[0] = 1.0 / theta
    for n in range(1, degree):
        rho[n] = 1.0 / (2 * theta - rho[n - 1])
    return recur(None, R, _weights(2 * rho, np.vstack([0 * rho[:1], rho[1:] * rho[:-1]]), center, radius))


def amplified(recur: Recurrence, X: Float) -> Float:  # (N, m)
    """T(S)·X, to begin with: what lies above 0.5 in the spectrum grows over all other."""
    center, radius = (_FIRST_EDGE + _LOWEST) / 2, (_FIRST_EDGE - _LOWEST) / 2
    by = np.full((_FIRST_DEGREE, X.shape[1]), 2.0)
    return recur(X, None, _weights(by, by / 2, center, radius))


def recurrence(product: Product) -> Recurrence:
    """Y_(n+1) = a_n·(S·Y_n + R) + b_n·Y_n + c_n·Y_(n−1) from Y on, None for 0; weights (n, 3, m)."""

    def recur(Y: Float | None, R: Float | None, weights: Float) -> Float:
        rest = 0.0 if R is None else R
        if Y is None:  # the first step needs no product
            Y, weights = weights[0, 0] * np.asarray(rest), weights[1:]
        before, now = np.zeros_like(Y), Y
        for a, b, c in weights:
            before, now = now, (product(now) + rest) * a + now * b + before * c
        return now

    return recur


def _weights(by: Float, before: Float, center: float, radius: float) -> Float:  # (n, m) ×2 -> (n, 3, m)
    """Those of by·(S·Y + R)'s polynomial where [center − radius, center + radius] is [−1, 1]."""
    by = by.copy()
    by[0] /= 2  # T_1 = x, and T_(n+1) = 2·x·T_n − T_(n−1)
    return np.stack([by / radius, -by * center / radius, -before], axis=1)


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
    if known is None:
        return V
    along = np.asarray(known @ (known.T @ V))
    return np.asarray(np.subtract(V, along, out=along))


def _orthogonal_to(V: Float | None, known: Any, W: Float) -> Float:
    """Orthonormal columns that span W's part outside V's and the known ones', in two rounds at most.

    Rounding leaves parts along V and the known of about ε over what a column keeps of its length, and columns
    that are orthogonal but for ε over the least eigenvalue of their Gram matrix.
    """
    for noise in (0.0, _NOISE):
        before = _lengths(W)
        W = _outside(known, W)
        W = W if V is None else W - V @ (V.T @ W)
        W, lengths, least = _orthonormal(W, noise)
        if least * float((lengths / np.maximum(before, 1e-300)).min(initial=1.0)) > _SOUND:
            break
    return W


def _basis(start: Float, known: Any, n_columns: int) -> Float:  # (N, m) -> (N, at least n_columns)
    """An orthonormal basis of the start outside the known columns, filled up where that has too few."""
    n_points = len(start)
    n_columns = min(n_columns, n_points - (0 if known is None else known.shape[1]))
    V, rng = _orthogonal_to(None, known, start), np.random.default_rng(0)
    for _ in range(_FILLS):
        if V.shape[1] >= n_columns:
            break
        more = rng.normal(size=(n_points, n_columns - V.shape[1]))
        V = np.column_stack([V, _orthogonal_to(V, known, more)])
    return V


def _directions(best: Float, b: int) -> Float:  # (m, b) -> (m, at most b)
    """Coefficients of the step from the old vectors, the first b, orthogonal to the new ones."""
    step = best.copy()
    step[:b] = 0.0
    return _independent(step - best @ (best.T @ step))


def _independent(directions: Float) -> Float:  # (m, b) -> (m, at most b)
    """An orthonormal basis of the few coefficients' span."""
    U, sizes, _ = np.linalg.svd(directions, full_matrices=False)
    return np.asarray(U[:, sizes > 1e-7])


def _orthonormal(W: Float, noise: float) -> tuple[Float, Float, float]:  # (N, m) -> (N, at most m), (m,)
    """An orthonormal basis of the columns' span, by their Gram matrix; their lengths; its least eigenvalue.

    Dependent directions are left out, and columns no longer than ``noise``; the eigenvalue is relative to the
    largest, and 0 where something was left out.
    """
    lengths = _lengths(W)
    kept = lengths > noise
    W = W[:, kept] / lengths[kept] if not kept.all() else W / lengths
    values, vectors = np.linalg.eigh(W.T @ W)
    if not len(values):
        return W, lengths, 0.0
    keep = values > _DEPENDENT * max(float(values[-1]), 0.0)
    least = float(values[0] / values[-1]) if keep.all() and kept.all() else 0.0
    return np.asarray(W @ (vectors[:, keep] / np.sqrt(values[keep]))), lengths, least


def orthonormal(W: Float, noise: float = 0.0) -> Float:  # (N, m) -> (N, at most m)
    """An orthonormal basis of the columns' span, without those no longer than ``noise``."""
    return _orthonormal(W, noise)[0]
