"""Figure 2 as pictures: accuracy against labels (A to E), seconds against documents (F); finer blocks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from .accuracy import Curves
from .config import PANELS, TITLES
from .growth import MODEL, Exponent, Times
from .methods import METHODS, PAPER
from .regularization import REFINED, Refined
from .style import LOOKS, save, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["accuracy_figure", "growth_figure", "regularization_figure"]

TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.9)
LINES = ("-", (0, (4, 2)), (0, (1, 1.5)))  # one for each share


def accuracy_figure(folder: Path, name: str, curves: Curves) -> list[Path]:
    """One panel of Figure 2, A to E: the paper's methods on the left, those beyond it on the right."""
    with styled() as plt:
        figure, axes = plt.subplots(1, 2, figsize=(9.6, 5.0), sharey=True, layout="constrained")
        for ax, groups in zip(axes, (("paper", "sigma"), ("beyond", "binomial")), strict=True):
            keys = [key for key in LOOKS if METHODS[key].group in groups and (TITLES[name], key) in curves]
            draw_accuracy(ax, TITLES[name], keys, curves)
        axes[0].set(ylabel="accuracy on the others", title=f"{PANELS[name].upper()}  {TITLES[name]}")
        axes[1].set_title("Beyond the paper")
        return save(figure, folder, f"figure2{PANELS[name]}")


def draw_accuracy(ax: Axes, title: str, keys: Iterable[str], curves: Curves) -> None:
    """Means and 95 % intervals of those methods on a data set."""
    for key in keys:
        look, curve = LOOKS[key], curves[title, key]
        ax.errorbar(
            list(curve),
            [mean.mean for mean in curve.values()],
            [mean.half for mean in curve.values()],
            elinewidth=look.width / 2,
            capsize=2 if look.width > 1.5 else 0,
            zorder=3 if look.width > 1.5 else 2,
            label=METHODS[key].title,
            **look.options(),
        )
    ax.set_xscale("log")
    ax.set_xticks(TICKS, [f"{share:.0%}" for share in TICKS])
    ax.minorticks_off()
    ax.set(xlabel="labeled documents")
    below(ax, 2)


def growth_figure(
    folder: Path, times: Times, early: Times, fitted: dict[tuple[str, str], Exponent]
) -> list[Path]:
    """Figure 2F: samples of the largest data set on the left, documents of Eq. (25) on the right."""
    data = [title for title in (*TITLES.values(), MODEL) if any(title == of for of, _ in times)]
    with styled() as plt:
        figure, axes = plt.subplots(
            1, len(data), figsize=(5.2 * len(data), 4.8), squeeze=False, sharey=True, layout="constrained"
        )
        for ax, title in zip(axes[0], data, strict=True):
            draw_growth(ax, title, times, early, fitted)
        axes[0, 0].set_ylabel("processor seconds, one thread")
        return save(figure, folder, "figure2f")


def draw_growth(
    ax: Axes, title: str, times: Times, early: Times, fitted: dict[tuple[str, str], Exponent]
) -> None:
    """Seconds against documents, log-log, all 300 steps and pale the early end; exponents at the ends."""
    ends = []
    for key in PAPER:
        curve, look = times.get((title, key)), LOOKS[key]
        if curve is None:
            continue
        sizes = sorted(curve)
        ax.loglog(sizes, [max(curve[n], 1e-3) for n in sizes], label=METHODS[key].title, **look.options())
        pale = early.get((title, key), {})
        ax.loglog(sorted(pale), [max(pale[n], 1e-3) for n in sorted(pale)], **look.options(), alpha=0.3)
        if (title, key) in fitted:
            ends.append((curve[sizes[-1]], sizes[-1], f"$N^{{{fitted[title, key].value:.2f}}}$", look.color))
    for (seconds, n, text, color), shift in zip(sorted(ends), _shifts(sorted(ends)), strict=True):
        ax.annotate(
            text, (n, seconds), xytext=(7, shift), textcoords="offset points", color=color, va="center"
        )
    ax.margins(x=0.16)
    ax.set_xlabel("documents")
    ax.set_title(f"F  Time, {title if title != MODEL else 'documents of ' + MODEL}")
    below(ax, 2)


def _shifts(ends: list[tuple[float, int, str, str]]) -> list[float]:
    """Points up or down by which labels of curves that end at the same place are kept apart."""
    shifts = [0.0] * len(ends)
    for k in range(1, len(ends)):
        if ends[k][1] == ends[k - 1][1] and ends[k][0] < 1.7 * ends[k - 1][0]:
            shifts[k - 1], shifts[k] = shifts[k - 1] - 6, 7.0
    return shifts


def regularization_figure(folder: Path, refined: Refined) -> list[Path]:
    """Accuracy against blocks per point, a panel a data set."""
    data = list(dict.fromkeys(title for title, _, _ in refined))
    with styled() as plt:
        figure, axes = plt.subplots(
            1, len(data), figsize=(4.8 * len(data), 5.4), squeeze=False, sharey=True, layout="constrained"
        )
        for ax, title in zip(axes[0], data, strict=True):
            draw_regularization(ax, title, refined)
        axes[0, 0].set_ylabel("accuracy on the others")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(REFINED), fontsize=8)
        return save(figure, folder, "regularization")


def draw_regularization(ax: Axes, title: str, refined: Refined) -> None:
    """A curve for each tree and share of labels."""
    ticks: list[str] = []
    for method in REFINED:
        shares = [share for data, key, share in refined if (data, key) == (title, method)]
        for line, share in zip(LINES, shares, strict=False):
            curve = refined[title, method, share]
            ticks = list(curve)
            options = LOOKS[method].options() | {"linestyle": line}
            label = f"{METHODS[method].title}, {share:.0%}"
            ax.plot(range(len(curve)), [mean.mean for mean in curve.values()], label=label, **options)
    ax.set_xticks(range(len(ticks)), ticks)
    ax.set(xlabel="blocks per point", title=title)


def below(ax: Axes, n_columns: int) -> None:
    """The legend under the axes."""
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=n_columns, fontsize=8)
