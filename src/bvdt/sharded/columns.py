"""Columns of numbers, one row per point, in the shards' layout; from the slabs' order and back to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import shard
from .building import Layout, by_shard
from .executors import Executor, Place, Reference


@dataclass(frozen=True, eq=False)
class Columns:
    """N × width numbers: per shard a reference to its rows, (n, width)."""

    parts: list[Reference]
    width: int
    dtype: np.dtype[Any]


def from_slabs(
    executor: Executor,
    layout: Layout,
    slabs: Sequence[Any],
    width: int,
    dtype: DTypeLike,
    places: Sequence[Place] | None = None,
) -> Columns:
    """Columns given slab by slab, as references or arrays (n, width), joined at the shards' places."""
    dealt = executor.map("columns", shard.deal_columns, slabs, layout.where)
    pieces = executor.unpack(dealt, (layout.counts > 0).sum(axis=1).tolist())
    joined = executor.map("columns", shard.join, by_shard(layout, pieces), at=places)
    return Columns(joined, width, np.dtype(dtype))


def from_array(
    executor: Executor, layout: Layout, V: NDArray[Any], places: Sequence[Place] | None = None
) -> Columns:  # (N, k)
    """Columns given as one array on the driver."""
    starts = layout.starts
    slabs = [V[starts[k] : starts[k + 1]] for k in range(len(layout.lengths))]
    return from_slabs(executor, layout, slabs, V.shape[1], V.dtype, places)


def to_slabs(executor: Executor, layout: Layout, columns: Columns, one: bool = False) -> list[Reference]:
    """Per slab a reference to its rows of the columns, in its order; ``one`` column without an axis."""
    offsets = layout.offsets
    pairs = [(s, p) for s in range(len(layout.lengths)) for p in np.flatnonzero(layout.counts[s])]
    taken = executor.map(
        "columns",
        shard.rows_between,
        [columns.parts[p] for _, p in pairs],
        [int(offsets[s, p]) for s, p in pairs],
        [int(offsets[s + 1, p]) for s, p in pairs],
    )
    pieces: list[list[Reference]] = [[] for _ in layout.lengths]
    for (s, _), piece in zip(pairs, taken, strict=True):
        pieces[s].append(piece)
    template = np.empty((0,) if one else (0, columns.width), columns.dtype)
    return executor.map("columns", shard.collect, layout.where, pieces, [template] * len(pieces))


def to_array(executor: Executor, layout: Layout, columns: Columns) -> NDArray[Any]:  # (N, k)
    """All of it on the driver."""
    return np.concatenate(executor.gather(to_slabs(executor, layout, columns)))
