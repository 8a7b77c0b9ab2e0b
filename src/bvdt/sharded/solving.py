"""Columns that stay where the points are, for the solvers of ``bvdt.solvers``: one call per shard and step.

Of a step the driver learns sums over the columns, and what the next product needs. Every call returns its
columns and what it reports of them as one tuple, which the next call reads; the driver picks the report.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._support.arrays import Float, Numbers
from ..solvers import conjugate_gradients
from .columns import Columns
from .executors import Donated, Reference
from .near_field import Matrices
from .symmetrized import DownwardMessage, ShardState, UpwardSums, View, current_columns, downward, upward_sums

State = tuple[tuple[Numbers, ...], "Report"]  # columns, the last of which is multiplied next


class Report(NamedTuple):
    """What a shard reports of a step."""

    sums: Float  # (3, k) as in ``Spreading``; (2, k) ‖R‖² and ‖B‖² of conjugate gradients
    up: UpwardSums  # for the next product
    changed: bool = True  # whether an entry changed by more than asked for


class ShardedSpreading:
    """See ``bvdt.solvers.Spreading``; F ← α·M·F + (1 − α)·Y⁰ with M the view.

    ``first``: the share of Y⁰ to begin with, 1 − α if None. ``changed``: whether the last step changed an
    entry by more than ``entry_tol``, and by more than its rounding.
    """

    def __init__(
        self, M: View, Y0: Columns, alpha: float, first: float | None = None, entry_tol: float = 0.0
    ) -> None:
        self._M, self._Y0, self.alpha, self._entry_tol = M, Y0, alpha, entry_tol
        self.products, self.changed = 0, True
        each = M.op.shards.each
        share = 1 - alpha if first is None else first
        self._take(M.map(begun, Y0.parts, M.own, M.near, each(share)))
        self.right = (1 - alpha) ** 2 * self.sums[2]

    def _take(self, state: list[Reference]) -> None:
        self._state = Donated(state)
        reports: list[Report] = self._M.op.gather_item(self._state, 1)
        self._up = [report.up for report in reports]
        self.sums: Float = np.sum([report.sums for report in reports], axis=0)
        self.changed = any(report.changed for report in reports)

    def step(self, weight: float) -> None:
        M, each = self._M, self._M.op.shards.each
        ways = M.local(self._state), M.sent(self._up)
        numbers = each(self.alpha), each(weight), each(self._entry_tol)
        self._take(M.map(stepped, self._state, self._Y0.parts, *ways, *numbers))
        self.products += 1

    def clip(self) -> None:
        sums = self.sums
        self._take(self._M.map(clipped, self._state, self._M.own, self._M.near))
        self.sums = sums

    def solve(self, tol: float, max_products: int) -> None:
        system = _System(self._M, self._Y0, self.alpha, self._state if self.products else None, self._up)
        self.products += system.products
        residual, right = system.squares
        self.products += conjugate_gradients(system, residual, tol**2 * right, max_products - system.products)
        self._take(self._M.map(solution, system.state, self._M.own, self._M.near))

    def scores(self) -> Columns:
        """F."""
        return Columns(self._M.map(current_columns, self._state), self._Y0.width, self._Y0.dtype)


class _System:
    """See ``bvdt.solvers.System``; (I − α·M)·F = (1 − α)·Y⁰."""

    def __init__(
        self, M: View, Y0: Columns, alpha: float, start: Donated | None, up: list[UpwardSums]
    ) -> None:
        self._M, self._alpha, self.products = M, alpha, int(start is not None)
        each = M.op.shards.each
        if start is None:
            self._take(M.map(first_residual, Y0.parts, M.own, M.near, each(alpha)))
        else:
            self._take(M.map(residual_from, start, Y0.parts, M.local(start), M.sent(up), each(alpha)))

    def _take(self, state: list[Reference]) -> None:
        self.state = Donated(state)
        reports: list[Report] = self._M.op.gather_item(self.state, 1)
        self._up = [report.up for report in reports]
        self.squares: Float = np.sum([report.sums for report in reports], axis=0)

    def product(self) -> tuple[Float, Float]:
        M = self._M
        ways = M.local(self.state), M.sent(self._up), M.op.shards.each(self._alpha)
        self._image = Donated(M.map(curved, list(self.state), *ways))
        along, square = np.sum(M.op.gather_item(self._image, 1), axis=0)
        return along, square

    def advance(self, step: Float, beta: Float) -> Float:
        each = self._M.op.shards.each
        given = (self.state, self._image, each(step), each(beta), self._M.own, self._M.near)
        self._take(self._M.map(advanced, *given))
        return np.asarray(self.squares[0])


# -- on shards ----------------------------------------------------------------------------------------------


def begun(Y0: Numbers, own: ShardState, near: Matrices | None, share: float) -> State:
    """F = share·Y⁰, and the squares of Y⁰."""
    F = Y0 * Y0.dtype.type(share)
    sums = np.stack([np.zeros(Y0.shape[1])] * 2 + [squares(Y0, Y0)])
    return (np.zeros_like(F), F), Report(sums, upward_sums(F, own, near))


def stepped(
    state: State,
    Y0: Numbers,
    local: list[object],
    sent: DownwardMessage,
    alpha: float,
    weight: float,
    entry_tol: float,
) -> State:
    """ω·G + (1 − ω)·F_before, G = α·M·F + (1 − α)·Y⁰."""
    before, F = state[0]
    G = downward(state, local, sent)
    G *= G.dtype.type(alpha)
    G += G.dtype.type(1 - alpha) * Y0
    R = G - F
    size, change = np.abs(G), np.abs(R)
    sums = np.stack([change.sum(axis=0, dtype=float), size.sum(axis=0, dtype=float), squares(R, R)])
    changed = bool(np.any(change > np.maximum(entry_tol, 2 * np.finfo(G.dtype).eps * size)))
    if weight != 1.0:
        G *= G.dtype.type(weight)
        G += G.dtype.type(1 - weight) * before
    return (F, G), Report(sums, _upward_sums(G, local), changed)


def clipped(state: State, own: ShardState, near: Matrices | None) -> State:
    """Without scores below 0."""
    before, F = state[0]
    F = np.maximum(F, 0)
    return (before, F), Report(state[1].sums, upward_sums(F, own, near))


def first_residual(Y0: Numbers, own: ShardState, near: Matrices | None, alpha: float) -> State:
    """(F, R, P) at F = 0."""
    B = Y0 * Y0.dtype.type(1 - alpha)
    return (np.zeros_like(B), B, B), Report(np.stack([squares(B, B)] * 2), upward_sums(B, own, near))


def residual_from(
    state: State, Y0: Numbers, local: list[object], sent: DownwardMessage, alpha: float
) -> State:
    """(F, R, P) at an earlier solution, which costs a product."""
    F, B = current_columns(state), Y0 * Y0.dtype.type(1 - alpha)
    R = B - (F - F.dtype.type(alpha) * downward(state, local, sent))
    return (F, R, R), Report(np.stack([squares(R, R), squares(B, B)]), _upward_sums(R, local))


def curved(state: State, local: list[object], sent: DownwardMessage, alpha: float) -> tuple[Numbers, Float]:
    """A·P = (I − α·M)·P, ⟨P, A·P⟩ and ‖A·P‖²."""
    P = current_columns(state)
    AP = downward(state, local, sent)
    AP *= P.dtype.type(-alpha)
    AP += P
    return AP, np.stack([squares(P, AP), squares(AP, AP)])


def advanced(
    state: State,
    image: tuple[Numbers, Float],
    step: Float,
    beta: Float,
    own: ShardState,
    near: Matrices | None,
) -> State:
    """One step on, and the next direction."""
    (F, R, P), AP = state[0], image[0]
    F = F + P * step.astype(P.dtype)
    R = R - AP * step.astype(P.dtype)
    P = R + P * beta.astype(P.dtype)
    return (F, R, P), Report(np.stack([squares(R, R), state[1].sums[1]]), upward_sums(P, own, near))


def solution(state: State, own: ShardState, near: Matrices | None) -> State:
    """F of conjugate gradients, with which steps go on."""
    F = state[0][0]
    none = np.zeros((3, F.shape[1]))
    return (F, F), Report(none, upward_sums(F, own, near))


def _upward_sums(V: Numbers, local: list[object]) -> UpwardSums:
    own, near = local[0], local[2]
    assert isinstance(own, ShardState)
    assert near is None or isinstance(near, Matrices)
    return upward_sums(V, own, near)


def squares(A: Numbers, B: Numbers) -> Float:  # (n, k) ×2 -> (k,)
    """Inner products of the columns."""
    return np.asarray(np.einsum("ij,ij->j", A, B, dtype=np.float64))
