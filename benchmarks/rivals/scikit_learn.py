"""scikit-learn: its neighbor search and the common spreading, LabelSpreading, SpectralEmbedding."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.manifold import SpectralEmbedding
from sklearn.neighbors import NearestNeighbors
from sklearn.semi_supervised import LabelSpreading

from .common import THREADS, Data, tf_idf
from .spreading import ALPHA, K, spread_over

warnings.simplefilter("ignore", UserWarning)  # a graph that falls apart


def text_neighbors(data: Data) -> np.ndarray:
    """tf-idf, ``NearestNeighbors(metric="cosine")``: exact, by brute force."""
    X = tf_idf(data.X)
    search = NearestNeighbors(n_neighbors=K + 1, metric="cosine", n_jobs=THREADS).fit(X)
    return spread_over(search.kneighbors(X, return_distance=False), data)


def text_label_spreading(data: Data) -> np.ndarray:
    """tf-idf, ``LabelSpreading(kernel="knn", n_neighbors=10, alpha=0.9)``, 30 steps at most as by default."""
    return _label_spreading(tf_idf(data.X), data)


def neighbors(data: Data) -> np.ndarray:
    """``NearestNeighbors`` at its defaults, which for 20 features is brute force."""
    return _neighbors(data, "auto")


def neighbors_kd_tree(data: Data) -> np.ndarray:
    """``NearestNeighbors(algorithm="kd_tree")``."""
    return _neighbors(data, "kd_tree")


def label_spreading(data: Data) -> np.ndarray:
    """``LabelSpreading(kernel="knn", n_neighbors=10, alpha=0.9)``, 30 steps at most as by default."""
    return _label_spreading(data.X, data)


def embedding(data: Data) -> np.ndarray:  # (N, 10)
    """``SpectralEmbedding(10, affinity="nearest_neighbors", n_neighbors=10)``, its default solver."""
    return _embedding(data, None)


def embedding_lobpcg(data: Data) -> np.ndarray:  # (N, 10)
    """The same with ``eigen_solver="lobpcg"``."""
    return _embedding(data, "lobpcg")


def _neighbors(data: Data, algorithm: str) -> np.ndarray:
    search = NearestNeighbors(n_neighbors=K + 1, algorithm=algorithm, n_jobs=THREADS).fit(data.X)
    return spread_over(search.kneighbors(data.X, return_distance=False), data)


def _label_spreading(X: object, data: Data) -> np.ndarray:
    model = LabelSpreading(kernel="knn", n_neighbors=K, alpha=ALPHA, n_jobs=THREADS)
    return np.asarray(model.fit(X, data.labels).transduction_)


def _embedding(data: Data, solver: str | None) -> np.ndarray:
    model = SpectralEmbedding(
        10,
        affinity="nearest_neighbors",
        n_neighbors=K,
        eigen_solver=solver,
        random_state=0,
        n_jobs=THREADS,
    )
    return np.asarray(model.fit_transform(data.X))
