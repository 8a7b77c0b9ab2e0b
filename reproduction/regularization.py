"""The conjecture of section 4.3: blocks regularize, so finer ones cost a wrong divergence labels."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from .accuracy import Mean, half_width, labeled, score
from .config import TITLES, Config
from .propagation import vote
from .units import Row, Unit, load
from .walks import exact_walk, kernel_of, tree_walk

__all__ = ["EXACT", "REFINED", "Refined", "refined", "regularization", "regularization_units"]

EXACT = "exact"  # every entry a block of its own
REFINED = ("vdt", "vdt_stored", "bvdt")
SETTINGS = (
    "alpha", "iterations", "smoothing", "gid_bandwidth", "euclidean_bandwidth", "max_documents", "whole",
    "dense_documents", "regularization_shares", "blocks_per_point",
)  # fmt: skip


def regularization_units(corpora: dict[str, int], folder: Path, config: Config, seed: int) -> list[Unit]:
    """One unit a data set, tree and trial."""
    return [
        Unit(regularization, name, folder, config, seed, method, trials=(trial,), settings=SETTINGS)
        for name in config.regularization_sets
        if name in corpora
        for method in REFINED
        for trial in range(config.trials)
    ]


def regularization(unit: Unit) -> list[Row]:
    """Accuracy by blocks per point: the coarsest partition refined for the bound, σ as at the coarsest."""
    config, (trial,) = unit.config, unit.trials
    corpus = load(unit.corpus, unit.folder, config, unit.seed)
    y, n = corpus.labels, len(corpus.labels)
    masks = [labeled(y, share, trial, unit.seed) for share in config.regularization_shares]
    kernel = kernel_of(unit.method, config)
    coarsest = tree_walk(corpus.counts, kernel, [unit.seed, 3, trial])
    rows: list[Row] = []
    steps: list[int | str] = [*config.blocks_per_point, EXACT]
    for blocks in steps:
        if isinstance(blocks, str):
            M = exact_walk(corpus.counts, kernel, coarsest.bandwidth, masks, config.dense_documents)
        elif blocks > n - 1:
            continue
        else:
            M = coarsest.refine(blocks * n) if blocks > 2 else coarsest
        found = vote(M, y, masks, config.alpha, config.iterations)
        rows += [
            {
                "data": TITLES[unit.corpus],
                "method": unit.method,
                "share": share,
                "blocks per point": blocks,
                "trial": trial + 1,
                "accuracy": score(labeling.classes, y, known),
            }
            for share, known, labeling in zip(config.regularization_shares, masks, found, strict=True)
        ]
    return rows


Refined = dict[tuple[str, str, float], dict[str, Mean]]  # (data, method, share) -> blocks per point -> mean


def refined(rows: Iterable[Row]) -> Refined:
    """Means over the trials."""
    values: dict[tuple[str, str, float], dict[str, list[float]]] = {}
    for row in rows:
        curve = values.setdefault((row["data"], row["method"], row["share"]), {})
        curve.setdefault(str(row["blocks per point"]), []).append(row["accuracy"])
    return {
        key: {blocks: Mean(float(np.mean(trials)), half_width(trials)) for blocks, trials in curve.items()}
        for key, curve in values.items()
    }
