"""Columns of numbers, one row per point: into another order and back, and their inner products."""

from __future__ import annotations

import numpy as np

from .. import _core
from .arrays import Float, Int, Numbers
from .running import n_threads


def threads_for(V: Numbers, n_jobs: int | None) -> int:
    """One for so few values that others would cost more than they bring."""
    return n_threads(n_jobs, 8.0 * V.size)


def take_rows(
    V: Numbers, order: Int, n_jobs: int | None = None, factor: float = 1.0
) -> Numbers:  # (n, k) -> (m, k)
    """factor·V[order], of float32 or float64."""
    out = np.empty((len(order), V.shape[1]), V.dtype)
    _core.take_rows(V, order, factor, out, threads_for(out, n_jobs))
    return out


def put_rows(
    V: Numbers, order: Int, n_jobs: int | None = None, out: Numbers | None = None
) -> Numbers:  # (n, k) ×2
    """out[order] = V, of float32 or float64."""
    out = np.empty_like(V) if out is None else out
    _core.put_rows(V, order, None, out, threads_for(V, n_jobs))
    return out


def column_dots(A: Numbers, B: Numbers, n_jobs: int | None = None) -> Float:  # (n, k) ×2 -> (k,)
    """Inner products of the columns; they do not depend on the threads."""
    out = np.empty(A.shape[1])
    _core.column_dots(A, B, out, threads_for(A, n_jobs))
    return out
