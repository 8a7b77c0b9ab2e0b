"""Label spreading over shards by Chebyshev's steps, one call per shard and step (theory: Label walks).

Of a step the driver learns how far the columns were from solved, and what the next product needs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float
from ..walks.spreading import Spreading
from .columns import Columns
from .executors import Spent
from .symmetrized import Ascent, Own, Sent, Symmetrized, ascent, descent, moving

State = tuple[tuple[NDArray[Any], NDArray[Any]], "Told"]  # columns before, columns now


class Told(NamedTuple):
    """What a shard tells of a step."""

    sums: Float  # (3, k), as in ``Spreading``
    up: Ascent  # for the next product


class SpreadingOverShards(Spreading):
    """Columns that stay where the points are."""

    def __init__(self, S: Symmetrized, Y0: Columns, alpha: float) -> None:
        self._S, self._Y0 = S, Y0
        self._begin(S.op.map("propagation", begun, Y0.parts, S.own, S.near, S.op.shards.each(alpha)))
        super().__init__(alpha, np.sum([told.sums[2] for told in self._told], axis=0))

    def _begin(self, state: list[Any]) -> None:
        self.state = Spent(state)
        self._told: list[Told] = self._S.op.told(self.state, 1)

    def step(self, turn: float) -> None:
        S, each = self._S, self._S.op.shards.each
        ways = S.held(self.state), S.sent([told.up for told in self._told])
        given = (self.state, self._Y0.parts, *ways, each(self.alpha), each(turn))
        self._begin(S.op.map("propagation", stepped, *given))
        self._sums = np.sum([told.sums for told in self._told], axis=0)
        self.products += 1

    def cut_below_zero(self) -> None:
        S = self._S
        self._begin(S.op.map("propagation", not_below_zero, self.state, S.own, S.near))


# -- on shards ----------------------------------------------------------------------------------------------


def begun(Y0: NDArray[Any], own: Own, near: Any, alpha: float) -> State:
    """F = (1 − α)·Y⁰, and the squares of Y⁰."""
    F = Y0 * Y0.dtype.type(1 - alpha)
    none = np.zeros(Y0.shape[1])
    squares = np.einsum("ij,ij->j", Y0, Y0, dtype=np.float64)
    return (np.zeros_like(F), F), Told(np.stack([none, none, squares]), ascent(F, own, near))


def stepped(state: State, Y0: NDArray[Any], held: list[Any], sent: Sent, alpha: float, turn: float) -> State:
    """ω·G + (1 − ω)·F_before, G = α·S·F + (1 − α)·Y⁰."""
    before, F = state[0]
    G = descent(state, held, sent)
    G *= G.dtype.type(alpha)
    G += G.dtype.type(1 - alpha) * Y0
    R = G - F
    sizes = [np.abs(R).sum(axis=0, dtype=np.float64), np.abs(G).sum(axis=0, dtype=np.float64)]
    sums = np.stack([*sizes, np.einsum("ij,ij->j", R, R, dtype=np.float64)])
    if turn != 1.0:
        G *= G.dtype.type(turn)
        G += G.dtype.type(1 - turn) * before
    return (F, G), Told(sums, ascent(G, held[0], held[2]))


def not_below_zero(state: State, own: Own, near: Any) -> State:
    before, F = state[0]
    F = np.maximum(F, 0)
    return (before, F), Told(state[1].sums, ascent(F, own, near))


def now(state: State) -> NDArray[Any]:
    """The columns themselves."""
    return moving(state)
