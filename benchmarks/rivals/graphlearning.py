"""graphlearning: its own 10-NN graph (annoy, Gaussian weights) and learning; it has no thread option."""

from __future__ import annotations

import graphlearning as gl
import numpy as np

from .common import Data, tf_idf
from .spreading import K


def text_laplace(data: Data) -> np.ndarray:
    """tf-idf as a dense array, similarity "angular", Laplace learning."""
    return _learn(tf_idf(data.X).toarray(), data, gl.ssl.laplace, "angular")


def laplace(data: Data) -> np.ndarray:
    """Laplace learning."""
    return _learn(data.X, data, gl.ssl.laplace, "euclidean")


def poisson(data: Data) -> np.ndarray:
    """Poisson learning."""
    return _learn(data.X, data, gl.ssl.poisson, "euclidean")


def embedding(data: Data) -> np.ndarray:  # (N, 10)
    """Its 10-NN graph's first eigenvectors of the normalised Laplacian, but for the constant one."""
    graph = gl.graph(gl.weightmatrix.knn(data.X, K))
    return np.asarray(graph.eigen_decomp(normalization="normalized", k=11)[1][:, 1:])


def _learn(X: np.ndarray, data: Data, learner: type, similarity: str) -> np.ndarray:
    W = gl.weightmatrix.knn(X, K, similarity=similarity)
    known = np.flatnonzero(data.labels >= 0)
    return np.asarray(learner(W).fit_predict(known, data.labels[known]))
