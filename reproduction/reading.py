"""What the numbers say together, each sentence from the numbers."""

from __future__ import annotations

from collections.abc import Iterator

from .accuracy import Curves
from .config import TITLES, Config
from .measured import Measured
from .methods import METHODS, PAPER
from .verdicts import data_with

__all__ = ["reading"]


def reading(measured: Measured, config: Config) -> list[str]:
    """The sentences whose numbers were measured."""
    curves = measured.common
    sentences = [*_cost_of_trees(curves), *_rivals(curves), *_binomial(curves), *_smoothing(measured, config)]
    return [*sentences, *_ratio(measured)]


def _cost_of_trees(curves: Curves) -> Iterator[str]:
    share, keys = 0.1, ("exact_gid", "exact_euclidean", "bvdt", "ward")
    for data in data_with(curves, *keys):
        at = {key: curves[data, key].get(share) for key in keys}
        if all(at.values()) and at["exact_euclidean"].mean > at["bvdt"].mean:  # type: ignore[union-attr]
            text = ", ".join(f"{METHODS[key].title} {mean.mean:.3f}" for key, mean in at.items() if mean)
            yield f"**The tree can cost more than the divergence gains.** {data} at {share:.0%}: {text}."


def _rivals(curves: Curves) -> Iterator[str]:
    parts = []
    for key in ("forest", "knn", "nystrom"):
        wins, places = _places(curves, key, PAPER)
        if places:
            parts.append(f"{METHODS[key].title} at {wins} of {places}")
    if parts:
        yield (
            f"**Label spreading on tf-idf** is above all of the paper's methods that ran: {', '.join(parts)} "
            "places (set, share). Weights, divergence and graph differ together there."
        )


def _binomial(curves: Curves) -> Iterator[str]:
    pairs = (("exact_nb", "exact_gid"), ("bvdt_nb", "bvdt"), ("ward_nb", "ward"), ("forest_nb", "forest_gid"))
    parts = []
    for mine, other in pairs:
        wins, places = _places(curves, mine, (other,))
        if places:
            parts.append(f"{METHODS[mine].title} at {wins} of {places}")
    if parts:
        yield f"**The negative binomial** is above GID in the same method: {', '.join(parts)}."


def _smoothing(measured: Measured, config: Config) -> Iterator[str]:
    worst = str(max(value for value in config.smoothings if not isinstance(value, str)))
    vdt = {
        (row["data"]): row["accuracy"].mean
        for row in measured.sensitivity
        if row["choice"] == "bandwidth" and row["value"] == "learn" and row["method"] == METHODS["vdt"].title
    }
    bvdt = {
        row["data"]: row["accuracy"].mean
        for row in measured.sensitivity
        if row["choice"] == "smoothing"
        and str(row["value"]) == worst
        and row["method"] == METHODS["bvdt"].title
    }
    parts = [f"{data} {bvdt[data]:.3f} against VDT's {vdt[data]:.3f}" for data in bvdt if data in vdt]
    if parts:
        yield f"**With smoothing {worst}** BVDT has at {config.sensitivity_share:.0%}: {', '.join(parts)}."


def _ratio(measured: Measured) -> Iterator[str]:
    kept = [row for row in measured.walks if row["kept"] != ""]
    parts = dict.fromkeys(
        f"{METHODS[row['method']].title} on {row['data']} {float(row['kept']):.2%}" for row in kept
    )
    if parts:
        yield f"**Streamed rows** keep this share of P's entries: {', '.join(parts)}."


def _places(curves: Curves, key: str, others: tuple[str, ...]) -> tuple[int, int]:
    """At how many (data, share) its mean is above those of all others that ran there, of how many."""
    wins = places = 0
    for data in TITLES.values():
        mine = curves.get((data, key), {})
        rivals = [curves[data, other] for other in others if (data, other) in curves]
        for share, mean in mine.items():
            if rivals:
                places += 1
                wins += all(mean.mean > rival[share].mean for rival in rivals)
    return wins, places
