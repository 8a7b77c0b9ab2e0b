"""Products over shards in two halves, of the walk and of the symmetrised walk (theory: The symmetrized walk).

The call that makes V reports its ``UpwardSums``, what the driver needs of D·V; that which uses D·M·D·V makes
it by ``downward`` from what the driver has made of that. So a step of a solver takes one call per shard,
whatever it does before and after the product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._support.arrays import Float, Index, Numbers
from ..operators import Side
from ..operators.symmetrized import ISOLATED
from . import near_field, shard
from .columns import Columns
from .executors import Reference
from .operator import ShardedOperator
from .sizing import Sized


@dataclass(frozen=True, eq=False)
class ShardState(Sized):
    """What a shard holds of a view besides its part of Q."""

    scale: Float | None  # (n, 1) of D, 0 for isolated points; None for ones
    isolated: Index


class UpwardSums(NamedTuple):
    """What a shard reports of D·V."""

    sums: Float  # (k,)
    far: Float  # (k,) weighed by the rows' shares of the far field


class DownwardMessage(NamedTuple):
    """What the driver sends to a shard for its part of a product: the mean of those by each side."""

    above: dict[Side, Float]  # (k,) by side: what the blocks above add
    share: float
    n_jobs: int | None


class View:
    """Q of an operator over shards, as solvers take it; a subclass may scale it."""

    sides: tuple[Side, ...] = ("forward",)

    def __init__(self, op: ShardedOperator) -> None:
        self.op = op
        self.near: list[Reference] = op.shards.each(None) if op.near_lists is None else op.near_lists.matrices
        self.own: list[Reference] = op.shards.each(ShardState(None, np.empty(0, np.intp)))

    def map(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Reference]:
        return self.op.map("propagation", function, *arguments)

    def local(self, V: Sequence[Reference]) -> list[list[Any]]:
        """Per shard, references to what ``downward`` reads there: also the halo of V."""
        op, halo = self.op, self.op.shards.each([])
        if op.near_lists is not None:
            executor = op.shards.executor
            halo = near_field.exchange(executor, op.near_lists, op.places, send_scaled, V, self.own)
        return [list(parts) for parts in zip(self.own, op.products, self.near, halo, strict=True)]

    def sent(self, reports: Sequence[UpwardSums]) -> list[DownwardMessage]:
        """Per shard, what the driver makes of all ascents."""
        solution = self.op.solution
        sums, far = np.stack([t.sums for t in reports]), np.stack([t.far for t in reports])
        above = {side: solution.product(sums if side == "forward" else far, side) for side in self.sides}
        n_jobs = self.op.shards.executor.n_jobs
        return [
            DownwardMessage({side: values[p] for side, values in above.items()}, share, n_jobs)
            for p, share in enumerate(solution.shares.tolist())
        ]


class Symmetrized(View):
    """S of an operator over shards."""

    def __init__(self, op: ShardedOperator) -> None:
        super().__init__(op)
        # Where rows have different shares of the far field, the mean is of two products.
        self.sides = ("mean",) if op.near_lists is None or op.near_lists.even else ("forward", "transpose")
        kept, self._rounds = _ones(op), 0
        degrees = op.times(kept, "mean")
        if any(op.map_gather("propagation", any_low, degrees.parts)):
            kept = self._without_isolated(kept)
            degrees = op.times(kept, "mean")
        self.own = self.map(scaled_by, degrees.parts, kept.parts)

    def _without_isolated(self, kept: Columns) -> Columns:
        """1 for the points that something leads to, again without those that only the others led to."""
        op = self.op
        while True:
            sums = op.times(kept, "transpose")
            found = op.map("propagation", still_reached, kept.parts, sums.parts)
            if not any(op.map_gather("propagation", differ, kept.parts, found)):
                return kept
            kept, self._rounds = Columns(found, 1, kept.dtype), self._rounds + 1

    def extended(self, F: Columns, Y0: Columns, alpha: float) -> Columns:
        """F with α·Q·F + (1 − α)·Y⁰ in the rows of isolated points."""
        op, each = self.op, self.op.shards.each
        for _ in range(self._rounds):
            QF = op.times(F)
            given = (F.parts, QF.parts, Y0.parts, self.own, each(alpha))
            F = Columns(op.map("propagation", by_own_rows, *given), F.width, F.dtype)
        return F


def _ones(op: ShardedOperator) -> Columns:
    parts = op.map("columns", ones, op.shard_sizes)
    return Columns(parts, 1, np.dtype(np.float64))


# -- on shards ----------------------------------------------------------------------------------------------


def ones(n: int) -> Float:
    return np.ones((n, 1))


def any_low(degrees: Float) -> bool:
    """Rows of a walk sum to 1: a degree of ½ is a column of zeros, but for rounding."""
    return bool((2 * degrees - 1 < 1e-9).any())


def still_reached(kept: Float, column_sums: Float) -> Float:  # (n, 1) ×2
    """1 for the points that something leads to."""
    return np.asarray(kept * (column_sums >= ISOLATED))


def differ(one: Float, other: Float) -> bool:
    return not np.array_equal(one, other)


def scaled_by(degrees: Float, kept: Float) -> ShardState:
    """D^(−½) of the points that are not isolated; a row and column of zeros stays one."""
    linked = (degrees > 0) & (kept > 0)
    scale = np.where(linked, 1.0 / np.sqrt(np.where(linked, degrees, 1.0)), 0.0)
    return ShardState(scale, np.flatnonzero(kept[:, 0] == 0))


def by_own_rows(F: Numbers, QF: Numbers, Y0: Numbers, own: ShardState, alpha: float) -> Numbers:
    """α·Q·F + (1 − α)·Y⁰ in the rows of isolated points."""
    F = F.copy()
    F[own.isolated] = alpha * QF[own.isolated] + (1 - alpha) * Y0[own.isolated]
    return F


def current_columns(given: Any) -> Numbers:
    """The columns to be multiplied: an array, or the last of what a call returned first."""
    columns = given[0] if isinstance(given, tuple) else given
    return np.asarray(columns[-1] if isinstance(columns, tuple) else columns)


def scaled(V: Numbers, own: ShardState) -> Numbers:
    """D·V."""
    return V if own.scale is None else np.asarray(V * own.scale.astype(V.dtype, copy=False))


def send_scaled(places: Index, given: Any, own: ShardState) -> Numbers:
    """What one shard gives to another's halo."""
    return scaled(current_columns(given), own)[places]


def upward_sums(given: Any, own: ShardState, near: near_field.Matrices | None) -> UpwardSums:
    """What the driver needs for a product."""
    W = scaled(current_columns(given), own)
    sums = shard.column_sums(W)
    return UpwardSums(sums, sums if near is None else near_field.far_sums(W, near))


def downward(given: Any, local: list[Any], sent: DownwardMessage) -> Numbers:  # (n, k)
    """D·M·D·V, a new array."""
    own, product, near, halo = local
    W = scaled(current_columns(given), own)
    parts = [
        shard.push_down(product, W, sent.share, above, side, sent.n_jobs)
        if near is None
        else near_field.push_down(product, W, halo, near, sent.share, above, side, sent.n_jobs)
        for side, above in sent.above.items()
    ]
    out = parts[0] if len(parts) == 1 else np.asarray((parts[0] + parts[1]) / 2)
    if own.scale is not None:
        out *= own.scale.astype(out.dtype, copy=False)
    return out
