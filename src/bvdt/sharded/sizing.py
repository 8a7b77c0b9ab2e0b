"""How many points a shard has, how many regions there are, and what a shard takes in memory."""

from __future__ import annotations

# Regions at most; for sparse data, whose means are nearly full vectors, fewer.
_REGIONS, _SPARSE_REGIONS = 2048, 128
_PER_REGION = 500  # points that a region has at least, in the mean
# Points of a shard: few enough for a worker's memory, and eight shards at least for eight workers to share.
_SHARD_POINTS, _SPARSE_SHARD_POINTS, _SHARDS = 250_000, 60_000, 8
# But not so few that many points have neighbours in another shard: the bound per row of 20 Newsgroups is
# 1.7 % below one machine's with 11 shards, of MNIST 0.7 % with 13.
_LEAST = 4096
_FULL = 1.25  # a shard may have so many times the points


def sizes(n_points: int, is_sparse: bool, shard_points: int | None) -> tuple[int, int]:
    """Regions at most, and points of a shard."""
    most, usual = (_SPARSE_REGIONS, _SPARSE_SHARD_POINTS) if is_sparse else (_REGIONS, _SHARD_POINTS)
    points = shard_points or min(usual, max(_LEAST, -(-n_points // _SHARDS)))
    enough = 8 * -(-n_points // points)  # several regions per shard
    return max(enough, min(most, n_points // _PER_REGION)), points


def shard_bytes(n_points: int, n_features: int, near: int, shard_points: int | None) -> float:
    """What growing the largest shard of dense data takes at least: points, tree, blocks, lists."""
    _, points = sizes(n_points, False, shard_points)
    points = min(int(_FULL * points), n_points)
    per_point = 3 * 8 * n_features + 200 + 2 * near * 12
    return float(points * per_point)
