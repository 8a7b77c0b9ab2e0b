"""A picture of labelled points, through matplotlib, which is an extra."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.atomic import atomic

SUFFIXES = (".png", ".svg", ".pdf")
_COLOURS = 10  # further labels share grey


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
    """The first two coordinates, coloured by label (the ten most frequent; the others grey)."""
    check_scatter(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    x = coordinates[:, 0]
    y = coordinates[:, 1] if coordinates.shape[1] > 1 else np.zeros(len(x))
    size = float(np.clip(20_000 / max(len(x), 1), 1.0, 24.0))
    for name, colour, points in _groups(labels, len(x)):
        axes.scatter(x[points], y[points], s=size, c=colour, label=name, linewidths=0, alpha=0.8)
    axes.set_title(_plain(title))
    axes.set(xticks=[], yticks=[])
    if labels is not None:
        axes.legend(
            markerscale=max(1.0, 5 / np.sqrt(size)), frameon=False, loc="center left", bbox_to_anchor=(1, 0.5)
        )
    with atomic(path, "wb") as file:
        figure.savefig(file, format=path.suffix.lower()[1:], dpi=150)


def _groups(labels: Sequence[str] | None, n_points: int) -> list[tuple[str, Any, NDArray[np.intp]]]:
    """Name, colour and points of each label, the most frequent first."""
    if labels is None:
        return [("", "C0", np.arange(n_points))]
    names = [name for name, _ in Counter(labels).most_common()]
    place = {name: min(k, _COLOURS) for k, name in enumerate(names)}
    code = np.array([place[label] for label in labels])
    groups: list[tuple[str, Any, NDArray[np.intp]]] = [
        (_plain(name), f"C{k}", np.flatnonzero(code == k)) for k, name in enumerate(names[:_COLOURS])
    ]
    if len(names) > _COLOURS:
        others = f"{len(names) - _COLOURS} others"
        groups.append((others, "0.7", np.flatnonzero(code == _COLOURS)))
    return groups


def _plain(name: str) -> str:
    """A name that matplotlib takes for neither mathematics nor a label to leave out."""
    name = name if len(name) <= 30 else name[:29] + "…"
    return ("\u200b" if name.startswith("_") else "") + name.replace("$", r"\$")
