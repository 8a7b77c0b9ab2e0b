"""A Gaussian of whole numbers: its mass in the cell of width 1 around each is a probability, as of counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import log_ndtr, logsumexp

from .._support.arrays import Float, Index
from .._support.sparse import CSR, Points
from .base import BregmanDivergence
from .likelihood import center_divergences, dense_chunks
from .scores import Scores

LARGEST = 10_000  # count above which cells are as the density
_CELLS = 20  # variances that are tried


def cell_fits(divergence: BregmanDivergence, train: Points, test: Points) -> list[Scores]:
    """A Gaussian integrated over cells of width 1, as kernels and as one component."""
    train, test = (sparse.csr_array(x) for x in (train, test))
    usual = max(float(center_divergences(divergence, train, train, 0.0).mean()) / train.shape[1], 1e-3)
    sigmas = np.sqrt(np.geomspace(min(0.02, usual), 4.0 * usual, _CELLS))
    largest = int(max(part.data.max(initial=0.0) for part in (train, test)))
    tables = np.stack([log_cell(np.arange(largest + 1), sigma) for sigma in sigmas])
    left = cell_sums(train, train, tables, own=True) - np.log(train.shape[0] - 1)
    best = int(np.argmax(left.mean(axis=1)))
    held = cell_sums(test, train, tables[[best]])[0] - np.log(train.shape[0])
    at_rows = Scores(divergence, 0.0, float(sigmas[best] ** 2), left[best], held, 1)
    return [at_rows, _one_cell_component(divergence, train, test)]


def log_cell(away: NDArray[np.number[Any]], sigma: float) -> Float:
    """log of a Gaussian's mass in the cell of width 1 whose middle is so far from its mean."""
    away = np.abs(away)
    near, far = log_ndtr((0.5 - away) / sigma), log_ndtr((-0.5 - away) / sigma)
    return np.asarray(near + np.log1p(-np.exp(far - near)))


def cell_sums(rows: CSR, centers: CSR, tables: Float, own: bool = False) -> Float:  # (t, L) -> (t, n)
    """log Σ_j exp Σ_k of the cells' logs for each table of logs by distance; ``own``: rows are the centers.

    Where a row has a zero the term is the center's alone, so that a row costs its stored values times m.
    """
    change = tables - tables[:, :1]
    by_center = np.stack(
        [np.bincount(_row_of(centers), c[centers.data.astype(int)], centers.shape[0]) for c in change]
    )
    columns, out = centers.tocsc(), np.empty((len(tables), rows.shape[0]))
    for i in range(rows.shape[0]):
        stored = slice(rows.indptr[i], rows.indptr[i + 1])
        block = columns[:, rows.indices[stored]].toarray().astype(int)
        away = np.abs(block - rows.data[stored].astype(int))
        logs = by_center + np.stack([(c[away] - c[block]).sum(axis=1) for c in change])
        if own:
            logs[:, i] = -np.inf
        out[:, i] = logsumexp(logs, axis=1)
    return np.asarray(out + rows.shape[1] * tables[:, :1])


def _row_of(X: CSR) -> Index:
    return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))


def _one_cell_component(divergence: BregmanDivergence, train: CSR, test: CSR) -> Scores:
    n_points = train.shape[0]
    total = np.asarray(train.sum(axis=0), float).ravel()
    squares = sum(float(np.square(x - total / n_points).sum()) for x in dense_chunks(train))
    variance = max(squares / train.shape[0] / train.shape[1] - 1 / 12, 1e-3)  # Sheppard's correction

    def rows(X: CSR, means: Callable[[Float], Float]) -> Float:
        parts = [log_cell(x - means(x), float(np.sqrt(variance))).sum(axis=1) for x in dense_chunks(X)]
        return np.concatenate(parts)

    left = rows(train, lambda x: (total - x) / (n_points - 1))
    return Scores(divergence, 0.0, variance, left, rows(test, lambda x: total / n_points), 1)
