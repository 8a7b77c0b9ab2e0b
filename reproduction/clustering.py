"""Beyond the paper: spectral clusters of the documents, bvdt's beside scikit-learn's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from bvdt import SpectralClustering
from bvdt._support.arrays import Index
from bvdt._support.defaults import N_NEIGHBORS, TEXT_DIVERGENCE, TEXT_TREES
from bvdt._support.sparse import CSR

from .config import TITLES, Config
from .methods import tfidf
from .units import Row, Unit, load
from .walks import THREADS

__all__ = ["CLUSTERINGS", "cluster_means", "clustering", "clustering_units"]

CLUSTERINGS = {
    "bvdt_text": "bvdt, tf-idf",
    "bvdt_gid": "bvdt, GID of counts",
    "sklearn_graph": "scikit-learn, 10-NN of tf-idf",
}
SETTINGS = ("cluster_documents", "whole", "cluster_seeds", "neighbors", "smoothing")


def clustering_units(corpora: Iterable[str], folder: Path, config: Config, seed: int) -> list[Unit]:
    """One unit a data set and method."""
    config = replace(config, max_documents=config.cluster_documents)
    return [
        Unit(clustering, name, folder, config, seed, method, settings=SETTINGS)
        for name in corpora
        for method in CLUSTERINGS
    ]


def clustering(unit: Unit) -> list[Row]:
    """NMI and ARI of as many clusters as there are classes, for each seed."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    corpus = load(unit.corpus, unit.folder, unit.config, unit.seed)
    rows = []
    for seed in range(unit.config.cluster_seeds):
        labels = _clusters(unit.method, corpus.counts, len(corpus.class_names), unit.config, seed)
        rows.append(
            {
                "data": TITLES[unit.corpus],
                "method": unit.method,
                "documents": len(labels),
                "seed": seed,
                "NMI": round(float(normalized_mutual_info_score(corpus.labels, labels)), 6),
                "ARI": round(float(adjusted_rand_score(corpus.labels, labels)), 6),
            }
        )
    return rows


def _clusters(method: str, counts: CSR, n_clusters: int, config: Config, seed: int) -> Index:
    if method == "sklearn_graph":
        from sklearn.cluster import SpectralClustering as Theirs
        from sklearn.neighbors import kneighbors_graph

        graph = kneighbors_graph(tfidf(counts), config.neighbors, metric="cosine", n_jobs=THREADS)
        model = Theirs(n_clusters, affinity="precomputed", random_state=seed, n_jobs=THREADS)
        return np.asarray(model.fit(0.5 * (graph + graph.T)).labels_, np.intp)
    points, divergence = counts, "gid"
    smoothing: float | str = config.smoothing
    if method == "bvdt_text":
        points, divergence, smoothing = tfidf(counts), TEXT_DIVERGENCE, "auto"
    ours = SpectralClustering(
        n_clusters,
        divergence=divergence,
        smoothing=smoothing,
        n_trees=TEXT_TREES,
        n_neighbors=min(N_NEIGHBORS, counts.shape[0] - 1),
        random_state=seed,
        n_jobs=THREADS,
    )
    return np.asarray(ours.fit(points).labels_, np.intp)


def cluster_means(rows: Iterable[Row]) -> dict[tuple[str, str], tuple[int, float, float]]:
    """(data, method) -> documents, mean NMI, mean ARI."""
    values: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        values.setdefault((row["data"], row["method"]), []).append(row)
    return {
        key: (of[0]["documents"], *(float(np.mean([row[name] for row in of])) for name in ("NMI", "ARI")))
        for key, of in values.items()
    }
