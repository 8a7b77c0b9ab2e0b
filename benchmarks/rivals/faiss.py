"""faiss on the processor: exact, inverted lists and HNSW, as its guide to choosing an index names them."""

from __future__ import annotations

from typing import Any

import faiss
import numpy as np

from .common import THREADS, Data
from .spreading import K, spread_over

faiss.omp_set_num_threads(THREADS)


def flat(data: Data) -> np.ndarray:
    """``IndexFlatL2``: exact, by brute force."""
    return _spread(faiss.IndexFlatL2(data.X.shape[1]), data)


def inverted_lists(data: Data) -> np.ndarray:
    """ "IVFx,Flat" with x = 4·√N lists, the fewest its guide advises, of which 8 are searched."""
    index = faiss.index_factory(data.X.shape[1], f"IVF{int(4 * np.sqrt(len(data.X)))},Flat")
    index.nprobe = 8
    return _spread(index, data)


def hnsw(data: Data) -> np.ndarray:
    """ "HNSW32", efConstruction = 40 and efSearch = 16, its defaults."""
    return _spread(faiss.IndexHNSWFlat(data.X.shape[1], 32), data)


def _spread(index: Any, data: Data) -> np.ndarray:
    X = np.ascontiguousarray(data.X, np.float32)
    if not index.is_trained:
        index.train(X)
    index.add(X)
    return spread_over(index.search(X, K + 1)[1], data)
