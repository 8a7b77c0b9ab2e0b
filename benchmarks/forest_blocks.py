"""Accuracy and KL against the total number of blocks: one refined tree, or a forest of coarse trees.

10 % labels, label spreading with class masses, 3 labelings; sublinear tf-idf, squared Euclidean, no
near field, one bandwidth for all. Writes benchmarks/measured/forest_blocks.png and prints the table.
Run: python benchmarks/forest_blocks.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import bvdt
from corpora import counts
from forest import SEEDS, accuracy, labeling, labels, scores, weighted, with_masses

CORPORA = {"bbc": "BBC", "20news_bydate_train": "20 Newsgroups"}
TREES = (1, 2, 4, 8, 16)
IMAGE = Path(__file__).parent / "measured" / "forest_blocks.png"


def figures(op: Any, y: np.ndarray) -> tuple[int, float, float]:
    """(blocks, mean accuracy, KL per row)."""
    S = op.symmetrized()
    masks = [labeling(y, 0.1, seed) for seed in SEEDS[:3]]
    predicted = [with_masses(scores(S, y, known), y, known).argmax(axis=1) for known in masks]
    reached = np.mean([accuracy(p, y, known) for p, known in zip(predicted, masks, strict=True)])
    return op.n_blocks, float(reached), float(op.quality(200, 0)["kl"])


def curves(name: str) -> dict[str, list[tuple[int, float, float]]]:
    y, T = labels(name), weighted(counts(name))
    one = bvdt.transition_matrix(T, "squared_euclidean", random_state=0)
    forest, refined = one, one
    result: dict[str, list[tuple[int, float, float]]] = {"one refined tree": [], "forest": []}
    for n_trees in TREES:
        if n_trees > 1:
            forest = forest.add_trees(n_trees - len(forest.members), random_state=0)
            refined = refined.refine(n_trees * one.n_blocks)
        for label, op in (("one refined tree", refined), ("forest", forest)):
            result[label].append(figures(op, y))
            blocks, reached, kl = result[label][-1]
            print(f"| {CORPORA[name]} | {label} | {blocks:,} | {reached:.3f} | {kl:.2f} |", flush=True)
    return result


def main() -> None:
    plot, axes = plt.subplots(2, len(CORPORA), figsize=(8, 5), sharex="col", squeeze=False)
    for column, (name, title) in enumerate(CORPORA.items()):
        for label, values in curves(name).items():
            blocks, reached, kl = np.array(values).T
            axes[0, column].semilogx(blocks, reached, "o-", label=label)
            axes[1, column].semilogx(blocks, kl, "o-", label=label)
        axes[0, column].set(title=title, ylabel="accuracy, 10 % labels")
        axes[1, column].set_xticks(blocks, [f"{count / 1000:.0f}" for count in blocks])
        axes[1, column].minorticks_off()
        axes[1, column].set(xlabel="thousand blocks", ylabel="KL(q‖p), nats per row")
    axes[0, 0].legend()
    plot.tight_layout()
    IMAGE.parent.mkdir(exist_ok=True)
    plot.savefig(IMAGE, dpi=80)


if __name__ == "__main__":
    main()
