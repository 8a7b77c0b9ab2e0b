"""Figure 2 as pictures: accuracy against labels (A to E), seconds against documents (F)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from .accuracy import Curves
from .config import PANELS, TITLES
from .growth import MODEL, Exponent, Times
from .methods import METHODS
from .style import LOOKS, save, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["accuracy_figure", "growth_figure", "overview_figure"]

TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.9)


def accuracy_figure(folder: Path, name: str, curves: Curves) -> list[Path]:
    """One panel of Figure 2, A to E, with the curves beyond the paper in thin lines."""
    with styled() as plt:
        figure, ax = plt.subplots(figsize=(6.4, 4.4))
        draw_accuracy(ax, name, curves)
        legends(figure, _methods(curves, [TITLES[name]]), [method.key for method in METHODS.values()])
        return save(figure, folder, f"figure2{PANELS[name]}")


def draw_accuracy(ax: Axes, name: str, curves: Curves) -> None:
    """Means and 95 % intervals of every method on a data set."""
    title = TITLES[name]
    for method, look in LOOKS.items():
        curve = curves.get((title, method))
        if curve is None:
            continue
        shares = list(curve)
        ax.errorbar(
            shares,
            [curve[s].mean for s in shares],
            [curve[s].half for s in shares],
            elinewidth=look.width / 2,
            capsize=2 if look.width > 1.5 else 0,
            zorder=3 if look.width > 1.5 else 2,
            **look.options(),
        )
    ax.set_xscale("log")
    ax.set_xticks(TICKS, [f"{share:.0%}" for share in TICKS])
    ax.minorticks_off()
    ax.set(xlabel="labeled documents", ylabel="accuracy on the others")
    low, high = ax.get_ylim()
    ax.set_ylim(max(0.0, low), min(1.0, high))
    ax.set_title(f"{PANELS[name].upper()}  {title}")


def growth_figure(folder: Path, times: Times, fitted: dict[tuple[str, str], Exponent]) -> list[Path]:
    """Figure 2F: samples of the largest data set on the left, documents of Eq. (25) on the right."""
    data = _in_order(times)
    with styled() as plt:
        figure, axes = plt.subplots(
            1, len(data), figsize=(5.2 * len(data), 4.4), squeeze=False, sharey=True, layout="constrained"
        )
        for ax, title in zip(axes[0], data, strict=True):
            draw_growth(ax, title, times, fitted)
        axes[0, 0].set_ylabel("processor seconds, one thread")
        legends(figure, _methods(times, data), list(LOOKS), beyond=False)
        return save(figure, folder, "figure2f")


def draw_growth(ax: Axes, title: str, times: Times, fitted: dict[tuple[str, str], Exponent]) -> None:
    """Seconds against documents, log-log, with the exponents at the ends of the curves."""
    ends = []
    for method, look in LOOKS.items():
        curve = times.get((title, method))
        if curve is None:
            continue
        sizes = sorted(curve)
        ax.loglog(sizes, [max(curve[n], 1e-3) for n in sizes], **look.options())
        if (title, method) in fitted:
            ends.append(
                (curve[sizes[-1]], sizes[-1], f"$N^{{{fitted[title, method].value:.2f}}}$", look.color)
            )
    for (seconds, n, text, color), shift in zip(sorted(ends), _shifts(sorted(ends)), strict=True):
        ax.annotate(
            text, (n, seconds), xytext=(7, shift), textcoords="offset points", color=color, va="center"
        )
    ax.margins(x=0.16)
    ax.set_xlabel("documents")
    ax.set_title(f"F  Time, {title if title != MODEL else 'documents of ' + MODEL}")


def _shifts(ends: list[tuple[float, int, str, str]]) -> list[float]:
    """Points up or down by which labels of curves that end at the same place are kept apart."""
    shifts = [0.0] * len(ends)
    for k in range(1, len(ends)):
        if ends[k][1] == ends[k - 1][1] and ends[k][0] < 1.7 * ends[k - 1][0]:
            shifts[k - 1], shifts[k] = shifts[k - 1] - 6, 7.0
    return shifts


def overview_figure(
    folder: Path, curves: Curves, times: Times, fitted: dict[tuple[str, str], Exponent]
) -> list[Path]:
    """Figure 2 whole: the data sets' panels and the samples' growth."""
    names = [name for name, title in TITLES.items() if any(data == title for data, _ in curves)]
    with styled() as plt:
        n_rows = (len(names) + bool(times) + 1) // 2
        figure, axes = plt.subplots(
            n_rows, 2, figsize=(9.6, 3.7 * n_rows), layout="constrained", squeeze=False
        )
        flat = axes.ravel()
        for ax, name in zip(flat, names, strict=False):
            draw_accuracy(ax, name, curves)
        if times:
            draw_growth(flat[len(names)], _in_order(times)[0], times, fitted)
            flat[len(names)].set_ylabel("processor seconds, one thread")
        for ax in flat[len(names) + bool(times) :]:
            ax.set_visible(False)
        legends(figure, _methods(curves, TITLES.values()), list(LOOKS))
        return save(figure, folder, "figure2")


def legends(figure: Figure, present: set[str], order: list[str], *, beyond: bool = True) -> None:
    """The paper's methods in one legend, those beyond it in another, below the picture."""
    from matplotlib.lines import Line2D

    width, height = figure.get_size_inches()
    for line, extra in enumerate((False, True) if beyond else (False,)):
        keys = [key for key in order if key in present and METHODS[key].beyond == extra]
        if not keys:
            continue
        figure.legend(
            [Line2D([], [], **LOOKS[key].options()) for key in keys],
            [METHODS[key].title for key in keys],
            title="Beyond the paper" if extra else "The paper's methods",
            alignment="left",
            loc="upper left",
            bbox_to_anchor=(0.08, -(0.5 if width > 8 else 0.7) * line / height),
            ncols=4 if width > 8 else 2,
            fontsize=9,
            title_fontproperties={"weight": "bold", "size": 9},
        )


def _methods(table: Iterable[tuple[str, str]], data: Iterable[str]) -> set[str]:
    wanted = set(data)
    return {method for title, method in table if title in wanted}


def _in_order(times: Times) -> list[str]:
    present = {title for title, _ in times}
    return [title for title in (*TITLES.values(), MODEL) if title in present]
