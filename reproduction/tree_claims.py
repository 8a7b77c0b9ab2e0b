"""What the paper says of blocks, of the special case, of pruning and of the dimension."""

from __future__ import annotations

from .regularization import EXACT, REFINED, Refined
from .units import Row
from .verdicts import HOLDS, NOT, PART, UNKNOWN, Claim, span, verdict_of

__all__ = ["conjecture", "no_dimension", "pruning_saves", "special_case"]

WORDS = {"vdt": "Euclidean", "vdt_stored": "stored values", "bvdt": "GID"}


def conjecture(refined: Refined) -> Claim:
    """Coarse blocks make up for the wrong distance: the finest lose with it. Those of GID gain, beside it."""
    quote = "Conjecture: block regularization compensates for the improper distance to some degree."
    test = (
        "Euclidean means fall from the fewest to the most blocks per point; in part: at half of the places."
    )
    falls = _changes(refined, [key for key in REFINED if key != "bvdt"])
    rises = _changes(refined, ["bvdt"])
    if not falls:
        return Claim("regularization", quote, test, UNKNOWN)
    fell, fell_exact = (sum(gain < 0 for gain in gains) for gains in zip(*falls, strict=True))
    rose, rose_exact = (sum(gain > 0 for gain in gains) for gains in zip(*rises, strict=True))
    numbers = (
        f"Euclidean: {fell}/{len(falls)} fall; to the exact P {fell_exact}.",
        f"GID: {rose}/{len(rises)} rise; to the exact P {rose_exact}.",
    )
    return Claim("regularization", quote, test, verdict_of(fell, len(falls)), numbers)


def _changes(refined: Refined, methods: list[str]) -> list[tuple[float, float]]:
    """From the coarsest partition's mean to the finest's, and to that of the exact P."""
    changes = []
    for (_, method, _), curve in refined.items():
        if method in methods:
            means = [mean.mean for blocks, mean in curve.items() if blocks != EXACT]
            changes.append((means[-1] - means[0], curve[EXACT].mean - means[0]))
    return changes


def special_case(rows: list[Row]) -> Claim:
    """Eq. (18) to (21) reduce to Eq. (4) to (6); Eq. (22) is not Eq. (10)."""
    quote = "The Euclidean VDT is a special case of BVDT."
    test = (
        "Eq. (6) and (20) agree to 1e-12 of the largest block, Eq. (10) and (22) give the same tree; in "
        "part: either."
    )
    same_sums = all(row["largest difference"] < 1e-12 for row in rows)
    same_tree = all(row["common nodes"] == row["inner nodes"] for row in rows)
    numbers = tuple(
        f"{row['data']}: to {row['largest difference']:.0e}; shared nodes "
        f"{row['common nodes']}/{row['inner nodes']}."
        for row in rows
    )
    verdict = HOLDS if same_sums and same_tree else PART if same_sums or same_tree else NOT
    return Claim("special case", quote, test, verdict if rows else UNKNOWN, numbers)


def pruning_saves(rows: list[Row]) -> Claim:
    """The share of divergences that Eq. (8) and (23) save, from text to clusters."""
    quote = "Eq. (8) and (23) significantly cut unnecessary computations."
    test = (
        "Half of the divergences saved on all data; in part: on some. By bvdt's trees, which leave small "
        "nodes and searches of little gain unpruned; the thresholds' own cost is not counted."
    )
    saved = [row["saved"] for row in rows]
    text = [row["saved"] for row in rows if "clusters" not in row["data"]]
    clustered = [row["saved"] for row in rows if "clusters" in row["data"]]
    numbers = [
        f"{name}: {span(shares, '.1%')} saved."
        for name, shares in (("Counts of words", text), ("50 dense clusters in eight dimensions", clustered))
        if shares
    ]
    if not saved:
        return Claim("pruning", quote, test, UNKNOWN)
    verdict = HOLDS if min(saved) >= 0.5 else PART if max(saved) >= 0.5 else NOT
    return Claim("pruning", quote, test, verdict, tuple(numbers))


def no_dimension(rows: list[Row]) -> Claim:
    """Evaluations of the same points in more dimensions."""
    quote = "But for the distance itself, the complexity does not depend on d."
    test = "The tree of the same points in d dimensions takes as many divergences."
    if not rows:
        return Claim("dimension", quote, test, UNKNOWN)
    found = list(dict.fromkeys(row["evaluations"] for row in rows))
    ds = [row["d"] for row in rows]
    counts = "…".join(f"{n:,}" for n in dict.fromkeys((min(found), max(found))))
    number = f"{counts} for d = {', '.join(map(str, ds))}."
    return Claim("dimension", quote, test, HOLDS if len(found) == 1 else NOT, (number,))
