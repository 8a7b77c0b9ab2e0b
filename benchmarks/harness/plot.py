"""Two pictures: time against accuracy, one point per method; and time against the number of points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from .jobs import GROWTH_DENSE, GROWTH_TEXT, JOBS
from .methods import LIBRARIES
from .summary import Row

COLORS = {library.name: f"C{i}" for i, library in enumerate(LIBRARIES)}


def time_accuracy(rows: dict[str, list[Row]], path: Path) -> None:
    """One panel per job; the best corner is the upper left one."""
    shown = {n: [r for r in found if r.warm and r.accuracy is not None] for n, found in rows.items()}
    names = [n for n, job in JOBS.items() if shown.get(n) and not job.group]
    if not names:
        return
    n_rows = -(-len(names) // 3)
    figure, axes = plt.subplots(n_rows, 3, figsize=(18, 4.2 * n_rows), squeeze=False, layout="constrained")
    for axis, name in zip(axes.flat, names, strict=False):
        _panel(axis, sorted(shown[name], key=lambda row: row.warm.median), JOBS[name].title)
    for axis in axes.flat[len(names) :]:
        axis.set_visible(False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _panel(axis: Any, rows: list[Row], title: str) -> None:
    """The methods, numbered from the quickest; ours are stars."""
    for number, row in enumerate(rows, start=1):
        x, y = row.warm.median, row.accuracy
        style = {"marker": "o", "s": 40} if row.is_rival else {"marker": "*", "s": 160}
        label = f"{number}  {row.method.name}"
        axis.scatter(x, y, color=COLORS[row.method.library], label=label, **style)
        axis.annotate(str(number), (x, y), xytext=(0, 6), textcoords="offset points", fontsize=8, ha="center")
    axis.set(xscale="log", title=title, xlabel="warm, s", ylabel="accuracy")
    axis.margins(x=0.1, y=0.15)
    axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def growth(rows: dict[str, list[Row]], path: Path) -> None:
    """Warm seconds over points, both axes logarithmic."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    for axis, title, sizes in zip(axes, ("blobs", "IMDB"), (GROWTH_DENSE, GROWTH_TEXT), strict=True):
        curves: dict[str, list[tuple[int, Row]]] = {}
        for n, job in sizes.items():
            for row in rows.get(job, []):
                if row.warm:
                    curves.setdefault(row.method.name, []).append((n, row))
        for name, points in curves.items():
            if len(points) > 1:
                style = {"marker": "o" if points[0][1].is_rival else "*"}
                axis.plot([n for n, _ in points], [r.warm.median for _, r in points], label=name, **style)
        axis.set(xscale="log", yscale="log", title=title, xlabel="points", ylabel="warm, s")
        if axis.lines:
            axis.legend(fontsize=7)
    figure.savefig(path, dpi=110)
    plt.close(figure)
