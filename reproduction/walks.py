"""The walks of Eq. (29): what a method takes from the paper's choices, and its matrix Q or P."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from bvdt._support.arrays import Mask
from bvdt._support.sparse import CSR, OperatorLike
from bvdt.blocks import BlockPartition, block_divergences, bound_curve, learned_bandwidth
from bvdt.divergences import BregmanDivergence, NegativeBinomial
from bvdt.lifting import Lifted, lift
from bvdt.operators import TransitionOperator, exact_transition_matrix
from bvdt.tree import Tree, anchor_tree
from bvdt.tree.anchor.merging import Merge

from .config import Config
from .propagation import NOTHING
from .streaming import streamed_matrix

__all__ = [
    "THREADS",
    "Kernel",
    "exact_walk",
    "grow_tree",
    "kernel_of",
    "lifted_counts",
    "resolved",
    "tree_walk",
]

DISPERSION = 0.1  # r of the negative binomial: variance μ + μ²/r
THREADS = 1  # a unit of work runs on one thread, so its numbers cannot depend on how many there are


@dataclass(frozen=True)
class Kernel:
    """A divergence and what the paper leaves open about it.

    ``bandwidth``: a number; "learn", the maximum of the bound of Eq. (4) with d = all features; "stored", the
    same with the mean number of stored values per row as d; "auto", as in bvdt. ``merge``: anchors merge by
    Eq. (10), "radius", or Eq. (22), "bregman".
    """

    divergence: str
    smoothing: float | str
    bandwidth: float | str
    merge: Merge = "bregman"


def kernel_of(method: str, config: Config) -> Kernel:
    """GID's, but for the methods of the Euclidean distance and of the negative binomial (nb)."""
    euclidean = Kernel("squared_euclidean", "auto", config.euclidean_bandwidth, "radius")
    if method in ("vdt", "exact_euclidean") or method.endswith("log"):
        return euclidean
    if method.endswith("stored"):
        return replace(euclidean, bandwidth="stored")
    if method.endswith("nb"):
        return Kernel("negative_binomial", config.smoothing, config.nb_bandwidth)
    return Kernel("gid", config.smoothing, config.gid_bandwidth)


def lifted_counts(counts: CSR, kernel: Kernel) -> Lifted:
    """Lifted form; the zeros are smoothed where the divergence needs it."""
    return lift(counts, divergence_of(kernel.divergence), kernel.smoothing)


def grow_tree(lifted: Lifted, kernel: Kernel, seed: list[int]) -> Tree:
    """The paper's anchor tree."""
    return anchor_tree(lifted, merge=kernel.merge, random_state=np.random.default_rng(seed), n_jobs=THREADS)


def tree_walk(counts: CSR, kernel: Kernel, seed: list[int]) -> TransitionOperator:
    """Q of the anchor tree's coarsest partition."""
    lifted = lifted_counts(counts, kernel)
    tree = grow_tree(lifted, kernel, seed)
    return TransitionOperator(lifted, tree, bandwidth=resolved(lifted, tree, kernel), n_jobs=THREADS)


def exact_walk(
    counts: CSR, kernel: Kernel, bandwidth: float, masks: list[Mask], dense_documents: int
) -> OperatorLike:
    """P: dense up to so many documents, above them streamed into sparse rows."""
    if counts.shape[0] > dense_documents:
        return streamed_matrix(lifted_counts(counts, kernel), bandwidth, masks)
    divergence = divergence_of(kernel.divergence)
    P = exact_transition_matrix(counts, divergence, bandwidth=bandwidth, smoothing=kernel.smoothing)
    P[P < NOTHING] = 0.0
    return P


def resolved(lifted: Lifted, tree: Tree, kernel: Kernel) -> float:
    """The bandwidth as a number."""
    rule, euclidean = kernel.bandwidth, kernel.divergence == "squared_euclidean"
    if rule == "learn" and euclidean:
        return _learned(lifted, tree, float(lifted.n_features))
    if rule == "stored":
        return _learned(lifted, tree, lifted.X.nnz / lifted.n_points)
    return TransitionOperator(lifted, tree, bandwidth=rule, n_jobs=THREADS).bandwidth


def _learned(lifted: Lifted, tree: Tree, dimension: float) -> float:
    """σ² that maximizes Eq. (4) with its constant, Eq. (5), for that d, over the coarsest partition."""
    blocks = BlockPartition.coarsest(tree)
    dbar = block_divergences(lifted, tree, blocks, THREADS)
    return learned_bandwidth(dimension, dbar, lambda beta: bound_curve(dbar, tree, blocks, beta, THREADS))


@cache
def divergence_of(name: str) -> str | BregmanDivergence:
    """The divergence of that name, the negative binomial's with its dispersion."""
    return NegativeBinomial(DISPERSION) if name == "negative_binomial" else name
