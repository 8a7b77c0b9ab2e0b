"""nmslib at its defaults: HNSW (M = 16, efConstruction = 200, efSearch = 20), small-world graph (NN = 10)."""

from __future__ import annotations

from typing import Any

import nmslib
import numpy as np
from scipy import sparse

from .common import THREADS, Data, tf_idf
from .spreading import K, spread_over


def text(data: Data) -> np.ndarray:
    """tf-idf, HNSW in the space "cosinesimil_sparse_fast"."""
    X = sparse.csr_matrix(tf_idf(data.X).astype(np.float32))
    return _spread(X, data, "cosinesimil_sparse_fast", data_type=nmslib.DataType.SPARSE_VECTOR)


def dense(data: Data) -> np.ndarray:
    """HNSW, space "l2"."""
    return _spread(data.X, data, "l2")


def histograms(data: Data) -> np.ndarray:
    """HNSW, space "kldivgenfast"."""
    return _spread(data.X, data, "kldivgenfast")


def histograms_small_world(data: Data) -> np.ndarray:
    """The small-world graph, space "kldivgenfast"."""
    return _spread(data.X, data, "kldivgenfast", method="sw-graph")


def spectra(data: Data) -> np.ndarray:
    """HNSW, space "itakurasaitofast"."""
    return _spread(data.X, data, "itakurasaitofast")


def spectra_small_world(data: Data) -> np.ndarray:
    """The small-world graph, space "itakurasaitofast"."""
    return _spread(data.X, data, "itakurasaitofast", method="sw-graph")


def _spread(X: Any, data: Data, space: str, method: str = "hnsw", **options: Any) -> np.ndarray:
    X = X if sparse.issparse(X) else X.astype(np.float32)
    index = nmslib.init(method=method, space=space, **options)
    index.addDataPointBatch(X)
    index.createIndex({"indexThreadQty": THREADS})
    found = index.knnQueryBatch(X, k=K + 1, num_threads=THREADS)
    indices = np.full((X.shape[0], K + 1), -1)
    for i, (near, _) in enumerate(found):
        indices[i, : len(near)] = near
    return spread_over(indices, data)
