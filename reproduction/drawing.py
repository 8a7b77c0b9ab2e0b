"""Figure 1 of real data: a block partition of the transition matrix beside its cluster tree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bvdt.operators import TransitionOperator

from .config import TITLES, Config
from .style import save, styled
from .units import load, subset
from .walks import kernel_of, tree_walk

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PatchCollection

__all__ = ["partition_figure"]


def partition_figure(folder: Path, name: str, data: Path, config: Config, seed: int) -> list[Path]:
    """A sample of a data set: BVDT's anchor tree, its 2(N − 1) blocks, and the blocks' probabilities."""
    corpus = load(name, data, config, seed)
    n_points = min(config.drawing_points, len(corpus.labels))
    sample = np.random.default_rng([seed, 5]).permutation(len(corpus.labels))[:n_points]
    corpus = subset(corpus, sample)
    op = tree_walk(corpus.counts, kernel_of("bvdt", config), [seed, 3, 0])
    classes = [corpus.class_names[corpus.labels[point]] for point in op.tree.order]
    with styled() as plt:
        figure, (left, right, bar) = plt.subplots(
            1, 3, figsize=(9.4, 5.2), width_ratios=(0.7, 1, 0.03), layout="constrained"
        )
        draw_tree(left, op)
        picture = draw_blocks(right, op)
        right.set_yticks(np.arange(n_points) + 0.5, classes, fontsize=7)
        figure.colorbar(picture, cax=bar, label="log₁₀ of a block's probability q")
        left.set_title("Anchor tree")
        right.set_title(f"{op.n_blocks} blocks of {n_points} documents, {TITLES[name]}")
        return save(figure, folder, "figure1")


def draw_tree(ax: Axes, op: TransitionOperator) -> None:
    """The tree, its leaves at the matrix' rows."""
    tree = op.tree
    n_nodes = tree.n_nodes
    y = tree.start + tree.size / 2
    depth = np.zeros(n_nodes)
    for node in range(1, n_nodes):
        depth[node] = depth[tree.parent[node]] + 1
    x = np.where(tree.left < 0, depth.max(), depth)  # leaves side by side at the right
    for node in range(1, n_nodes):
        above = tree.parent[node]
        ax.plot([x[above], x[above], x[node]], [y[above], y[node], y[node]], color="#444444", linewidth=1)
    ax.set(ylim=(tree.n_points, 0), xlim=(-0.3, depth.max()))
    ax.axis("off")


def draw_blocks(ax: Axes, op: TransitionOperator) -> PatchCollection:
    """The blocks, colored by probability, rows and columns in the tree's order."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    tree, blocks = op.tree, op.partition
    assert blocks.q is not None
    patches = [
        Rectangle((tree.start[b], tree.start[a]), tree.size[b], tree.size[a])
        for a, b in zip(blocks.rows, blocks.cols, strict=True)
    ]
    log_q = np.log10(np.maximum(blocks.q, 1e-300))
    picture = PatchCollection(patches, cmap="viridis", edgecolor="white", linewidth=0.6)
    picture.set_array(log_q)
    picture.set_clim(np.percentile(log_q, 5), 0.0)
    ax.add_collection(picture)
    ax.set(xlim=(0, tree.n_points), ylim=(tree.n_points, 0), xticks=[])
    ax.grid(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    ax.tick_params(length=0)
    return picture
