"""Isomap, t-SNE and DBSCAN on bvdt's graph: `python examples/neighbors/with_sklearn.py`."""

from __future__ import annotations

import json

import numpy as np
from data import digits
from sklearn.cluster import DBSCAN
from sklearn.manifold import TSNE, Isomap, trustworthiness
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from bvdt import KNeighborsTransformer


def graph_of(n_neighbors: int) -> KNeighborsTransformer:
    return KNeighborsTransformer(n_neighbors=n_neighbors, metric="euclidean", random_state=0)


def compare(n: int = 1000) -> dict[str, tuple[float, float]]:
    """(scikit-learn's default, the same on bvdt's graph): trustworthiness of maps, Rand index of clusters."""
    X, y = digits()[0][:n], digits()[1][:n]

    def trust(model: object) -> float:
        return float(trustworthiness(X, model.fit_transform(X)))

    tsne = {"init": "random", "random_state": 0, "perplexity": 20.0}
    near = DBSCAN(eps=22.0, min_samples=8)
    precomputed = make_pipeline(graph_of(30), DBSCAN(eps=22.0, min_samples=8, metric="precomputed"))
    return {
        "Isomap": (
            trust(Isomap(n_neighbors=10)),
            trust(make_pipeline(graph_of(10), Isomap(n_neighbors=10, metric="precomputed"))),
        ),
        "TSNE": (
            trust(TSNE(**tsne)),
            trust(make_pipeline(graph_of(61), TSNE(metric="precomputed", **tsne))),
        ),
        "DBSCAN": (
            float(adjusted_rand_score(y, near.fit_predict(X))),
            float(adjusted_rand_score(y, precomputed.fit_predict(X))),
        ),
    }


if __name__ == "__main__":
    print(json.dumps({name: np.round(values, 4).tolist() for name, values in compare().items()}))
