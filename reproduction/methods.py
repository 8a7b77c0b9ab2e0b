"""The methods that are compared: the paper's (a) to (d), and what stands beside them beyond the paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bvdt._support.arrays import Float, Index, Mask
from bvdt._support.defaults import ALPHA, N_NEIGHBORS, TEXT_DIVERGENCE, TEXT_TREES
from bvdt._support.sparse import CSR, Operator, OperatorLike
from bvdt.lifting import Lifted, lift
from bvdt.operators import TransitionOperator, exact_transition_matrix, transition_matrix
from bvdt.tree import Tree, anchor_tree
from bvdt.walks import label_scores

from .config import Config
from .propagation import NOTHING, one_vs_all, vote

__all__ = [
    "METHODS",
    "Method",
    "exact_matrix",
    "grow_tree",
    "lifted_counts",
    "predict",
    "resolved",
    "tfidf",
    "walk_matrix",
]

THREADS = 1  # a unit of work runs on one thread, so its numbers cannot depend on how many there are


@dataclass(frozen=True)
class Method:
    """A way to label the other documents; ``by_trial`` when every trial has trees of its own."""

    key: str
    title: str
    beyond: bool = False
    by_trial: bool = True

    def limit(self, config: Config) -> float:
        """The largest number of documents it is run on."""
        if self.key.startswith("exact"):
            return config.exact_documents
        return config.spreading_documents if self.key == "sklearn" else np.inf


METHODS = {
    method.key: method
    for method in (
        Method("vdt", "Euclidean VDT"),
        Method("bvdt", "BVDT with GID"),
        Method("exact_euclidean", "Exact Euclidean", by_trial=False),
        Method("exact_gid", "Exact GID", by_trial=False),
        Method("ward", "Ward tree, GID", beyond=True),
        Method("forest", "Forest + near field", beyond=True),
        Method("knn", "Exact 10-NN label spreading", beyond=True, by_trial=False),
        Method("sklearn", "scikit-learn LabelSpreading", beyond=True, by_trial=False),
    )
}


def predict(
    method: str, counts: CSR, y: Index, masks: list[Mask], config: Config, seed: list[int]
) -> list[Index]:
    """Index of all documents for each mask of labeled ones; ``seed`` is that of the trees."""
    if method == "sklearn":
        return _label_spreading(counts, y, masks, config)
    if method == "forest":
        return _spread(_forest(counts, seed), ALPHA, y, masks)
    if method == "knn":
        return _spread(_neighbor_graph(counts, config.neighbors), config.spreading_alpha, y, masks)
    M = walk_matrix(method, counts, config, seed)
    return vote(M, y, masks, config.alpha, config.iterations)


# -- the walks of Eq. (29) --------------------------------------------------------------------------------


def walk_matrix(method: str, counts: CSR, config: Config, seed: list[int]) -> OperatorLike:
    """The matrix M of Eq. (29): an operator of one tree, or the dense P."""
    if method == "ward":  # with bvdt's defaults: the Ward tree, automatic smoothing and bandwidth
        return transition_matrix(counts, "gid", random_state=np.random.default_rng(seed), n_jobs=THREADS)
    divergence, bandwidth = _setting(method, config)
    if method.startswith("exact"):
        return exact_matrix(counts, divergence, config.smoothing, bandwidth, seed)
    lifted = lifted_counts(counts, divergence, config.smoothing)
    return TransitionOperator(lifted, grow_tree(lifted, seed), bandwidth=bandwidth, n_jobs=THREADS)


def lifted_counts(counts: CSR, divergence: str, smoothing: float | str) -> Lifted:
    """Lifted form; only GID needs zeros smoothed."""
    return lift(counts, divergence, smoothing if divergence == "gid" else "auto")


def grow_tree(lifted: Lifted, seed: list[int]) -> Tree:
    """The paper's anchor tree."""
    return anchor_tree(lifted, random_state=np.random.default_rng(seed), n_jobs=THREADS)


def exact_matrix(
    counts: CSR, divergence: str, smoothing: float | str, bandwidth: float | str, seed: list[int]
) -> Float:
    """The dense P; a bandwidth given by a rule is the anchor tree's, so that P is what VDT stands for."""
    bandwidth = resolved(counts, divergence, smoothing, bandwidth, seed)
    smoothing = smoothing if divergence == "gid" else "auto"
    P = exact_transition_matrix(counts, divergence, bandwidth=bandwidth, smoothing=smoothing)
    P[P < NOTHING] = 0.0
    return P


def resolved(
    counts: CSR, divergence: str, smoothing: float | str, bandwidth: float | str, seed: list[int]
) -> float:
    """The bandwidth as a number: "learn" and "auto" are resolved on the anchor tree."""
    if not isinstance(bandwidth, str):
        return bandwidth
    lifted = lifted_counts(counts, divergence, smoothing)
    return TransitionOperator(lifted, grow_tree(lifted, seed), bandwidth=bandwidth, n_jobs=THREADS).bandwidth


def _setting(method: str, config: Config) -> tuple[str, float | str]:
    if method in ("vdt", "exact_euclidean"):
        return "squared_euclidean", config.euclidean_bandwidth
    if method in ("bvdt", "exact_gid"):
        return "gid", config.gid_bandwidth
    raise ValueError(f"method needs one of {', '.join(METHODS)}; got {method!r}")


# -- beyond the paper: label spreading on tf-idf ----------------------------------------------------------


def tfidf(counts: CSR) -> CSR:
    """Sublinear tf-idf with rows of length 1."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer(sublinear_tf=True).fit_transform(counts)


def _spread(M: OperatorLike, alpha: float, y: Index, masks: list[Mask]) -> list[Index]:
    """Label spreading (Zhou et al. 2003) on the symmetrised matrix, to the estimators' tolerance."""
    return one_vs_all(lambda Y0: label_scores(M, Y0, method="spread", alpha=alpha)[0], y, masks)


def _forest(counts: CSR, seed: list[int]) -> Operator:
    """The operator of ``bvdt.text_pipeline``."""
    rng = np.random.default_rng(seed)
    near = {"n_trees": TEXT_TREES, "n_neighbors": min(N_NEIGHBORS, counts.shape[0] - 1)}
    return transition_matrix(tfidf(counts), TEXT_DIVERGENCE, random_state=rng, n_jobs=THREADS, **near)


def _neighbor_graph(counts: CSR, k: int) -> CSR:
    """The k nearest documents by cosine of tf-idf, found exactly, each with weight 1."""
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=k, metric="cosine", algorithm="brute", n_jobs=THREADS)
    return search.fit(tfidf(counts)).kneighbors_graph()


def _label_spreading(counts: CSR, y: Index, masks: list[Mask], config: Config) -> list[Index]:
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
    return [model.fit(X, np.where(known, y, -1)).transduction_ for known in masks]
