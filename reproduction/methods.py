"""The methods that are compared: the paper's (a) to (d), and what stands beside them beyond the paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bvdt._support.arrays import Index, Mask
from bvdt._support.defaults import ALPHA, N_NEIGHBORS, TEXT_DIVERGENCE, TEXT_TREES
from bvdt._support.sparse import CSR, Operator, OperatorLike
from bvdt.operators import transition_matrix
from bvdt.walks import label_scores

from .config import Config
from .logarithms import LogExact, LogTree, log_vote
from .nystrom import Nystrom
from .propagation import Labeling, one_vs_all, vote
from .walks import THREADS, divergence_of, exact_walk, kernel_of, tree_walk

__all__ = ["GROUPS", "METHODS", "PAPER", "Method", "Prediction", "predict", "tfidf", "walk_matrix"]


@dataclass(frozen=True)
class Method:
    """A way to label the other documents; ``by_trial`` when every trial has trees of its own."""

    key: str
    title: str
    group: str
    by_trial: bool = True

    @property
    def beyond(self) -> bool:
        """Not one of the paper's."""
        return self.group != "paper"

    def limit(self, config: Config) -> float:
        """The largest number of documents it is run on."""
        if self.key.startswith("exact") and self.beyond:
            return config.small_documents
        return config.spreading_documents if self.key == "sklearn" else np.inf


GROUPS = {  # of methods, and what stands above their curves
    "paper": "The paper's methods",
    "sigma": "Another σ, and no underflow",
    "beyond": "Beyond the paper",
    "binomial": "Beyond the paper: negative binomial",
}
METHODS = {
    method.key: method
    for method in (
        Method("vdt", "Euclidean VDT", "paper"),
        Method("bvdt", "BVDT with GID", "paper"),
        Method("exact_euclidean", "Exact Euclidean", "paper", by_trial=False),
        Method("exact_gid", "Exact GID", "paper", by_trial=False),
        Method("vdt_stored", "Euclidean VDT, stored values as d", "sigma"),
        Method("exact_stored", "Exact Euclidean, stored values as d", "sigma", by_trial=False),
        Method("vdt_log", "Euclidean VDT, in logarithms", "sigma"),
        Method("exact_log", "Exact Euclidean, in logarithms", "sigma", by_trial=False),
        Method("ward", "Ward tree, GID", "beyond"),
        Method("forest", "Text forest + near field", "beyond"),
        Method("knn", "Exact 10-NN label spreading", "beyond", by_trial=False),
        Method("sklearn", "scikit-learn LabelSpreading", "beyond", by_trial=False),
        Method("nystrom", "Nyström label spreading", "beyond"),
        Method("exact_nb", "Exact NB", "binomial", by_trial=False),
        Method("bvdt_nb", "BVDT with NB", "binomial"),
        Method("ward_nb", "Ward tree, NB", "binomial"),
        Method("forest_nb", "Forest + near field, NB", "binomial"),
        Method("forest_gid", "Forest + near field, GID", "binomial"),
    )
}
PAPER = tuple(key for key, method in METHODS.items() if not method.beyond)


@dataclass(frozen=True)
class Prediction:
    """A labeling for each mask; where a walk of Eq. (29) made it, its bandwidth and the share of P kept."""

    labelings: list[Labeling]
    bandwidth: float | str = ""
    kept: float | str = ""


def predict(
    method: str, counts: CSR, y: Index, masks: list[Mask], config: Config, seed: list[int]
) -> Prediction:
    """Labels of all documents for each mask of labeled ones; ``seed`` is that of the trees."""
    if method == "sklearn":
        return Prediction(_label_spreading(counts, y, masks, config))
    if method == "nystrom":
        return Prediction(_landmarks(counts, y, masks, config, seed))
    if method == "forest":
        return Prediction(_spread(_text_forest(counts, seed), ALPHA, y, masks))
    if method.startswith("forest"):
        return Prediction(_spread(_forest(method, counts, config, seed), ALPHA, y, masks))
    if method == "knn":
        M = _neighbor_graph(counts, config.neighbors)
        return Prediction(_spread(M, config.spreading_alpha, y, masks))
    if method.endswith("log"):
        product, bandwidth = _log_product(method, counts, config, seed)
        return Prediction(log_vote(product, y, masks, config.alpha, config.iterations), bandwidth)
    M, bandwidth = walk_matrix(method, counts, config, seed, masks)
    kept = M.nnz / counts.shape[0] ** 2 if hasattr(M, "nnz") else ""
    return Prediction(vote(M, y, masks, config.alpha, config.iterations), bandwidth, kept)


