"""What the paper says of its trees: Eq. (8) and (23) prune, d does not matter, VDT is a special case."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bvdt._support.arrays import Float
from bvdt.blocks import BlockPartition, block_divergences
from bvdt.lifting import lift
from bvdt.tree import Tree, anchor_tree
from bvdt.tree.anchor.merging import Merge

from .config import TITLES, Config
from .units import Row, Unit, load
from .walks import THREADS, grow_tree, kernel_of, lifted_counts

__all__ = ["dimension", "pruning", "pruning_units", "special_case"]

CLOUD = "clusters, spread"  # of dense points
DIVERGENCES = {"squared_euclidean": "vdt", "gid": "bvdt"}


def pruning_units(corpora: dict[str, int], folder: Path, config: Config, seed: int) -> list[Unit]:
    """Units of the pruning on text and on clustered points, of the dimension, and of the special case."""
    text: tuple[str, ...] = ("max_documents", "whole", "smoothing", "gid_bandwidth", "euclidean_bandwidth")
    cloud: tuple[str, ...] = ("cloud_points",)
    spreads, dimensions = map(str, config.cloud_spreads), map(str, config.cloud_dimensions)
    cases = [(pruning, name, divergence, "", text) for name in corpora for divergence in DIVERGENCES]
    cases += [(pruning, CLOUD, name, spread, cloud) for spread in spreads for name in DIVERGENCES]
    cases += [(dimension, "cloud", "squared_euclidean", d, cloud) for d in dimensions]
    cases += [(special_case, name, "vdt", "", text) for name in config.whole if name in corpora]
    return [
        Unit(work, name, folder, config, seed, method, choice, settings=settings)
        for work, name, method, choice, settings in cases
    ]


def pruning(unit: Unit) -> list[Row]:
    """Divergences evaluated while anchors grow, beside those without thresholds.

    As bvdt grows them: small segments and searches where thresholds do not pay go without, and are counted;
    what the thresholds cost is not.
    """
    if unit.corpus == CLOUD:
        lifted = lift(clusters(unit.config.cloud_points, float(unit.choice), unit.seed), unit.method)
        merge: Merge = "radius" if unit.method == "squared_euclidean" else "bregman"
    else:
        corpus = load(unit.corpus, unit.folder, unit.config, unit.seed)
        kernel = kernel_of(DIVERGENCES[unit.method], unit.config)
        lifted, merge = lifted_counts(corpus.counts, kernel), kernel.merge
    rng = np.random.default_rng([unit.seed, 3, 0])
    _, stats = anchor_tree(lifted, merge=merge, random_state=rng, n_jobs=THREADS, return_stats=True)
    data = TITLES.get(unit.corpus, f"{unit.corpus} {unit.choice}")
    return [
        {
            "data": data,
            "divergence": unit.method,
            "evaluations": stats.evaluations,
            "without thresholds": stats.brute_force,
            "saved": round(stats.skipped, 6),
        }
    ]


def clusters(n: int, spread: float, seed: int) -> Float:  # (n, 8)
    """Points > 0 around 50 centers of the unit cube, moved off its edge."""
    rng = np.random.default_rng([seed, 6])
    centers = rng.random((50, 8)) + 1.0
    points: Float = centers[rng.integers(50, size=n)] + spread * rng.uniform(-1.0, 1.0, (n, 8))
    return points


def dimension(unit: Unit) -> list[Row]:
    """Evaluations for the same points of a plane, turned into d dimensions."""
    n, d = unit.config.cloud_points, int(unit.choice)
    plane = np.random.default_rng([unit.seed, 7]).normal(size=(n, 2))
    turn, _ = np.linalg.qr(np.random.default_rng([unit.seed, 8]).normal(size=(d, 2)))
    rng = np.random.default_rng([unit.seed, 3, 0])
    lifted = lift(plane @ turn.T, unit.method)
    _, stats = anchor_tree(lifted, merge="radius", random_state=rng, n_jobs=THREADS, return_stats=True)
    return [{"d": d, "evaluations": stats.evaluations}]


def special_case(unit: Unit) -> list[Row]:
    """Eq. (6) beside Eq. (20) on the same blocks, and the trees of Eq. (10) and (22) of the same seed.

    The largest difference is relative to the largest block's mean divergence.
    """
    corpus = load(unit.corpus, unit.folder, unit.config, unit.seed)
    kernel = kernel_of(unit.method, unit.config)
    lifted = lifted_counts(corpus.counts, kernel)
    radius = grow_tree(lifted, kernel, [unit.seed, 3, 0])
    rng = np.random.default_rng([unit.seed, 3, 0])
    bregman = anchor_tree(lifted, merge="bregman", random_state=rng, n_jobs=THREADS)
    blocks = BlockPartition.coarsest(radius)
    ours = block_divergences(lifted, radius, blocks, THREADS)
    theirs = _halved_eq_6(corpus.counts.toarray(), radius, blocks)
    common = _inner(radius) & _inner(bregman)
    return [
        {
            "data": TITLES[unit.corpus],
            "largest difference": float(np.abs(ours - theirs).max() / theirs.max()),
            "common nodes": len(common),
            "inner nodes": len(corpus.labels) - 1,
        }
    ]


def _halved_eq_6(X: Float, tree: Tree, blocks: BlockPartition) -> Float:  # (n_blocks,)
    """½·D_AB/(|A||B|) by Eq. (6), D_AB = |A|S₂(B) + |B|S₂(A) − 2·S₁(A)ᵀS₁(B)."""
    ranges = [tree.order[s : s + size] for s, size in zip(tree.start, tree.size, strict=True)]
    S1 = np.array([X[points].sum(axis=0) for points in ranges])
    S2 = np.array([(X[points] ** 2).sum() for points in ranges])
    A, B, size = blocks.rows, blocks.cols, tree.size.astype(float)
    D = size[A] * S2[B] + size[B] * S2[A] - 2.0 * np.einsum("ij,ij->i", S1[A], S1[B])
    mean: Float = D / (size[A] * size[B])
    return 0.5 * mean


def _inner(tree: Tree) -> set[frozenset[int]]:
    """The inner nodes as sets of points."""
    return {
        frozenset(tree.order[s : s + size].tolist())
        for s, size in zip(tree.start, tree.size, strict=True)
        if size > 1
    }
