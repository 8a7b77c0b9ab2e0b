"""pynndescent: NNDescent at its defaults but for the 11 neighbors (the point itself is one) and the seed."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from pynndescent import NNDescent

from .common import THREADS, Data, tf_idf
from .spreading import K, spread_over


def text(data: Data) -> np.ndarray:
    """tf-idf, metric "cosine"."""
    return _spread(tf_idf(data.X), data, "cosine")


def dense(data: Data) -> np.ndarray:
    """Metric "euclidean"."""
    return _spread(data.X, data, "euclidean")


def histograms(data: Data) -> np.ndarray:
    """Metric "symmetric_kl", the nearest to KL that it has."""
    return _spread(data.X, data, "symmetric_kl")


@numba.njit(fastmath=True)
def symmetric_itakura_saito(x: Any, y: Any) -> float:
    """d(x, y) + d(y, x) = Σ x/y + y/x − 2."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] / y[i] + y[i] / x[i] - 2.0
    return total


def spectra(data: Data) -> np.ndarray:
    """Its way for a metric that it does not have: a compiled function of the user's, here symmetrised."""
    return _spread(data.X, data, symmetric_itakura_saito)


def _spread(X: Any, data: Data, metric: Any) -> np.ndarray:
    index = NNDescent(X, metric=metric, n_neighbors=K + 1, random_state=0, n_jobs=THREADS)
    return spread_over(index.neighbor_graph[0], data)
