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
from ..operators.symmetrized import FEW, UNREACHED, WHISPER
from . import near_field, shard
from .columns import Columns
from .executors import Reference
from .operator import ShardedOperator
from .sizing import Sized


@dataclass(frozen=True, eq=False)
class Own(Sized):
    """What a shard holds of S besides its part of Q."""

    scale: Float  # (n, 1) D^(−½)
    beside: Float | None  # (n, u) links with the u points of all shards that no walk reaches
    place: Index  # of those among them that are the shard's
    number: Index  # and which of the u they are


class Ascent(NamedTuple):
    """What a shard tells of D^(−½)·V."""

    sums: Float  # (k,)
    far: Float  # (k,) weighed by the rows' shares of the far field
    cross: Float  # (u, k) linked with the points that no walk reaches
    values: Float  # (u, k) at those of them that are the shard's, else 0


class Sent(NamedTuple):
    """What the driver sends to a shard for its part of S·V."""

    forward: Float  # (k,) what the blocks above add
    transpose: Float  # (k,)
    both: Float | None  # (k,) their mean, where all rows have one share of the far field
    share: float
    cross: Float  # (u, k)
    values: Float  # (u, k)
    n_jobs: int | None


class Symmetrized:
    """S of an operator over shards."""

    def __init__(self, op: ShardedOperator) -> None:
        self.op, self.executor = op, op.shards.executor
        self.near: list[Reference] = op.shards.each(None) if op.near is None else op.near.matrices
        self.own = op.map("propagation", unscaled, op.shard_sizes, op.shards.each(None), op.shards.each([]))
        degrees = op.times(_ones(op), "both")
        low = op.tell("propagation", any_low, degrees.parts)
        if any(low) and self._find_unreached():
            degrees = self._degrees()
        self.own = op.map("propagation", rescaled, self.own, degrees.parts)

    def _find_unreached(self) -> bool:
        """Sets the links of points that no walk reaches apart; False where there is none, or many."""
        op = self.op
        columns = op.times(_ones(op), "transpose")
        places = op.tell("propagation", unreached, columns.parts)
        count = sum(map(len, places))
        if not 0 < count <= FEW:
            return False
        firsts = np.cumsum([0, *map(len, places)])[:-1].tolist()
        mine = [(place, first + np.arange(len(place))) for place, first in zip(places, firsts, strict=True)]
        parts = op.map("propagation", ends_of, op.shard_sizes, mine, op.shards.each(count))
        ends = Columns(parts, count, np.dtype(np.float64))
        both = op.times(ends), op.times(ends, "transpose")
        beside = op.map("propagation", links_of, *(columns.parts for columns in both))
        self.own = op.map("propagation", unscaled, op.shard_sizes, beside, mine)
        return True

    def _degrees(self) -> Columns:
        ones = _ones(self.op)
        told = self.op.tell("propagation", ascent, ones.parts, self.own, self.near)
        parts = self.op.map("propagation", descent, ones.parts, self.held(ones.parts), self.sent(told))
        return Columns(parts, 1, np.dtype(np.float64))

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
        cross, values = np.sum([t.cross for t in told], axis=0), np.sum([t.values for t in told], axis=0)
        shares, n_jobs = solution.shares.tolist(), self.executor.n_jobs
        return [
            Sent(forward[p], transpose[p], None if both is None else both[p], share, cross, values, n_jobs)
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


def unreached(column_sums: Float) -> Index:
    """The points that no walk reaches."""
    return np.flatnonzero(column_sums[:, 0] < UNREACHED)


def ends_of(n: int, mine: tuple[Index, Index], count: int) -> Float:  # (n, count)
    """A column per point that no walk reaches, 1 there."""
    ends = np.zeros((n, count))
    ends[mine] = 1
    return ends


def links_of(forward: Float, transpose: Float) -> Float:
    """(W + Wᵀ)/2 where the rows of those points count next to nothing."""
    return np.asarray((WHISPER * transpose + forward) / 2)


def unscaled(n: int, beside: Float | None, mine: Any) -> Own:
    none = np.zeros(0, np.intp)
    place, number = mine or (none, none)
    return Own(ones(n), beside, place, number)


def rescaled(own: Own, degrees: Float) -> Own:
    linked = degrees > 0  # a row and column of zeros stays one
    scale = np.where(linked, 1.0 / np.sqrt(np.where(linked, degrees, 1.0)), 0.0)
    return Own(scale, own.beside, own.place, own.number)


def moving(given: Any) -> NDArray[Any]:
    """The columns to be multiplied: an array, or the last of what a call returned first."""
    columns = given[0] if isinstance(given, tuple) else given
    return np.asarray(columns[-1] if isinstance(columns, tuple) else columns)


def scaled(V: NDArray[Any], own: Own) -> NDArray[Any]:
    """D^(−½)·V, 0 at the points that no walk reaches."""
    W = V * own.scale.astype(V.dtype, copy=False)
    W[own.place] = 0
    return np.asarray(W)


def send_scaled(places: Index, given: Any, own: Own) -> NDArray[Any]:
    """What one shard gives to another's halo."""
    return scaled(moving(given), own)[places]


def ascent(given: Any, own: Own, near: near_field.Matrices | None) -> Ascent:
    """What the driver needs for S·V."""
    V = moving(given)
    W = scaled(V, own)
    n_unreached = 0 if own.beside is None else own.beside.shape[1]
    cross, values = np.zeros((2, n_unreached, V.shape[1]))
    if own.beside is not None:
        values[own.number] = V[own.place] * own.scale[own.place]
        cross = np.einsum("iu,ik->uk", own.beside, V * own.scale)
    sums = shard.column_sums(W)
    return Ascent(sums, sums if near is None else near_field.far_sums(W, near), cross, values)


def descent(given: Any, held: list[Any], sent: Sent) -> NDArray[Any]:  # (n, k)
    """S·V."""
    own: Own = held[0]
    out = _mean_with_transpose(scaled(moving(given), own), held[1], held[2], held[3], sent)
    if own.beside is not None:
        out += np.einsum("iu,uk->ik", own.beside, sent.values).astype(out.dtype, copy=False)
        out[own.place] = sent.cross[own.number]
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
