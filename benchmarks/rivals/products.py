"""One product: bvdt's operator against a 10-NN graph in CSR. Building either is not in "warm"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .common import THREADS, Data
from .spreading import graph

TIMES = 20  # products per call; the reported time is of one


def tree_1(data: Data) -> Callable[[], Any]:
    """``bvdt.transition_matrix`` at its defaults, times a vector."""
    return _repeated(_tree(data), 1)


def tree_20(data: Data) -> Callable[[], Any]:
    """``bvdt.transition_matrix`` at its defaults, times 20 columns."""
    return _repeated(_tree(data), 20)


def csr_1(data: Data) -> Callable[[], Any]:
    """SciPy's CSR of a symmetric 10-NN graph, times a vector."""
    return _repeated(_near(data), 1)


def csr_20(data: Data) -> Callable[[], Any]:
    """SciPy's CSR of a symmetric 10-NN graph, times 20 columns."""
    return _repeated(_near(data), 20)


def _tree(data: Data) -> Any:
    import bvdt

    return bvdt.transition_matrix(data.X, "squared_euclidean", random_state=0, n_jobs=THREADS)


def _near(data: Data) -> Any:
    """The graph of the neighbors that bvdt's near field finds, so that both work on the same points."""
    from bvdt.lifting.lifted import lift
    from bvdt.operators.near_field import NearField

    found = NearField.of(lift(data.X, "squared_euclidean"), 10, np.random.default_rng(0), THREADS)
    return graph(found.indices.astype(np.int64))


def _repeated(M: Any, n_columns: int) -> Callable[[], Any]:
    V = np.random.default_rng(0).random((M.shape[0], n_columns))
    V = V[:, 0] if n_columns == 1 else V

    def run() -> Any:
        for _ in range(TIMES):
            out = M @ V
        return out

    return run
