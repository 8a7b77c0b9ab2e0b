"""How many points a shard has, how many regions there are, and what a shard takes in memory."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

# Regions at most; for sparse data, whose means are nearly full vectors, fewer.
_REGIONS, _SPARSE_REGIONS = 2048, 128
_PER_REGION = 500  # points that a region has at least, in the mean
# Points of a shard: few enough for a worker's memory, and eight shards at least for eight workers to share.
# More would be fewer, each of which costs Dask two milliseconds or more per product.
_SHARD_POINTS, _SPARSE_SHARD_POINTS, _SHARDS = 500_000, 60_000, 8
_SHARD_BYTES = 2**30  # of a dense shard while it grows
# But not so few that many points have neighbors in another shard: the bound per row of 20 Newsgroups is
# 1.7 % below one machine's with 11 shards, of MNIST 0.7 % with 13.
_LEAST = 4096
_FULL = 1.25  # a shard may have so many times the points


def sizes(n_points: int, width: float, is_sparse: bool, shard_points: int | None) -> tuple[int, int]:
    """Regions at most, and points of a shard, of rows of ``width`` stored numbers."""
    most, usual = (_SPARSE_REGIONS, _SPARSE_SHARD_POINTS) if is_sparse else (_REGIONS, _SHARD_POINTS)
    if not is_sparse:
        usual = min(usual, int(_SHARD_BYTES / (_FULL * _point_bytes(width, is_sparse, 0))))
    points = shard_points or max(_LEAST, min(usual, -(-n_points // _SHARDS)))
    enough = 8 * -(-n_points // points)  # several regions per shard
    return max(enough, min(most, n_points // _PER_REGION)), points


class Sized:
    """A dataclass whose size is that of its arrays: by it Dask decides what to move, and what to spill."""

    def __sizeof__(self) -> int:
        return n_bytes([getattr(self, field.name) for field in fields(self)])  # type: ignore[arg-type]


def n_bytes(value: Any) -> int:
    """What arrays take, also in tuples, lists and sparse matrices; of anything else its own size."""
    if hasattr(value, "indptr"):
        return int(value.data.nbytes + value.indices.nbytes + value.indptr.nbytes)
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    if isinstance(value, tuple | list):
        return sum(map(n_bytes, value))
    return sys.getsizeof(value)


def shard_bytes(n_points: int, shard_points: int, width: float, is_sparse: bool, n_neighbors: int) -> float:
    """What growing the largest shard takes: points of ``width`` stored numbers, tree, blocks, lists."""
    points = min(int(_FULL * shard_points), n_points)
    return points * _point_bytes(width, is_sparse, n_neighbors)


def _point_bytes(width: float, is_sparse: bool, n_neighbors: int) -> float:
    return (20 if is_sparse else 8) * 3 * width + 200 + 2 * n_neighbors * 12


def slab_bytes(lengths: Sequence[int], width: float) -> float:
    """What a pass over the largest slab takes: its rows in double precision, and as much again twice."""
    return float(max(lengths, default=0) * 8 * 3 * width)
