"""bvdt itself. One tree is the setting that the acceptance lines are about; the forest labels better."""

from __future__ import annotations

import numpy as np

import bvdt
from bvdt.walks.propagation import label_scores

from .common import THREADS, Data, tf_idf

SEED = 0


def text_one_tree(data: Data) -> np.ndarray:
    """The text setting with one tree: tf-idf, squared Euclidean, α = 0.875 on the symmetrised walk.

    All 300 steps are taken (tol = 0).
    """
    op = bvdt.transition_matrix(tf_idf(data.X), "squared_euclidean", random_state=SEED, n_jobs=THREADS)
    return bvdt.propagate_labels(op.symmetrized(), data.one_hot(), alpha=0.875, max_iter=300).argmax(axis=1)


def text_one_tree_gid(data: Data) -> np.ndarray:
    """The paper's setting: the counts themselves, GID, α = 0.01 on the walk, up to 300 steps."""
    op = bvdt.transition_matrix(data.X, "gid", random_state=SEED, n_jobs=THREADS)
    return bvdt.propagate_labels(op, data.one_hot(), alpha=0.01, max_iter=300).argmax(axis=1)


def text_forest(data: Data) -> np.ndarray:
    """``bvdt.text_pipeline``: tf-idf by scikit-learn, two trees, the 15 nearest kept, α = 0.875."""
    pipeline = bvdt.text_pipeline("counts", random_state=SEED, n_jobs=THREADS)
    return np.asarray(pipeline.fit(data.X, data.labels)[-1].transduction_)


def dense_one_tree(data: Data, divergence: str = "squared_euclidean") -> np.ndarray:
    """``transition_matrix`` and ``propagate_labels`` at their defaults: α = 0.01 on the walk, ≤ 300 steps."""
    op = bvdt.transition_matrix(data.X, divergence, random_state=SEED, n_jobs=THREADS)
    return bvdt.propagate_labels(op, data.one_hot()).argmax(axis=1)


def dense_spreading(data: Data) -> np.ndarray:
    """The same tree, α = 0.9 on the symmetrised walk, stopped as the rivals are."""
    op = bvdt.transition_matrix(data.X, "squared_euclidean", random_state=SEED, n_jobs=THREADS)
    return label_scores(op, data.one_hot())[0].argmax(axis=1)


def dense_forest(data: Data, divergence: str = "squared_euclidean") -> np.ndarray:
    """``bvdt.LabelPropagation``, its walk alone: one tree and the 10 nearest kept, α = 0.9."""
    model = bvdt.LabelPropagation(divergence, n_neighbors=10, blend=None, random_state=SEED, n_jobs=THREADS)
    return np.asarray(model.fit(data.X, data.labels).transduction_)


def dense_near_15(data: Data) -> np.ndarray:
    """The same with the 15 nearest kept."""
    model = bvdt.LabelPropagation("squared_euclidean", blend=None, random_state=SEED, n_jobs=THREADS)
    return np.asarray(model.fit(data.X, data.labels).transduction_)


def kl_one_tree(data: Data) -> np.ndarray:
    """As for dense data, with the divergence "kl"."""
    return dense_one_tree(data, "kl")


def kl_forest(data: Data) -> np.ndarray:
    """As for dense data, with the divergence "kl"."""
    return dense_forest(data, "kl")


def spectra_one_tree(data: Data) -> np.ndarray:
    """As for dense data, with the divergence "itakura_saito"."""
    return dense_one_tree(data, "itakura_saito")


def spectra_forest(data: Data) -> np.ndarray:
    """As for dense data, with the divergence "itakura_saito"."""
    return dense_forest(data, "itakura_saito")


def embed_one_tree(data: Data) -> np.ndarray:  # (N, 10)
    """``bvdt.SpectralEmbedding(10)`` on one tree without the near field."""
    return _embed(data, n_neighbors=0)


def embed_near(data: Data) -> np.ndarray:  # (N, 10)
    """``bvdt.SpectralEmbedding(10)`` of one tree and the 10 nearest kept, as many as its rivals have."""
    return _embed(data, n_neighbors=10)


def _embed(data: Data, **options: int) -> np.ndarray:
    model = bvdt.SpectralEmbedding(
        10, divergence="squared_euclidean", random_state=SEED, n_jobs=THREADS, **options
    )
    return np.asarray(model.fit_transform(data.X))
