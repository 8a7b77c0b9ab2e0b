"""A picture of labeled points, through matplotlib, which is an extra."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._support.atomic import atomic
from .extent import drawn_in
from .palette import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".png", ".svg", ".pdf")
UNLABELED = "not labeled"
GREY = "0.72"  # of further labels, and of none


def check_scatter(path: Path) -> None:
    """Raise now what ``write_scatter`` would raise: the ending, or that matplotlib is not there."""
    if path.suffix.lower() not in SUFFIXES:
        endings = ", ".join((*SUFFIXES, ".html"))
        raise ValueError(f"{path} needs a name that ends in {endings}; it ends in {path.suffix!r}")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError(
            f"{path} needs matplotlib: pip install 'bvdt[plot]', or give a name that ends in .html"
        ) from None


def write_scatter(
    path: Path, coordinates: NDArray[np.float64], labels: Sequence[str] | None, title: str
) -> None:
    """The first two coordinates; the ten most frequent labels in color and named where they lie.

    Other labels, and points without one, are grey and behind. A few far points do not shrink the rest
    (``drawn_in``).
    """
    check_scatter(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    x = coordinates[:, 0]
    y = coordinates[:, 1] if coordinates.shape[1] > 1 else np.zeros(len(x))
    points = drawn_in(np.column_stack([x, y]))
    size = float(np.clip(30_000 / max(len(x), 1), 1.5, 26.0))
    groups = _groups(labels, len(x))
    for order, (name, color, of) in enumerate(reversed(groups)):  # the most frequent on top, grey behind
        alpha = 0.35 if color == GREY else 0.75
        axes.scatter(
            points[of, 0],
            points[of, 1],
            s=size,
            c=color,
            label=name,
            linewidths=0,
            alpha=alpha,
            zorder=1 + order,
        )
    axes.set_title(_legible(title), loc="left", fontsize=13)
    axes.set(xticks=[], yticks=[])
    for side in axes.spines.values():
        side.set_visible(False)
    if labels is not None:
        _name_groups(axes, points, groups)
        handles, names = axes.get_legend_handles_labels()
        axes.legend(
            handles[::-1],
            names[::-1],
            markerscale=max(1.0, 6 / np.sqrt(size)),
            frameon=False,
            loc="center left",
            bbox_to_anchor=(1, 0.5),
            fontsize=9,
        )
    with atomic(path, "wb") as file:
        figure.savefig(file, format=path.suffix.lower()[1:], dpi=160)


def _name_groups(
    axes: Axes, points: NDArray[np.float64], groups: list[tuple[str, str, NDArray[np.intp]]]
) -> None:
    """Each colored group's name at the medoid of its points, moved apart from names that stand there."""
    from matplotlib import patheffects

    low, high = points.min(axis=0), points.max(axis=0)
    step = 0.045 * float(high[1] - low[1])
    placed: list[NDArray[np.float64]] = []
    for name, color, of in groups:
        if color == GREY or not len(of):
            continue
        middle = np.median(points[of], axis=0)
        place = points[of][np.argmin(((points[of] - middle) ** 2).sum(axis=1))].copy()
        near = 0.16 * float(high[0] - low[0])
        while any(abs(place[1] - p[1]) < step and abs(place[0] - p[0]) < near for p in placed) and step > 0:
            place[1] -= step
        placed.append(place)
        text = axes.text(
            place[0],
            place[1],
            name,
            color=color,
            fontsize=10,
            weight="bold",
            ha="center",
            va="center",
            zorder=50,
        )
        text.set_path_effects([patheffects.withStroke(linewidth=3, foreground="white")])


def _groups(labels: Sequence[str] | None, n_points: int) -> list[tuple[str, str, NDArray[np.intp]]]:
    """Name, color and points of each label, the most frequent first; others and unlabeled last, grey."""
    if labels is None:
        return [("", LIGHT[0], np.arange(n_points))]
    counts = Counter(label for label in labels if label != UNLABELED).most_common()
    place = {name: k for k, (name, _) in enumerate(counts[: len(LIGHT)])}
    code = np.array([place.get(label, -2 if label == UNLABELED else -1) for label in labels])
    groups: list[tuple[str, str, NDArray[np.intp]]] = [
        (_legible(name), LIGHT[k], np.flatnonzero(code == k)) for name, k in place.items()
    ]
    if len(counts) > len(LIGHT):
        groups.append((f"{len(counts) - len(LIGHT)} others", GREY, np.flatnonzero(code == -1)))
    if (code == -2).any():
        groups.append((UNLABELED, GREY, np.flatnonzero(code == -2)))
    return groups


def plain(text: str) -> str:
    """A text that matplotlib takes for neither mathematics nor a label to leave out."""
    return ("\u200b" if text.startswith("_") else "") + text.replace("$", r"\$")


def _legible(name: str) -> str:
    return plain(name if len(name) <= 30 else name[:29] + "…")
