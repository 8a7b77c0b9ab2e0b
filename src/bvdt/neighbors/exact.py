"""Exact lists of some rows, by all pairs: the truth that a search measures itself by, and small data's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._support.arrays import Float, Int
from ..lifting import Lifted

_PAIRS = 1 << 22  # divergences at once
_SPARE = 24  # more than asked for, found in single precision


def exact_lists(
    rows: Lifted, centres: Lifted, k: int, own: NDArray[Any] | None = None, chosen: NDArray[Any] | None = None
) -> tuple[Int, Float]:  # (n, k) ×2
    """The k nearest centres of the ``chosen`` rows (all, if None), ascending by divergence, then by index.

    ``own`` (n,): the centre that each row is, which its list leaves out.
    """
    chosen = np.arange(rows.n_points) if chosen is None else chosen
    index, divergence = np.empty((len(chosen), k), np.int32), np.empty((len(chosen), k))
    transposed = centres.H.T.tocsr() if centres.is_sparse else centres.H.T
    step = max(1, _PAIRS // centres.n_points)
    for first in range(0, len(chosen), step):
        batch = slice(first, first + step)
        d = divergences(rows, chosen[batch], centres, transposed)
        if own is not None:
            d[np.arange(len(d)), own[batch]] = np.inf
        index[batch], divergence[batch] = least(d, k)
    return index, divergence


def sampled_lists(lifted: Lifted, chosen: NDArray[Any], k: int) -> tuple[Int, Float]:  # (n, k) ×2
    """As ``exact_lists`` of the chosen points without themselves, for dense data in half the time.

    Candidates are found in single precision and ranked in double. A row whose k-th is not clearly nearer than
    the last candidate, by the rounding of the largest product, is done again in double precision.
    """
    n, width = lifted.n_points, min(k + _SPARE, lifted.n_points - 1)
    if lifted.is_sparse or width == n - 1:
        return exact_lists(lifted, lifted, k, chosen, chosen)
    H, X = lifted.H.astype(np.float32), lifted.X[chosen].astype(np.float32)
    w = lifted.w.astype(np.float32)
    size = float(np.abs(w).max()) + float(np.abs(X).max(initial=0) * np.abs(H).max(initial=0)) * X.shape[1]
    error = 4 * np.finfo(np.float32).eps * np.sqrt(X.shape[1]) * size
    index, divergence = np.empty((len(chosen), k), np.int32), np.empty((len(chosen), k))
    for first in range(0, len(chosen), max(1, 2 * _PAIRS // n)):
        batch = slice(first, first + max(1, 2 * _PAIRS // n))
        d = w - X[batch] @ H.T
        d[np.arange(len(d)), chosen[batch]] = np.inf
        near = np.argpartition(d, width - 1, axis=1)[:, :width]
        last = np.take_along_axis(d, near, 1).max(axis=1)
        for row, (i, centres) in enumerate(zip(chosen[batch], near, strict=True), first):
            centres = np.sort(centres)
            exact = lifted.divergences([i], centres)[0]
            order = np.argsort(exact, kind="stable")[:k]
            index[row], divergence[row] = centres[order], exact[order]
            if exact[order[-1]] - lifted.u[i] + error > last[row - first]:
                one = np.array([i])
                index[row], divergence[row] = (part[0] for part in exact_lists(lifted, lifted, k, one, one))
    return index, divergence


def divergences(rows: Lifted, chosen: NDArray[Any], centres: Lifted, transposed: Any) -> Float:
    """d of some rows from all centres, whose H is given transposed."""
    inner = rows.X[chosen] @ transposed
    inner = inner.toarray() if sparse.issparse(inner) else inner
    d = np.subtract(centres.w, inner, out=inner)
    d += rows.u[chosen, None]
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
