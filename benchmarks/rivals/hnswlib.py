"""hnswlib: M = 16 and ef_construction = 200, its defaults; ef = 20 for the search, as 10 is less than k."""

from __future__ import annotations

import hnswlib
import numpy as np

from .common import THREADS, Data
from .spreading import K, spread_over


def dense(data: Data) -> np.ndarray:
    """Space "l2"."""
    X = data.X.astype(np.float32)
    index = hnswlib.Index(space="l2", dim=X.shape[1])
    index.init_index(max_elements=len(X), M=16, ef_construction=200, random_seed=0)
    index.set_num_threads(THREADS)
    index.set_ef(20)
    index.add_items(X)
    return spread_over(index.knn_query(X, k=K + 1)[0], data)
