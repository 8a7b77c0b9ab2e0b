"""The claims of the paper beside what was measured; every verdict follows from the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sized

import numpy as np

from .accuracy import Curves, Mean
from .config import TITLES
from .growth import Exponent, Times
from .measured import Measured
from .tree_claims import conjecture, no_dimension, pruning_saves, special_case
from .verdicts import HOLDS, NOT, PART, UNKNOWN, Claim, data_with, span, verdict_of

__all__ = ["HOLDS", "NOT", "PART", "UNKNOWN", "WAYS", "Claim", "all_claims", "claim_rows"]

SMALLEST = ("bbcsport", "bbc")  # where the paper ran the exact methods
SAME_ORDER, LOWER_ORDER = 0.15, 0.3  # differences of exponents

WAYS = {  # of σ and of sums, in which the exact method stands beside VDT
    "": ("exact_euclidean", "vdt"),
    "log": ("exact_log", "vdt_log"),
    "stored": ("exact_stored", "vdt_stored"),
}

Gaps = dict[str, dict[float, Mean]]  # data -> share -> differences of two methods, trial by trial


def all_claims(measured: Measured, many_trials: int) -> list[Claim]:
    """The claims of section 4.3 in the paper's order, then those of the sections before it."""
    curves, common = measured.curves, measured.common
    times, fitted = measured.times, measured.fitted
    return [
        better_means(curves),
        better_means(curves, "vdt_log"),
        beyond_intervals(curves, measured.gaps),
        beyond_intervals_of_many(measured.many, many_trials),
        better_divergence(common),
        exact_gid_best(common),
        *(exact_euclidean_worse(measured.exact_gaps.get(way, {}), way) for way in WAYS),
        conjecture(measured.refined),
        same_order(fitted, times),
        lower_order(fitted, times),
        much_faster(times, fitted, measured.early),
        special_case(measured.special),
        pruning_saves(measured.pruning),
        no_dimension(measured.dimensions),
    ]


def claim_rows(claims: Iterable[Claim]) -> list[dict[str, str]]:
    """As a table."""
    return [
        {
            "claim": claim.quote,
            "holds here if": claim.test,
            "verdict": claim.verdict,
            "measured": " ".join(claim.numbers),
        }
        for claim in claims
    ]


# -- accuracy ---------------------------------------------------------------------------------------------


def better_means(curves: Curves, euclidean: str = "vdt") -> Claim:
    """BVDT above VDT in the means; also above VDT in logarithms."""
    quote = "BVDT with GID consistently outperforms the Euclidean VDT."
    test = "Mean above at every share of labels."
    if euclidean == "vdt_log":
        quote, test = "The same, VDT in logarithms.", "The same."
    verdict, numbers = _above(curves, "bvdt", euclidean)
    return Claim("better means", quote, test, verdict, numbers)


def beyond_intervals(curves: Curves, gaps: Gaps) -> Claim:
    """… and outside the intervals."""
    quote = "BVDT with GID significantly outperforms the Euclidean VDT."
    test = (
        "95 % intervals apart at every share; in part: at half, on each set. Paired: interval of the "
        "differences above 0."
    )
    apart: dict[str, int] = {}
    found: dict[str, list[str]] = {}  # what was found -> on which data
    for data in data_with(curves, "vdt", "bvdt"):
        vdt, bvdt = curves[data, "vdt"], curves[data, "bvdt"]
        apart[data] = sum(bvdt[share].low > vdt[share].high for share in vdt)
        clear = sum(gap.low > 0 for gap in gaps.get(data, {}).values())
        found.setdefault(f"{_places(apart[data], vdt)}, paired {clear}.", []).append(data)
    whole = all(apart[data] == len(curves[data, "vdt"]) for data in apart)
    half = all(2 * apart[data] >= len(curves[data, "vdt"]) for data in apart)
    verdict = HOLDS if whole else PART if half else NOT
    numbers = tuple(f"{', '.join(data)} {text}" for text, data in found.items())
    return Claim("significance", quote, test, verdict if apart else UNKNOWN, numbers)


