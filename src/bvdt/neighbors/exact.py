"""Exact neighbor lists by comparing all pairs, dense or sparse: ground truth, and the lists of few points."""

from __future__ import annotations

import numpy as np

from .._support.arrays import Float, Int, Integers, batches
from .._support.mixed import blocks_of
from .._support.sparse import Points, is_sparse
from ..lifting import Lifted, pair_divergences


def exact_lists(
    queries: Lifted,
    points: Lifted,
    k: int,
    own: Integers | None = None,
    chosen: Integers | None = None,
) -> tuple[Int, Float]:  # (n, k) ×2
    """The k nearest points of the ``chosen`` queries (all, if None), by divergence, then by index.

    ``own`` (n,): the point that each query is, which its list leaves out.
    """
    chosen = np.arange(queries.n_points) if chosen is None else chosen
    index, divergence = np.empty((len(chosen), k), np.int32), np.empty((len(chosen), k))
    transposed = [x.T.tocsr() if is_sparse(x) else x.T for x in blocks_of(points.H)]
    for batch in batches(len(chosen), points.n_points):
        d = divergences(queries, chosen[batch], points, transposed)
        if own is not None:
            d[np.arange(len(d)), own[batch]] = np.inf
        index[batch], divergence[batch] = least(d, k)
    return index, divergence


def divergences(
    queries: Lifted, chosen: Integers, points: Lifted, transposed: list[Points]
) -> Float:  # (n, N)
    """d of some queries from all points, whose H's blocks are given transposed."""
    products = [x @ h for x, h in zip(blocks_of(queries.X[chosen]), transposed, strict=True)]
    d, *more = (p.toarray() if is_sparse(p) else p for p in products)
    for inner in more:
        d += inner
    np.subtract(points.w, d, out=d)
    d += queries.u[chosen, None]
    return np.asarray(np.maximum(d, 0.0, out=d))


def least(d: Float, k: int) -> tuple[Int, Float]:  # (n, m) -> (n, k) ×2
    """Of equal divergences the smaller index comes first, and stays."""
    limit = np.partition(d, k - 1, axis=1)[:, k - 1]
    index, least = np.empty((len(d), k), np.int32), np.empty((len(d), k))
    for row, values in enumerate(d):
        near = np.flatnonzero(values <= limit[row])
        order = near[np.argsort(values[near], kind="stable")[:k]]
        index[row], least[row] = order, values[order]
    return index, least


def reranked(
    queries: Lifted, points: Lifted, index: Int, k: int, n_jobs: int | None
) -> tuple[Int, Float]:  # (n, k') -> (n, k) ×2
    """The k best of each list of candidates in double precision, by divergence, then by index."""
    found = index >= 0
    row = np.repeat(np.arange(len(index)), found.sum(axis=1))
    d = np.full(index.shape, np.inf)
    d[found] = pair_divergences(queries, points, row, index[found], n_jobs)
    order = np.lexsort((index, d), axis=1)[:, :k]
    return np.take_along_axis(index, order, axis=1), np.take_along_axis(d, order, axis=1)


def empty_lists(n: int, k: int) -> tuple[Int, Float]:  # (n, k) ×2
    """Nobody: −1 and +∞."""
    return np.full((n, k), -1, np.int32), np.full((n, k), np.inf)


def dual_points(points: Lifted) -> Lifted:
    """For left Bregman neighbors: d_ji = w_i + u_j − ⟨h_i, x_j⟩, in the same form."""
    if points.lifting is not None and points.lifting.divergence.name == "squared_euclidean":
        return points  # symmetric
    return Lifted(points.w, points.u, points.H, points.X)
