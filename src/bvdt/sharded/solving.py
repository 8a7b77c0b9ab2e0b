"""(I − α·S)·F = (1 − α)·Y⁰ over shards by conjugate gradients, two calls per shard and step.

The textbook's step needs two sums over all points, one after the other: ⟨P, A·P⟩ for the length, then the
new residual's square for the next direction. With ⟨R, A·P⟩ and ⟨A·P, A·P⟩ told beside the first, the new
square is known before the residual is, and residual, solution and direction move in one call:

    ‖R − λ·A·P‖² = ‖R‖² − 2λ·⟨R, A·P⟩ + λ²·‖A·P‖²

It serves for the direction only; when to stop is decided by the residual's own square.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float
from .columns import Columns
from .executors import Reference, Spent
from .symmetrized import Ascent, Own, Sent, Symmetrized, ascent, descent, moving

State = tuple[tuple[NDArray[Any], NDArray[Any], NDArray[Any]], "Told"]  # solution, residual, direction


class Told(NamedTuple):
    """What a shard tells before a product."""

    residual: Float  # (k,) squares
    wanted: Float  # (k,) squares of the right-hand side
    up: Ascent  # of the direction


class Curvature(NamedTuple):
    """What a shard tells after a product, inner products (k,)."""

    along: Float  # ⟨P, A·P⟩
    residual: Float  # ⟨R, A·P⟩
    square: Float  # ⟨A·P, A·P⟩


def solve(
    S: Symmetrized,
    Y0: Columns,
    alpha: float,
    tol: float,
    max_products: int,
    start: tuple[list[Reference], list[Ascent]] | None,
) -> tuple[Spent, list[Ascent], int]:
    """F ≥ 0 with what its product needs, and the products it took; theory and stops of ``solve_spread``."""
    state, told, products = _begun(S, Y0, alpha, start)
    rho, stop = _total(told, "residual"), tol**2 * _total(told, "wanted")
    while products < max_products and (rho > stop).any():
        state, rho, told = _advanced(S, state, told, rho, stop, alpha)
        products += 1
    done = Spent(S.op.map("propagation", finished, state, S.own, S.near))
    return done, S.op.told(done, 1), products


def _begun(
    S: Symmetrized, Y0: Columns, alpha: float, start: tuple[list[Reference], list[Ascent]] | None
) -> tuple[Spent, list[Told], int]:
    each = S.op.shards.each
    if start is None:
        state = S.op.map("propagation", begun, Y0.parts, S.own, S.near, each(alpha))
    else:
        F, ascents = start
        given = (F, Y0.parts, S.held(F), S.sent(ascents), each(alpha))
        state = S.op.map("propagation", begun_from, *given)
    return Spent(state), S.op.told(state, 1), int(start is not None)


def _advanced(
    S: Symmetrized, state: Spent, told: list[Told], rho: Float, stop: Float, alpha: float
) -> tuple[Spent, Float, list[Told]]:
    each = S.op.shards.each
    up = [t.up for t in told]
    curve = Spent(S.op.map("propagation", curved, list(state), S.held(state), S.sent(up), each(alpha)))
    shapes = S.op.told(curve, 1)
    along, residual, square = (_total(shapes, name) for name in Curvature._fields)
    going = rho > stop
    length = np.where(going, _ratio(rho, along), 0.0)
    new = np.maximum(rho - 2 * length * residual + length**2 * square, 0.0)
    turn = np.where(going, _ratio(new, rho), 0.0)
    moved = (state, curve, each(length), each(turn), S.own, S.near)
    state = Spent(S.op.map("propagation", advanced, *moved))
    told = S.op.told(state, 1)
    return state, _total(told, "residual"), told


def _total(told: list[Any], name: str) -> Float:  # (k,)
    return np.asarray(np.sum([getattr(t, name) for t in told], axis=0))


def _ratio(a: Float, b: Float) -> Float:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)


# -- on shards ----------------------------------------------------------------------------------------------


def begun(Y0: NDArray[Any], own: Own, near: Any, alpha: float) -> State:
    """F = 0."""
    B = Y0 * Y0.dtype.type(1 - alpha)
    squares = dots(B, B)
    return (np.zeros_like(B), B, B), Told(squares, squares, ascent(B, own, near))


def begun_from(given: Any, Y0: NDArray[Any], held: list[Any], sent: Sent, alpha: float) -> State:
    """From a solution of before, which costs a product."""
    F, B = moving(given), Y0 * Y0.dtype.type(1 - alpha)
    R = B - (F - F.dtype.type(alpha) * descent(given, held, sent))
    return (F, R, R), Told(dots(R, R), dots(B, B), ascent(R, held[0], held[2]))


def curved(state: State, held: list[Any], sent: Sent, alpha: float) -> tuple[NDArray[Any], Curvature]:
    """A·P = (I − α·S)·P."""
    _, R, P = state[0]
    AP = descent(state, held, sent)
    AP *= P.dtype.type(-alpha)
    AP += P
    return AP, Curvature(dots(P, AP), dots(R, AP), dots(AP, AP))


def advanced(
    state: State, curve: tuple[NDArray[Any], Curvature], length: Float, turn: Float, own: Own, near: Any
) -> State:
    """One step on, and the next direction."""
    (F, R, P), AP = state[0], curve[0]
    F = F + P * length.astype(P.dtype)
    R = R - AP * length.astype(P.dtype)
    P = R + P * turn.astype(P.dtype)
    return (F, R, P), Told(dots(R, R), state[1].wanted, ascent(P, own, near))


def finished(state: State, own: Own, near: Any) -> tuple[NDArray[Any], Ascent]:
    """F, without rounding's negative values."""
    F = np.maximum(state[0][0], 0.0)
    return F, ascent(F, own, near)


def dots(A: NDArray[Any], B: NDArray[Any]) -> Float:  # (n, k) ×2 -> (k,)
    return np.asarray(np.einsum("ij,ij->j", A, B, dtype=np.float64))