def beyond_intervals_of_many(many: Curves, n_trials: int) -> Claim:
    """The same with more trials than the paper's five."""
    quote = f"The same, {n_trials} trials, small sets."
    test = "At every share."
    apart, total, numbers = 0, 0, []
    for data in data_with(many, "vdt", "bvdt"):
        vdt, bvdt = many[data, "vdt"], many[data, "bvdt"]
        clear = sum(bvdt[share].low > vdt[share].high for share in vdt)
        apart, total = apart + clear, total + len(vdt)
        numbers.append(f"{data} {_places(clear, vdt)}.")
    return Claim("significance of many", quote, test, verdict_of(apart, total), tuple(numbers))


def better_divergence(curves: Curves) -> Claim:
    """The divergence itself, without the trees."""
    quote = "GID captures the similarity of documents much better than the Euclidean distance."
    test = "Exact GID above exact Euclidean at every share."
    verdict, numbers = _above(curves, "exact_gid", "exact_euclidean")
    return Claim("divergence", quote, test, verdict, numbers)


def exact_gid_best(curves: Curves) -> Claim:
    """Exact GID is the best of the four on the two smallest data sets."""
    quote = "The exact method with GID has the best performance (small sets)."
    test = "Highest of the four at every share from 10 % on (counted at all)."
    won, total, numbers = 0, 0, []
    names = ("vdt", "bvdt", "exact_euclidean", "exact_gid")
    for data in [title for title in data_with(curves, *names) if title in _titles(SMALLEST)]:
        best = {
            share: max(names, key=lambda name, share=share: curves[data, name][share].mean)  # type: ignore[misc]
            for share in curves[data, "exact_gid"]
        }
        late = [share for share in best if share >= 0.1]
        won, total = won + sum(best[share] == "exact_gid" for share in late), total + len(late)
        first = sum(name == "exact_gid" for name in best.values())
        numbers.append(f"{data} {_places(first, best)}.")
    return Claim("exact GID", quote, test, verdict_of(won, total), tuple(numbers))


def exact_euclidean_worse(gaps: Gaps, way: str = "") -> Claim:
    """The exact method with the wrong divergence, below the tree's; also in logarithms or with another σ."""
    quote = "The exact method with the Euclidean distance can do even worse than the Euclidean VDT (BBC)."
    test = (
        "Paired interval of exact − VDT below 0 at half of BBC's shares or more; in part: at any. Spans: "
        "means."
    )
    if way:
        quote = {"log": "The same in logarithms.", "stored": "The same, stored values as d."}[way]
        test = "The same."
    verdict, numbers = UNKNOWN, []
    for data in [title for title in TITLES.values() if title in gaps]:
        curve = gaps[data]
        means = span(gap.mean for gap in curve.values())
        if not any(gap.half for gap in curve.values()):  # one trial has no interval
            numbers.append(f"{data}, 1 trial, {means}.")
            continue
        below = sum(gap.high < 0 for gap in curve.values())
        numbers.append(f"{data} {_places(below, curve)}, {means}.")
        if data == TITLES["bbc"]:
            verdict = HOLDS if 2 * below >= len(curve) else PART if below else NOT
    return Claim("exact Euclidean", quote, test, verdict, tuple(numbers))


# -- time -------------------------------------------------------------------------------------------------


def same_order(fitted: dict[tuple[str, str], Exponent], times: Times) -> Claim:
    """Exponents of VDT and BVDT, and what they are between the last two sizes alone."""
    quote = "Euclidean VDT and BVDT have the same order of complexity."
    test = f"Exponents differ by {SAME_ORDER} at most."
    gaps, numbers = [], []
    for data in data_with(fitted, "vdt", "bvdt"):
        vdt, bvdt = fitted[data, "vdt"], fitted[data, "bvdt"]
        gaps.append(abs(vdt.value - bvdt.value))
        text = f"{data}: VDT {vdt}, BVDT {bvdt.value:.2f}"
        if all(len(times.get((data, name), {})) > 1 for name in ("vdt", "bvdt")):
            last = [_last_exponent(times[data, name]) for name in ("vdt", "bvdt")]
            text += f"; last two sizes {last[0]:.2f}, {last[1]:.2f}"
        numbers.append(f"{text}.")
    return Claim(
        "same order", quote, test, verdict_of(sum(g <= SAME_ORDER for g in gaps), len(gaps)), tuple(numbers)
    )


