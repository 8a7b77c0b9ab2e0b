"""The symmetrised walk S over shards (theory: The symmetrised walk), one call per shard and product.

A product S·V comes in two halves. The call that makes V tells its ``Ascent``, what the driver needs of
D^(−½)·V; the call that uses S·V makes it by ``descent`` from what the driver has made of that. So a step of a
method takes one call per shard, whatever it does before and after the product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float, Index
from ..operators.symmetrized import ISOLATED
from . import near_field, shard
from .columns import Columns
from .executors import Reference
from .operator import ShardedOperator
from .sizing import Sized


@dataclass(frozen=True, eq=False)
class Own(Sized):
    """What a shard holds of S besides its part of Q."""

    scale: Float  # (n, 1) D^(−½), 0 for isolated points
    isolated: Index


class Ascent(NamedTuple):
    """What a shard tells of D^(−½)·V."""

    sums: Float  # (k,)
    far: Float  # (k,) weighed by the rows' shares of the far field


class Sent(NamedTuple):
    """What the driver sends to a shard for its part of S·V."""

    forward: Float  # (k,) what the blocks above add
    transpose: Float  # (k,)
    both: Float | None  # (k,) their mean, where all rows have one share of the far field
    share: float
    n_jobs: int | None


class Symmetrized:
    """S of an operator over shards."""

    def __init__(self, op: ShardedOperator) -> None:
        self.op, self.executor = op, op.shards.executor
        self.near: list[Reference] = op.shards.each(None) if op.near is None else op.near.matrices
        kept, self._rounds = _ones(op), 0
        degrees = op.times(kept, "both")
        low = op.tell("propagation", any_low, degrees.parts)
        if any(low):
            kept = self._without_isolated(kept)
            degrees = op.times(kept, "both")
        self.own = op.map("propagation", scaled_by, degrees.parts, kept.parts)

    def _without_isolated(self, kept: Columns) -> Columns:
        """1 for the points that something leads to, again without those that only the others led to."""
        op = self.op
        while True:
            sums = op.times(kept, "transpose")
            found = op.map("propagation", still_reached, kept.parts, sums.parts)
            if not any(op.tell("propagation", differ, kept.parts, found)):
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

    def held(self, V: Sequence[Reference]) -> list[list[Any]]:
        """Per shard, references to what ``descent`` reads there: also the halo of V."""
        op, halo = self.op, self.op.shards.each([])
        if op.near is not None:
            halo = near_field.exchange(self.executor, op.near, op.places, send_scaled, V, self.own)
        return [list(parts) for parts in zip(self.own, op.products, self.near, halo, strict=True)]

    def sent(self, told: Sequence[Ascent]) -> list[Sent]:
        """Per shard, what the driver makes of all ascents."""
        solution, op = self.op.solution, self.op
        sums, far = np.stack([t.sums for t in told]), np.stack([t.far for t in told])
        forward, transpose = solution.product(sums, "forward"), solution.product(far, "transpose")
        both = solution.product(far, "both") if op.near is None or op.near.even else None
        shares, n_jobs = solution.shares.tolist(), self.executor.n_jobs
        return [
            Sent(forward[p], transpose[p], None if both is None else both[p], share, n_jobs)
            for p, share in enumerate(shares)
        ]


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


def scaled_by(degrees: Float, kept: Float) -> Own:
    """D^(−½) of the points that are not isolated; a row and column of zeros stays one."""
    linked = (degrees > 0) & (kept > 0)
    scale = np.where(linked, 1.0 / np.sqrt(np.where(linked, degrees, 1.0)), 0.0)
    return Own(scale, np.flatnonzero(kept[:, 0] == 0))


def by_own_rows(F: NDArray[Any], QF: NDArray[Any], Y0: NDArray[Any], own: Own, alpha: float) -> NDArray[Any]:
    """α·Q·F + (1 − α)·Y⁰ in the rows of isolated points."""
    F = F.copy()
    F[own.isolated] = alpha * QF[own.isolated] + (1 - alpha) * Y0[own.isolated]
    return F


def moving(given: Any) -> NDArray[Any]:
    """The columns to be multiplied: an array, or the last of what a call returned first."""
    columns = given[0] if isinstance(given, tuple) else given
    return np.asarray(columns[-1] if isinstance(columns, tuple) else columns)


def scaled(V: NDArray[Any], own: Own) -> NDArray[Any]:
    """D^(−½)·V."""
    return np.asarray(V * own.scale.astype(V.dtype, copy=False))


def send_scaled(places: Index, given: Any, own: Own) -> NDArray[Any]:
    """What one shard gives to another's halo."""
    return scaled(moving(given), own)[places]


def ascent(given: Any, own: Own, near: near_field.Matrices | None) -> Ascent:
    """What the driver needs for S·V."""
    W = scaled(moving(given), own)
    sums = shard.column_sums(W)
    return Ascent(sums, sums if near is None else near_field.far_sums(W, near))


def descent(given: Any, held: list[Any], sent: Sent) -> NDArray[Any]:  # (n, k)
    """S·V."""
    own: Own = held[0]
    out = _mean_with_transpose(scaled(moving(given), own), held[1], held[2], held[3], sent)
    out *= own.scale.astype(out.dtype, copy=False)
    return out


def _mean_with_transpose(
    W: NDArray[Any],
    product: shard.Product,
    near: near_field.Matrices | None,
    halo: list[NDArray[Any]],
    sent: Sent,
) -> NDArray[Any]:
    """(Q + Qᵀ)/2·W; where rows have different shares of the far field, the two products apart."""
    if near is None:
        assert sent.both is not None
        return shard.push_down(product, W, sent.share, sent.both, "both", sent.n_jobs)
    if sent.both is not None:
        return near_field.push_down(product, W, halo, near, sent.share, sent.both, "both", sent.n_jobs)
    with_halo = (product, W, halo, near, sent.share)
    forward = near_field.push_down(*with_halo, sent.forward, "forward", sent.n_jobs)
    transpose = near_field.push_down(*with_halo, sent.transpose, "transpose", sent.n_jobs)
    return np.asarray((forward + transpose) / 2)
