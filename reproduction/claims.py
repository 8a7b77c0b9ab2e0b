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

__all__ = ["HOLDS", "NOT", "PART", "UNKNOWN", "Claim", "all_claims", "claim_rows"]

SMALLEST = ("bbcsport", "bbc")  # where the paper ran the exact methods
SAME_ORDER, LOWER_ORDER = 0.15, 0.3  # differences of exponents

Gaps = dict[str, dict[float, Mean]]  # data -> share -> BVDT − VDT, trial by trial


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
        exact_euclidean_worse(common),
        exact_euclidean_worse(common, "log"),
        exact_euclidean_worse(common, "stored"),
        conjecture(measured.refined),
        same_order(fitted),
        lower_order(fitted),
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
    if euclidean == "vdt_log":
        quote = "The same, VDT in logarithms."
    test = "Above at every share of labels."
    won, total, numbers = 0, 0, []
    for data in data_with(curves, euclidean, "bvdt"):
        gaps = _gaps(curves, data, "bvdt", euclidean)
        above = sum(gap > 0 for gap in gaps)
        won, total = won + above, total + len(gaps)
        numbers.append(f"{data} {_places(above, gaps)}, {span(gaps)}.")
    return Claim("better means", quote, test, verdict_of(won, total), tuple(numbers))


def beyond_intervals(curves: Curves, gaps: Gaps) -> Claim:
    """… and outside the intervals."""
    quote = "BVDT with GID significantly outperforms the Euclidean VDT."
    test = (
        "95 % intervals apart at every share on all sets but one; in part: at half of the shares. Paired: "
        "the interval of the differences is above 0."
    )
    apart: dict[str, int] = {}
    numbers = []
    for data in data_with(curves, "vdt", "bvdt"):
        vdt, bvdt = curves[data, "vdt"], curves[data, "bvdt"]
        apart[data] = sum(bvdt[share].low > vdt[share].high for share in vdt)
        clear = sum(gap.low > 0 for gap in gaps.get(data, {}).values())
        numbers.append(f"{data} {_places(apart[data], vdt)}, paired {clear}.")
    needed = len(apart) - 1 if len(apart) > 1 else 1
    whole = sum(apart[data] == len(curves[data, "vdt"]) for data in apart)
    half = sum(2 * apart[data] >= len(curves[data, "vdt"]) for data in apart)
    verdict = HOLDS if whole >= needed else PART if half >= needed else NOT
    return Claim("significance", quote, test, verdict if apart else UNKNOWN, tuple(numbers))


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
    won, total, numbers = 0, 0, []
    for data in data_with(curves, "exact_euclidean", "exact_gid"):
        gaps = _gaps(curves, data, "exact_gid", "exact_euclidean")
        above = sum(gap > 0 for gap in gaps)
        won, total = won + above, total + len(gaps)
        numbers.append(f"{data} {_places(above, gaps)}, {span(gaps)}.")
    return Claim("divergence", quote, test, verdict_of(won, total), tuple(numbers))


def exact_gid_best(curves: Curves) -> Claim:
    """Exact GID is the best of the four on the two smallest data sets."""
    quote = "The exact method with GID has the best performance (small sets)."
    test = "Highest of the four at every share from 10 % on."
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
        numbers.append(f"{data} {_places(first, best)} of all shares.")
    return Claim("exact GID", quote, test, verdict_of(won, total), tuple(numbers))


def exact_euclidean_worse(curves: Curves, way: str = "") -> Claim:
    """The exact method with the wrong divergence, below the tree's; also in logarithms or with another σ."""
    quote = "The exact method with the Euclidean distance can do even worse than the Euclidean VDT (BBC)."
    test = "Below at half of BBC's shares or more; in part: at any. Spans: exact − VDT."
    names = (f"vdt_{way}", f"exact_{way}") if way else ("vdt", "exact_euclidean")
    if way:
        quote = {"log": "The same in logarithms.", "stored": "The same, stored values as d."}[way]
        test = "The same."
    if TITLES["bbc"] not in data_with(curves, *names):
        return Claim("exact Euclidean", quote, test, UNKNOWN)
    verdict, numbers = UNKNOWN, []
    for data in data_with(curves, *names):
        gaps = _gaps(curves, data, names[1], names[0])
        below = sum(gap < 0 for gap in gaps)
        if data == TITLES["bbc"]:
            verdict = HOLDS if 2 * below >= len(gaps) else PART if below else NOT
        numbers.append(f"{data} {_places(below, gaps)}, {span(gaps)}.")
    return Claim("exact Euclidean", quote, test, verdict, tuple(numbers))


# -- time -------------------------------------------------------------------------------------------------


def same_order(fitted: dict[tuple[str, str], Exponent]) -> Claim:
    """Exponents of VDT and BVDT."""
    quote = "Euclidean VDT and BVDT have the same order of complexity."
    test = f"Exponents differ by {SAME_ORDER} at most."
    gaps, numbers = [], []
    for data in data_with(fitted, "vdt", "bvdt"):
        vdt, bvdt = fitted[data, "vdt"], fitted[data, "bvdt"]
        gaps.append(abs(vdt.value - bvdt.value))
        numbers.append(f"{data}: VDT {vdt}, BVDT {bvdt.value:.2f}.")
    return Claim(
        "same order", quote, test, verdict_of(sum(g <= SAME_ORDER for g in gaps), len(gaps)), tuple(numbers)
    )


def lower_order(fitted: dict[tuple[str, str], Exponent]) -> Claim:
    """Exponents of the trees and of the exact methods."""
    quote = "VDT and BVDT are of a lower order than the exact methods."
    test = f"Exponents at least {LOWER_ORDER} below the exact methods'."
    won, numbers = [], []
    for data in data_with(fitted, "vdt", "bvdt", "exact_euclidean", "exact_gid"):
        trees = [fitted[data, name] for name in ("vdt", "bvdt")]
        exact = [fitted[data, name] for name in ("exact_euclidean", "exact_gid")]
        won.append(min(e.value for e in exact) - max(t.value for t in trees) >= LOWER_ORDER)
        numbers.append(
            f"{data}: trees {trees[0].value:.2f} and {trees[1].value:.2f}, exact {exact[0].value:.2f} and "
            f"{exact[1].value:.2f}."
        )
    return Claim("lower order", quote, test, verdict_of(sum(won), len(won)), tuple(numbers))


def much_faster(times: Times, fitted: dict[tuple[str, str], Exponent], early: Times | None = None) -> Claim:
    """Seconds at the largest common size, and where the fitted curves would be a hundredfold apart."""
    quote = "Both are orders of magnitude faster than the exact methods."
    test = "With all 300 steps, 100 times at the largest size that all four ran; in part: faster at all."
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
            reached = f"at N = {10**digits:,.0f}" if digits < 12 else "beyond N = 10^12"
            numbers.append(f"GID's ratio grows as N^{gain:.2f}, to 100 {reached}.")
    if not ratios:
        return Claim("speed", quote, test, UNKNOWN)
    verdict = HOLDS if min(ratios) >= 100 else PART if max(ratios) > 1 else NOT
    return Claim("speed", quote, test, verdict, tuple(numbers))


def _gaps(curves: Curves, data: str, better: str, worse: str) -> list[float]:
    return [mean.mean - curves[data, worse][share].mean for share, mean in curves[data, better].items()]


def _places(n: int, of: Sized) -> str:
    return f"{n}/{len(of)}"


def _titles(names: Iterable[str]) -> list[str]:
    return [TITLES[name] for name in names]