def lower_order(fitted: dict[tuple[str, str], Exponent], times: Times) -> Claim:
    """Exponents of the trees and of the exact methods."""
    quote = "VDT and BVDT are of a lower order than the exact methods."
    test = f"Exponents at least {LOWER_ORDER} below the exact methods'."
    won, numbers = [], []
    for data in data_with(fitted, "vdt", "bvdt", "exact_euclidean", "exact_gid"):
        trees = [fitted[data, name] for name in ("vdt", "bvdt")]
        exact = [fitted[data, name] for name in ("exact_euclidean", "exact_gid")]
        won.append(min(e.value for e in exact) - max(t.value for t in trees) >= LOWER_ORDER)
        n_sizes = sum(n >= exact[0][1] for n in times.get((data, "exact_euclidean"), {}))
        numbers.append(
            f"{data}: trees {trees[0].value:.2f} and {trees[1].value:.2f}, exact {exact[0].value:.2f} and "
            f"{exact[1].value:.2f} ({n_sizes} sizes)."
        )
    return Claim("lower order", quote, test, verdict_of(sum(won), len(won)), tuple(numbers))


def much_faster(times: Times, fitted: dict[tuple[str, str], Exponent], early: Times | None = None) -> Claim:
    """Seconds at the largest common size, and where the fitted curves would be a hundredfold apart."""
    quote = "Both are orders of magnitude faster than the exact methods."
    test = "With all 300 steps, 100 times at the largest size that all four ran; in part: each faster."
    ratios, numbers = [], []
    names = ("vdt", "bvdt", "exact_euclidean", "exact_gid")
    for data in data_with(times, *names):
        n = max(set.intersection(*(set(times[data, name]) for name in names)))
        pairs = [(times[data, "exact_euclidean"][n], times[data, "vdt"][n])]
        pairs.append((times[data, "exact_gid"][n], times[data, "bvdt"][n]))
        ratios += [exact / max(tree, 1e-4) for exact, tree in pairs]
        text = f"{data}, N = {n:,}: VDT {ratios[-2]:.1f}, BVDT {ratios[-1]:.1f} times"
        if early and all(n in early.get((data, name), {}) for name in names):
            of = {name: early[data, name][n] for name in names}
            vdt, bvdt = (
                of[exact] / max(of[tree], 1e-4)
                for exact, tree in (("exact_euclidean", "vdt"), ("exact_gid", "bvdt"))
            )
            text += f"; with the early end {vdt:.1f} and {bvdt:.1f}"
        numbers.append(f"{text}.")
        if (data, "bvdt") in fitted and (data, "exact_gid") in fitted and ratios[-1] < 100:
            gain = fitted[data, "exact_gid"].value - fitted[data, "bvdt"].value
            digits = np.log10(n) + np.log10(100 / ratios[-1]) / gain if gain > 0 else np.inf
            reached = f"near N = {float(f'{10**digits:.1g}'):,.0f}" if digits < 12 else "beyond N = 10^12"
            numbers.append(f"GID's ratio grows as N^{gain:.2f}, extrapolated to 100 {reached}.")
    if not ratios:
        return Claim("speed", quote, test, UNKNOWN)
    verdict = HOLDS if min(ratios) >= 100 else PART if min(ratios) > 1 else NOT
    return Claim("speed", quote, test, verdict, tuple(numbers))


def _last_exponent(curve: dict[int, float]) -> float:
    """Between the two largest sizes."""
    (small, short), (large, long) = sorted(curve.items())[-2:]
    return float(np.log(long / max(short, 1e-4)) / np.log(large / small))


def _above(curves: Curves, better: str, worse: str) -> tuple[str, tuple[str, ...]]:
    """The verdict on whose means are above, and by how much on each data set."""
    won, total, numbers = 0, 0, []
    for data in data_with(curves, worse, better):
        gaps = [mean.mean - curves[data, worse][share].mean for share, mean in curves[data, better].items()]
        above = sum(gap > 0 for gap in gaps)
        won, total = won + above, total + len(gaps)
        lost = "" if above == len(gaps) else f" {_places(above, gaps)},"
        numbers.append(f"{data}{lost} {span(gaps)}.")
    return verdict_of(won, total), tuple(numbers)


def _places(n: int, of: Sized) -> str:
    return f"{n}/{len(of)}"


def _titles(names: Iterable[str]) -> list[str]:
    return [TITLES[name] for name in names]