def walk_matrix(
    method: str, counts: CSR, config: Config, seed: list[int], masks: list[Mask]
) -> tuple[OperatorLike, float]:
    """The matrix M of Eq. (29) and its bandwidth: an operator of one tree, or P.

    A bandwidth that is learned is the tree's, for P as well, so that P is what the tree stands for.
    """
    kernel = kernel_of(method, config)
    if method.startswith("exact"):
        rule = kernel.bandwidth
        bandwidth = tree_walk(counts, kernel, seed).bandwidth if isinstance(rule, str) else rule
        return exact_walk(counts, kernel, bandwidth, masks, config.dense_documents), bandwidth
    if method.startswith("ward"):  # with bvdt's rule of the bandwidth
        divergence, rng = divergence_of(kernel.divergence), np.random.default_rng(seed)
        ward = transition_matrix(
            counts, divergence, smoothing=kernel.smoothing, random_state=rng, n_jobs=THREADS
        )
        return ward, ward.bandwidth
    walk = tree_walk(counts, kernel, seed)
    return walk, walk.bandwidth


def _log_product(
    method: str, counts: CSR, config: Config, seed: list[int]
) -> tuple[LogTree | LogExact, float]:
    kernel = kernel_of(method, config)
    walk = tree_walk(counts, kernel, seed)
    product = LogTree(walk) if method.startswith("vdt") else LogExact(walk.lifted, walk.bandwidth)
    return product, walk.bandwidth


def _forest(method: str, counts: CSR, config: Config, seed: list[int]) -> Operator:
    """Ward trees and a near field on the counts."""
    kernel = kernel_of(method, config)
    return transition_matrix(
        counts,
        divergence_of(kernel.divergence),
        smoothing=kernel.smoothing,
        n_trees=config.forest_trees,
        n_neighbors=min(config.forest_neighbors, counts.shape[0] - 1),
        random_state=np.random.default_rng(seed),
        n_jobs=THREADS,
    )


# -- label spreading on tf-idf ----------------------------------------------------------------------------


def tfidf(counts: CSR) -> CSR:
    """Sublinear tf-idf with rows of length 1."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer(sublinear_tf=True).fit_transform(counts)


def _spread(M: OperatorLike, alpha: float, y: Index, masks: list[Mask]) -> list[Labeling]:
    """Label spreading (Zhou et al. 2003) on the symmetrized matrix, to the estimators' tolerance."""
    return one_vs_all(lambda Y0: label_scores(M, Y0, method="spread", alpha=alpha)[0], y, masks)


def _text_forest(counts: CSR, seed: list[int]) -> Operator:
    """The operator of ``bvdt.text_pipeline``."""
    rng = np.random.default_rng(seed)
    near = {"n_trees": TEXT_TREES, "n_neighbors": min(N_NEIGHBORS, counts.shape[0] - 1)}
    return transition_matrix(tfidf(counts), TEXT_DIVERGENCE, random_state=rng, n_jobs=THREADS, **near)


def _neighbor_graph(counts: CSR, k: int) -> CSR:
    """The k nearest documents by cosine of tf-idf, found exactly, each with weight 1."""
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=k, metric="cosine", algorithm="brute", n_jobs=THREADS)
    return search.fit(tfidf(counts)).kneighbors_graph()


def _landmarks(counts: CSR, y: Index, masks: list[Mask], config: Config, seed: list[int]) -> list[Labeling]:
    walk = Nystrom(tfidf(counts), config.n_landmarks, config.landmark_width, np.random.default_rng(seed))
    return one_vs_all(lambda Y0: walk.spread(Y0, config.spreading_alpha), y, masks)


def _label_spreading(counts: CSR, y: Index, masks: list[Mask], config: Config) -> list[Labeling]:
    """scikit-learn's LabelSpreading with its knn kernel, on tf-idf."""
    from sklearn.semi_supervised import LabelSpreading

    X = tfidf(counts)
    model = LabelSpreading(
        kernel="knn",
        n_neighbors=config.neighbors,
        alpha=config.spreading_alpha,
        max_iter=1000,
        n_jobs=THREADS,
    )
    everywhere = np.ones(len(y), bool)
    return [Labeling(model.fit(X, np.where(known, y, -1)).transduction_, everywhere) for known in masks]
