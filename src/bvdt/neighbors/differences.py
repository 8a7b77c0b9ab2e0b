"""Squared distances by differences, where u + w − ⟨x, h⟩ cancels: data that are wide beside their gaps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._support.arrays import Float, Index, Int, batches
from ..lifting import Lifted

ROUNDING = 16 * np.finfo(float).eps  # of u + w, in a divergence
ENOUGH = 1e-7  # of a divergence, that rounding may take
_WIDEST = 512  # candidates of a row, from which on its neighbors are taken for indistinguishable
_FEW = 0.01  # of the rows, that may be so

Find = Callable[[Index, int], tuple[Int, Float]]  # rows, width -> (n, width) ×2


def rerank_by_differences(
    rows: Lifted, centers: Lifted, lists: tuple[Int, Float], most: int, find: Find
) -> tuple[Int, Float]:  # (n, k) ×2
    """The lists, ranked again by ½‖x − y‖² from differences wherever rounding hides who is nearer.

    Of such rows more candidates are found until none beyond them can be among the k nearest; ValueError where
    that takes too many.
    """
    if not _has_differences(centers):
        return lists
    k = width = lists[0].shape[1]
    unclear = np.flatnonzero((_noise(rows, centers, *lists) > ENOUGH * lists[1]).any(axis=1))
    if not len(unclear):
        return lists
    index, d = lists[0].copy(), lists[1].copy()
    found = index[unclear], d[unclear]
    while True:
        some = rows.take(unclear)
        noise = _noise(some, centers, *found).max(axis=1)
        last = found[1][:, -1]
        exact = _squares(some, centers, found[0])
        order = np.lexsort((found[0], exact), axis=1)[:, :k]
        index[unclear] = np.take_along_axis(found[0], order, axis=1)
        d[unclear] = kth = np.take_along_axis(exact, order, axis=1)
        open_rows = (kth[:, -1] > 0) & (noise > ENOUGH * kth[:, -1]) & (last <= kth[:, -1] + 2 * noise)
        unclear = unclear[open_rows]
        if width >= most or not len(unclear):
            return index, d
        if width >= _WIDEST:
            break
        width = min(4 * width + 16, _WIDEST, most)
        found = find(unclear, width)
    if len(unclear) > _FEW * rows.n_points:
        raise ValueError(
            f"squared_euclidean needs neighbors that float64 can tell apart; of {len(unclear)} of "
            f"{rows.n_points} points more than {_WIDEST} others are as near as rounding, {noise.max():.2g} "
            "(center or scale the columns of X, or split it)"
        )
    return index, d


def _has_differences(points: Lifted) -> bool:
    lifting = points.lifting
    return not points.is_sparse and lifting is not None and lifting.divergence.name == "squared_euclidean"


def _noise(rows: Lifted, centers: Lifted, index: Int, d: Float) -> Float:  # (n, k)
    """What rounding may take from or add to a divergence; 0 where there is none."""
    noise = ROUNDING * (np.abs(rows.u)[:, None] + np.abs(centers.w)[np.maximum(index, 0)])
    return np.where((index >= 0) & np.isfinite(d), noise, 0.0)


def _squares(rows: Lifted, centers: Lifted, index: Int) -> Float:  # (n, k) -> (n, k)
    out = np.full(index.shape, np.inf)
    for some in batches(len(index), index.shape[1] * rows.n_features):
        away = rows.X[some, None, :] - centers.X[np.maximum(index[some], 0)]
        out[some] = np.where(index[some] >= 0, np.einsum("ikj,ikj->ik", away, away) / 2, np.inf)
    return out


def clamp_rounding(
    queries: Lifted, points: Lifted, lists: tuple[Int, Float]
) -> tuple[Int, Float]:  # (n, k) ×2
    """The lists, where divergences that are no more than rounding are 0: those of equal points."""
    if _has_differences(points):
        return lists  # which are exact
    index, d = lists
    scale = np.abs(queries.u)[:, None] + np.abs(points.w[np.maximum(index, 0)])
    return index, np.where(d <= ROUNDING * scale, 0.0, d)
