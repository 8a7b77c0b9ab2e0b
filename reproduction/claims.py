"""The claims of section 4.3 beside what was measured; every verdict follows from the numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .accuracy import Curves, Mean
from .config import TITLES
from .growth import MODEL, Exponent, Times

__all__ = ["HOLDS", "NOT", "PART", "UNKNOWN", "Claim", "all_claims", "claim_rows"]

HOLDS, PART, NOT, UNKNOWN = "holds", "holds in part", "does not hold", "not measured"
SMALLEST = ("bbcsport", "bbc")  # where the paper ran the exact methods
SAME_ORDER, LOWER_ORDER = 0.15, 0.3  # differences of exponents

Gaps = dict[str, dict[float, Mean]]  # data -> share -> BVDT − VDT, trial by trial


@dataclass(frozen=True)
class Claim:
    """What the paper says, what makes it hold here, the verdict, and the numbers, a sentence each."""

    name: str
    quote: str
    test: str
    verdict: str
    numbers: tuple[str, ...] = ()


def all_claims(
    curves: Curves, gaps: Gaps, times: Times, fitted: dict[tuple[str, str], Exponent]
) -> list[Claim]:
    """The claims in the paper's order."""
    return [
        better_means(curves),
        beyond_intervals(curves, gaps),
        better_divergence(curves),
        exact_gid_best(curves),
        exact_euclidean_worse(curves),
        same_order(fitted),
        lower_order(fitted),
        much_faster(times, fitted),
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


def better_means(curves: Curves) -> Claim:
    """BVDT above VDT in the means."""
    quote = "BVDT with GID consistently outperforms the Euclidean VDT."
    test = "Its mean is above at every share of labels on every data set."
    won, total, numbers = 0, 0, []
    for data in _data(curves, "vdt", "bvdt"):
        vdt, bvdt = curves[data, "vdt"], curves[data, "bvdt"]
        gaps = {share: bvdt[share].mean - vdt[share].mean for share in vdt}
        above = [share for share in gaps if gaps[share] > 0]
        won, total = won + len(above), total + len(gaps)
        lost = [f"{share:.0%} ({gaps[share]:+.3f})" for share in gaps if gaps[share] <= 0]
        text = f"{data}: above at {len(above)} of {len(gaps)} shares, by {_range(gaps.values())}"
        numbers.append(text + (f"; not at {', '.join(lost)}." if lost else "."))
    return Claim("better means", quote, test, _verdict(won, total), tuple(numbers))


def beyond_intervals(curves: Curves, gaps: Gaps) -> Claim:
    """… and outside the intervals."""
    quote = "BVDT with GID significantly outperforms the Euclidean VDT."
    test = (
        "The 95 % intervals are apart, BVDT's above, at every share on all data sets but one; in part if at "
        "half of the shares on as many."
    )
    apart: dict[str, int] = {}
    numbers = []
    for data in _data(curves, "vdt", "bvdt"):
        vdt, bvdt = curves[data, "vdt"], curves[data, "bvdt"]
        close = [share for share in vdt if bvdt[share].low <= vdt[share].high]
        apart[data] = len(vdt) - len(close)
        at = ", ".join(f"{share:.0%}" for share in close)
        where = f" (not at {at})" if close else ""
        clear = sum(gap.low > 0 for gap in gaps.get(data, {}).values())
        numbers.append(
            f"{data}: apart at {apart[data]} of {len(vdt)} shares{where}, paired "
            f"differences above 0 at {clear}."
        )
    needed = len(apart) - 1 if len(apart) > 1 else 1
    whole = sum(apart[data] == len(curves[data, "vdt"]) for data in apart)
    half = sum(2 * apart[data] >= len(curves[data, "vdt"]) for data in apart)
    verdict = HOLDS if whole >= needed else PART if half >= needed else NOT
    return Claim("significance", quote, test, verdict if apart else UNKNOWN, tuple(numbers))


def better_divergence(curves: Curves) -> Claim:
    """The divergence itself, without the trees."""
    quote = "GID captures the similarity of documents much better than the Euclidean distance does."
    test = "Without trees, too: the exact GID's mean is above the exact Euclidean's at every share."
    won, total, numbers = 0, 0, []
    for data in _data(curves, "exact_euclidean", "exact_gid"):
        euclidean, gid = curves[data, "exact_euclidean"], curves[data, "exact_gid"]
        gaps = [gid[share].mean - euclidean[share].mean for share in gid]
        won, total = won + sum(gap > 0 for gap in gaps), total + len(gaps)
        above = sum(gap > 0 for gap in gaps)
        numbers.append(f"{data}: above at {above} of {len(gaps)} shares, by {_range(gaps)}.")
    return Claim("divergence", quote, test, _verdict(won, total), tuple(numbers))


def exact_gid_best(curves: Curves) -> Claim:
    """Exact GID is the best of the four on the two smallest data sets."""
    quote = "The exact method with GID has the best performance (two smallest data sets)."
    test = "Its mean is the highest of the four methods at every share from 10 % on."
    won, total, numbers = 0, 0, []
    names = ("vdt", "bvdt", "exact_euclidean", "exact_gid")
    for data in [title for title in _data(curves, *names) if title in _titles(SMALLEST)]:
        best = {
            share: max(names, key=lambda name, share=share: curves[data, name][share].mean)  # type: ignore[misc]
            for share in curves[data, "exact_gid"]
        }
        late = [share for share in best if share >= 0.1]
        won, total = won + sum(best[share] == "exact_gid" for share in late), total + len(late)
        first = sum(name == "exact_gid" for name in best.values())
        at = [f"{share:.0%}: {curves[data, 'exact_gid'][share]}" for share in (late[:1] + late[-1:])]
        numbers.append(f"{data}: best at {first} of all {len(best)} shares ({'; '.join(at)}).")
    return Claim("exact GID", quote, test, _verdict(won, total), tuple(numbers))


def exact_euclidean_worse(curves: Curves) -> Claim:
    """The exact method with the wrong divergence, below the tree's."""
    quote = "The exact method with the Euclidean distance can do even worse than the Euclidean VDT (BBC)."
    test = "Its mean is below VDT's at half of the shares or more on BBC; in part if at any."
    data = TITLES["bbc"]
    if data not in _data(curves, "vdt", "exact_euclidean"):
        return Claim("exact Euclidean", quote, test, UNKNOWN)
    vdt, exact = curves[data, "vdt"], curves[data, "exact_euclidean"]
    below = [share for share in vdt if exact[share].mean < vdt[share].mean]
    clear = [share for share in below if exact[share].high < vdt[share].low]
    verdict = HOLDS if 2 * len(below) >= len(vdt) else PART if below else NOT
    gaps = [exact[share].mean - vdt[share].mean for share in vdt]
    where = f" ({', '.join(f'{share:.0%}' for share in below)})" if below else ""
    number = f"{data}: below at {len(below)} of {len(vdt)} shares{where}, difference {_range(gaps)}, "
    return Claim("exact Euclidean", quote, test, verdict, (number + f"intervals apart at {len(clear)}.",))


# -- time -------------------------------------------------------------------------------------------------


def same_order(fitted: dict[tuple[str, str], Exponent]) -> Claim:
    """Exponents of VDT and BVDT."""
    quote = "Euclidean VDT and BVDT have the same order of complexity."
    test = f"The fitted exponents differ by {SAME_ORDER} at most."
    gaps, numbers = [], []
    for data in _data(fitted, "vdt", "bvdt"):
        vdt, bvdt = fitted[data, "vdt"], fitted[data, "bvdt"]
        gaps.append(abs(vdt.value - bvdt.value))
        numbers.append(f"{data}: VDT {vdt}, BVDT {bvdt.value:.2f}.")
    return Claim(
        "same order", quote, test, _verdict(sum(g <= SAME_ORDER for g in gaps), len(gaps)), tuple(numbers)
    )


def lower_order(fitted: dict[tuple[str, str], Exponent]) -> Claim:
    """Exponents of the trees and of the exact methods."""
    quote = "VDT and BVDT are of a lower order than the exact methods."
    test = f"Both exponents are at least {LOWER_ORDER} below both of the exact methods'."
    won, numbers = [], []
    for data in _data(fitted, "vdt", "bvdt", "exact_euclidean", "exact_gid"):
        trees = [fitted[data, name] for name in ("vdt", "bvdt")]
        exact = [fitted[data, name] for name in ("exact_euclidean", "exact_gid")]
        won.append(min(e.value for e in exact) - max(t.value for t in trees) >= LOWER_ORDER)
        numbers.append(
            f"{data}: trees {trees[0].value:.2f} and {trees[1].value:.2f}; exact Euclidean {exact[0]}, "
            f"exact GID {exact[1].value:.2f}."
        )
    return Claim("lower order", quote, test, _verdict(sum(won), len(won)), tuple(numbers))


def much_faster(times: Times, fitted: dict[tuple[str, str], Exponent]) -> Claim:
    """Seconds at the largest common size, and where the fitted curves would be a hundredfold apart."""
    quote = "Both are orders of magnitude faster than the exact methods."
    test = "100 times and more at the largest size that all four ran; in part if faster at all."
    ratios, numbers = [], []
    names = ("vdt", "bvdt", "exact_euclidean", "exact_gid")
    for data in _data(times, *names):
        n = max(set.intersection(*(set(times[data, name]) for name in names)))
        pairs = [(times[data, "exact_euclidean"][n], times[data, "vdt"][n])]
        pairs.append((times[data, "exact_gid"][n], times[data, "bvdt"][n]))
        ratios += [exact / max(tree, 1e-4) for exact, tree in pairs]
        numbers.append(
            f"{data}, N = {n:,}: Euclidean {pairs[0][0]:.2f} s exact, {pairs[0][1]:.2f} s VDT "
            f"({ratios[-2]:.1f} times); GID {pairs[1][0]:.2f} s exact, {pairs[1][1]:.2f} s BVDT "
            f"({ratios[-1]:.1f} times)."
        )
        if (data, "bvdt") in fitted and (data, "exact_gid") in fitted and ratios[-1] < 100:
            gain = fitted[data, "exact_gid"].value - fitted[data, "bvdt"].value
            digits = np.log10(n) + np.log10(100 / ratios[-1]) / gain if gain > 0 else np.inf
            reached = f"at N = {10**digits:,.0f}" if digits < 12 else "beyond N = 10^12"
            numbers.append(f"The ratio grows as N^{gain:.2f}: for GID it would be 100 {reached}.")
    if not ratios:
        return Claim("speed", quote, test, UNKNOWN)
    verdict = HOLDS if min(ratios) >= 100 else PART if max(ratios) > 1 else NOT
    return Claim("speed", quote, test, verdict, tuple(numbers))


# -- shared -----------------------------------------------------------------------------------------------


def _data(table: Iterable[tuple[str, str]], *methods: str) -> list[str]:
    """Titles of the data that have all those methods, in the usual order."""
    known = set(table)
    return [data for data in (*TITLES.values(), MODEL) if all((data, name) in known for name in methods)]


def _titles(names: Iterable[str]) -> list[str]:
    return [TITLES[name] for name in names]


def _verdict(won: int, total: int) -> str:
    """Holds if won everywhere; in part if at half of the places or more."""
    if not total:
        return UNKNOWN
    return HOLDS if won == total else PART if 2 * won >= total else NOT


def _range(values: Iterable[float], sign: str = "+") -> str:
    values = list(values)
    ends = [f"{end:{sign}.3f}" for end in (min(values), max(values))]
    return " to ".join(dict.fromkeys(ends))
