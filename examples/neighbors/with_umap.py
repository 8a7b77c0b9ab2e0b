"""UMAP's map on its own neighbors and on bvdt's: `python examples/neighbors/with_umap.py`.

Needs umap-learn: the extra "libraries".
"""

from __future__ import annotations

import json
import warnings

import numpy as np
from data import digits
from sklearn.manifold import trustworthiness

from bvdt import KNeighborsTransformer


def precomputed(X: np.ndarray, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices and distances (n, n_neighbors), each point its own first neighbor, as UMAP counts."""
    transformer = KNeighborsTransformer(n_neighbors=n_neighbors - 1, metric="euclidean", random_state=0)
    graph = transformer.fit_transform(X)
    return graph.indices.reshape(len(X), -1), graph.data.reshape(len(X), -1)


def compare(X: np.ndarray | None = None) -> dict[str, float]:
    """Trustworthiness of the two maps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # umap-learn's, of threads and of new points, which no list serves
        from umap import UMAP

        X = digits()[0] if X is None else X
        default = UMAP(n_neighbors=15, random_state=0).fit_transform(X)
        ours = UMAP(n_neighbors=15, random_state=0, precomputed_knn=precomputed(X, 15)).fit_transform(X)
    return {"default": float(trustworthiness(X, default)), "bvdt": float(trustworthiness(X, ours))}


if __name__ == "__main__":
    print(json.dumps({name: round(value, 4) for name, value in compare().items()}))
