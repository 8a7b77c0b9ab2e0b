"""Lists of points that others have joined: all pairs with a new point are compared, no others."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from .._support.arrays import Float, Index, Int, Integers, batches
from .._support.mixed import Mixed, blocks_of
from .._support.sparse import Points, is_sparse
from ..lifting import Lifted
from .differences import rerank_by_differences
from .exact import divergences, exact_lists, least

Offers = tuple[Index, Index, Float]  # rows, centers and their divergences, (m,) each


def joined_lists(
    lifted: Lifted, index: Int, divergence: Float
) -> tuple[Int, Float]:  # (N, k) ×2 -> (N + n, k) ×2
    """Lists of all points, from those of the first N; exact where these are. O(N·n) divergences.

    The new points' are found among all others; into the old ones' new points enter where they are nearer.
    """
    own, offers = _compared(lifted, divergence[:, -1], index.shape[1])
    lists = np.concatenate([index, own[0]]), np.concatenate([divergence, own[1]])
    _enter(lists, *offers)
    return rerank_by_differences(lifted, lifted, lists, lifted.n_points - 1, partial(_among_all, lifted))


def _among_all(lifted: Lifted, rows: Integers, k: int) -> tuple[Int, Float]:
    return exact_lists(lifted, lifted, k, rows, rows)


def _compared(lifted: Lifted, limit: Float, k: int) -> tuple[tuple[Int, Float], Offers]:
    """The new points' lists, (n, k) ×2, and the offers of new points to old ones nearer than their limits."""
    n_old, symmetric = len(limit), lifted.H is lifted.X
    H = _transposed(lifted.H)
    lists, offers = [], []
    for new in _batches(n_old, lifted.n_points, lifted.n_points):
        d = divergences(lifted, new, lifted, H)
        if symmetric:
            offers.append(_below(d[:, :n_old].T, limit, 0, new[0]))
        d[np.arange(len(d)), new] = np.inf
        lists.append(least(d, k))
    if not symmetric:
        joined = lifted.slice(n_old, lifted.n_points)
        H = _transposed(joined.H)
        for old in _batches(0, n_old, joined.n_points):
            d = divergences(lifted, old, joined, H)
            offers.append(_below(d, limit[old], old[0], n_old))
    index, divergence = (np.concatenate(part) for part in zip(*lists, strict=True))
    row, center, d = (np.concatenate(part) for part in zip(*offers, strict=True))
    return (index, divergence), (row, center, d)


def _transposed(H: Points | Mixed) -> list[Points]:
    return [h.T.tocsr() if is_sparse(h) else h.T for h in blocks_of(H)]


def _batches(first: int, last: int, width: int) -> Iterator[Index]:
    """Rows of so many divergences each."""
    return (np.arange(rows.start, rows.stop) for rows in batches(last - first, width, first))


def _below(d: Float, limit: Float, first_row: int, first_center: int) -> Offers:  # (n, m), (n,)
    """Entries below the limits of their rows."""
    row, center = np.nonzero(d < limit[:, None])
    return row + first_row, center + first_center, d[row, center]


def _enter(lists: tuple[Int, Float], row: Index, center: Index, d: Float) -> None:
    """Puts centers into the lists of their rows, in place; of equal divergences the smaller index first."""
    index, divergence = lists
    k = index.shape[1]
    rows, at = np.unique(row, return_inverse=True)
    owner = np.concatenate([np.repeat(np.arange(len(rows)), k), at])
    points = np.concatenate([index[rows].ravel(), center])
    values = np.concatenate([divergence[rows].ravel(), d])
    order = np.lexsort((points, values, owner))
    first = np.searchsorted(owner[order], np.arange(len(rows)))
    best = order[first[:, None] + np.arange(k)]
    index[rows], divergence[rows] = points[best], values[best]
