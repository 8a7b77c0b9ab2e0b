"""How every figure looks: one palette that color-blind readers can tell apart, one way to save."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from bvdt.documents.files import atomic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["LOOKS", "Look", "pyplot", "save", "styled"]

# Okabe and Ito's colors: the hue is the divergence, dashes are exact, thin lines are not the paper's.
EUCLIDEAN, GID, GREEN, PURPLE, SKY, GREY = "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#5A5A5A"
ORANGE = "#E69F00"


@dataclass(frozen=True)
class Look:
    """Color, line and marker of a method."""

    color: str
    line: str | tuple[int, tuple[float, float]]
    marker: str
    width: float = 2.0
    hollow: bool = False

    def options(self) -> dict[str, Any]:
        """Arguments of matplotlib's ``plot`` and ``errorbar``."""
        face = "white" if self.hollow else self.color
        return {
            "color": self.color,
            "linestyle": self.line,
            "marker": self.marker,
            "linewidth": self.width,
            "markersize": 5 if self.width > 1.5 else 3.5,
            "markerfacecolor": face,
        }


LOOKS = {
    "vdt": Look(EUCLIDEAN, "-", "s"),
    "bvdt": Look(GID, "-", "o"),
    "exact_euclidean": Look(EUCLIDEAN, (0, (4, 2)), "s", hollow=True),
    "exact_gid": Look(GID, (0, (4, 2)), "o", hollow=True),
    "vdt_stored": Look(PURPLE, "-", "D", 1.1),
    "exact_stored": Look(PURPLE, (0, (4, 2)), "D", 1.1, hollow=True),
    "vdt_log": Look(GREY, "-", "v", 1.1),
    "exact_log": Look(GREY, (0, (4, 2)), "v", 1.1, hollow=True),
    "ward": Look(GID, "-", "^", 1.1),
    "forest": Look(PURPLE, "-", "D", 1.1),
    "knn": Look(GREY, (0, (1, 1.5)), "v", 1.1),
    "sklearn": Look(SKY, (0, (1, 1.5)), "x", 1.1),
    "nystrom": Look(GREEN, (0, (1, 1.5)), "P", 1.1),
    "exact_nb": Look(ORANGE, (0, (4, 2)), "o", 1.6, hollow=True),
    "bvdt_nb": Look(ORANGE, "-", "o", 1.6),
    "ward_nb": Look(ORANGE, "-", "^", 1.1),
    "forest_nb": Look(ORANGE, (0, (1, 1.5)), "D", 1.1),
    "forest_gid": Look(GID, (0, (1, 1.5)), "D", 1.1),
}

SETTINGS = {
    "figure.facecolor": "white",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#444444",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "svg.hashsalt": "bvdt",  # the same picture is the same file
    "svg.fonttype": "none",
}


def pyplot() -> ModuleType:
    """matplotlib.pyplot without a display; an ImportError that says how to get it."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError('the figures need matplotlib; install it with pip install "bvdt[plot]"') from error
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    module: ModuleType = plt
    return module


@contextmanager
def styled() -> Iterator[ModuleType]:
    """pyplot in this style."""
    plt = pyplot()
    with plt.rc_context(SETTINGS):
        yield plt


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """The figure as PNG and SVG, each whole or not at all."""
    paths = []
    for suffix, options in ((".png", {"dpi": 110}), (".svg", {"metadata": {"Date": None}})):
        picture = io.BytesIO()
        figure.savefig(picture, format=suffix[1:], bbox_inches="tight", **options)
        paths.append(folder / f"{name}{suffix}")
        with atomic(paths[-1], "wb") as file:
            file.write(picture.getvalue())
    pyplot().close(figure)
    return paths
