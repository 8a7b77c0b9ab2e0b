"""Dense points that stand for mixed ones where an estimate will do: trees, and candidates for neighbors."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .._support.arrays import Float
from .._support.mixed import Mixed
from .._support.sparse import CSR
from .lifted import Lifted

WIDTH = 192  # numbers that stand for the sparse block
_SIGNS = 8  # of these, that a column takes part in
_SEED = 0


def sketch(lifted: Lifted) -> Lifted:
    """The points with their sparse block projected at random, so that ⟨x, h⟩ stays in the mean.

    A sparse Johnson–Lindenstrauss projection (Kane and Nelson 2014). Dense and sparse points are themselves.
    """
    X = lifted.X
    if not isinstance(X, Mixed):
        return lifted
    project = _projection(X.stored.shape[1])
    dense = _joined(X, project)
    return Lifted(lifted.u, lifted.w, dense, dense if lifted.H is X else _joined(lifted.H, project))


def _joined(X: Mixed, project: CSR) -> Float:
    return np.hstack([X.dense, (X.stored @ project).toarray()])


def _projection(n_columns: int) -> CSR:  # (q, WIDTH)
    """Each column in one place of each of so many stretches, with a random sign."""
    rng, step = np.random.default_rng(_SEED), WIDTH // _SIGNS
    places = rng.integers(0, step, (n_columns, _SIGNS)) + step * np.arange(_SIGNS)
    signs = rng.integers(0, 2, (n_columns, _SIGNS)) * 2.0 - 1.0
    indptr = np.arange(n_columns + 1) * _SIGNS
    shape = (n_columns, WIDTH)
    return sparse.csr_array((signs.ravel() / np.sqrt(_SIGNS), places.ravel(), indptr), shape=shape)
