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
    sentences = [*_cost_of_trees(curves), *_sigma(measured), *_rivals(curves), *_binomial(curves)]
    return [*sentences, *_smoothing(measured, config)]


def _cost_of_trees(curves: Curves) -> Iterator[str]:
    share, keys = 0.1, ("exact_gid", "exact_euclidean", "bvdt", "ward")
    for data in data_with(curves, *keys):
        at = {key: curves[data, key].get(share) for key in keys}
        if all(at.values()) and at["exact_euclidean"].mean > at["bvdt"].mean:  # type: ignore[union-attr]
            text = ", ".join(f"{METHODS[key].title} {mean.mean:.3f}" for key, mean in at.items() if mean)
            yield f"**The tree can cost more than the divergence gains.** {data} at {share:.0%}: {text}."


def _sigma(measured: Measured) -> Iterator[str]:
    """How much hangs on σ, which the paper does not give."""
    share, curves, parts = 0.1, measured.curves, []
    for data in data_with(curves, "vdt", "vdt_stored", "exact_stored"):  # sets with all trials of both
        ours, other = curves[data, "vdt"].get(share), curves[data, "vdt_stored"].get(share)
        if ours and other:
            parts.append(f"{data} {ours.mean:.3f} and {other.mean:.3f}")
    if parts:
        yield (
            f"**σ is a choice of ours.** VDT at {share:.0%} with it and with stored values as d: "
            f"{', '.join(parts)}."
        )


def _rivals(curves: Curves) -> Iterator[str]:
    counts = {METHODS[key].title: _places(curves, key, PAPER) for key in ("forest", "knn", "nystrom")}
    if found := _mostly(counts, "above all of the paper's methods that ran"):
        yield (
            f"**Label spreading on tf-idf** {found} places (set, share). Weights, divergence and graph "
            "differ together there."
        )


def _binomial(curves: Curves) -> Iterator[str]:
    pairs = (("exact_nb", "exact_gid"), ("bvdt_nb", "bvdt"), ("ward_nb", "ward"), ("forest_nb", "forest_gid"))
    counts = {METHODS[mine].title: _places(curves, mine, (other,)) for mine, other in pairs}
    if found := _mostly(counts, "above GID in the same method"):
        yield f"**The negative binomial** {found}."


def _mostly(counts: dict[str, tuple[int, int]], where: str) -> str:
    """What is there at more than half of the places, and what is not."""
    most: list[str] = []
    others: list[str] = []
    for title, (wins, places) in counts.items():
        if places:
            (most if 2 * wins > places else others).append(f"{title} at {wins} of {places}")
    if not most:
        return f"is not mostly {where}: {', '.join(others)}" if others else ""
    return f"is mostly {where}: {', '.join(most)}" + (f"; not so {', '.join(others)}" if others else "")


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
        yield (
            f"**With smoothing {worst}** BVDT has at {config.sensitivity_share:.0%}, in sensitivity's "
            f"{config.sensitivity_trials} trials: {', '.join(parts)}."
        )


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
