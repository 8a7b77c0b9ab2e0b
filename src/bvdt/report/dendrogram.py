"""A picture of nested clusters with their terms, through matplotlib, which is an extra."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._support.atomic import atomic
from .palette import LIGHT
from .scatter import check_scatter, plain

_LEAF, _INNER = 46, 24  # characters of the texts beside a leaf and on a line


@dataclass(frozen=True)
class Branch:
    """One node of the picture, parents before children."""

    parent: int  # place in the list, −1 for the root
    documents: int
    text: str


def write_dendrogram(path: Path, branches: Sequence[Branch], title: str) -> None:
    """The tree from left to right; a node's place is the logarithm of its documents."""
    check_scatter(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    children = [[k for k, b in enumerate(branches) if b.parent == at] for at in range(len(branches))]
    height = _heights(children)
    n_leaves = sum(not below for below in children)
    figure = Figure(figsize=(11, 1.2 + 0.32 * n_leaves), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    x = [-float(np.log10(branch.documents)) for branch in branches]
    color = _colors(children)
    end = max(x)
    for at, below in enumerate(children):
        for child in below:  # down, then right
            line = [x[at], x[at], x[child]], [height[at], height[child], height[child]]
            axes.plot(*line, color=color[child], linewidth=1.6, solid_joinstyle="round")
        if not below:
            axes.plot([x[at], end], [height[at]] * 2, color=color[at], linewidth=0.8, linestyle=":")
            text = f"{branches[at].documents:,}  {_short(branches[at].text, _LEAF)}"
            axes.text(end, height[at], f"  {plain(text)}", va="center", fontsize=9, color="0.15")
        elif _worth_a_name(branches, at):
            text = plain(_short(branches[at].text, _INNER))
            axes.text(x[at], height[at], f"{text} ", va="bottom", ha="right", fontsize=7, color="0.4")
    axes.set_title(plain(title), loc="left", fontsize=13)
    axes.set(yticks=[], ylim=(n_leaves - 0.5, -0.7), xlim=(x[0] - 0.05 * (end - x[0] + 0.1), end))
    ticks = range(int(np.floor(x[0])), int(np.ceil(end)) + 1)
    inside = [t for t in ticks if x[0] <= t <= end]
    axes.set_xticks(inside, [f"{10**-t:,}" for t in inside], fontsize=8)
    axes.set_xlabel("documents", fontsize=9)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    with atomic(path, "wb") as file:
        figure.savefig(file, format=path.suffix.lower()[1:], dpi=160, bbox_inches="tight")


def _worth_a_name(branches: Sequence[Branch], at: int) -> bool:
    """Whether it is much smaller than what it is a part of: others have the same words."""
    above = branches[at].parent
    return above >= 0 and branches[at].documents <= 0.8 * branches[above].documents


def _heights(children: Sequence[Sequence[int]]) -> list[float]:
    """Leaves one below the other, a parent in the middle of its children."""
    height = [0.0] * len(children)
    leaves = [k for k, below in enumerate(children) if not below]
    for place, leaf in enumerate(leaves):
        height[leaf] = float(place)
    for at in reversed(range(len(children))):
        if children[at]:
            height[at] = float(np.mean([height[child] for child in children[at]]))
    return height


def _colors(children: Sequence[Sequence[int]]) -> list[str]:
    """Grey at the top; each of the branches at the depth where there are about six has its own color."""
    level = [0]
    while len(level) < 6 and any(children[at] for at in level):
        level = [child for at in level for child in (children[at] or [at])]
    color = ["0.55"] * len(children)
    for k, top in enumerate(level):
        below = [top]
        while below:
            at = below.pop()
            color[at] = LIGHT[k % len(LIGHT)]
            below += children[at]
    return color


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
