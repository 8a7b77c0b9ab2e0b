"""What the paper says of blocks, of the special case, of pruning and of the dimension."""

from __future__ import annotations

from .regularization import EXACT, REFINED, Refined
from .units import Row
from .verdicts import HOLDS, NOT, PART, UNKNOWN, Claim, span, verdict_of

__all__ = ["conjecture", "no_dimension", "pruning_saves", "special_case"]

WORDS = {"vdt": "Euclidean", "vdt_stored": "stored values", "bvdt": "GID"}
EXPECTED = {"vdt": -1, "vdt_stored": -1, "bvdt": 1}  # the change that finer blocks should bring


def conjecture(refined: Refined) -> Claim:
    """Coarse blocks make up for the wrong distance: finer ones lose with it, and gain with the right one."""
    quote = "Conjecture: block regularization compensates for the improper distance to some degree."
    test = "As blocks are refined, Euclidean means fall and GID's rise; in part: at half of the shares."
    won, total, numbers = 0, 0, []
    for data in dict.fromkeys(data for data, _, _ in refined):
        for method in REFINED:
            curves = [curve for (title, key, _), curve in refined.items() if (title, key) == (data, method)]
            gains = []
            for curve in curves:
                finest = [blocks for blocks in curve if blocks != EXACT][-1]
                gains.append(curve[finest].mean - next(iter(curve.values())).mean)
            won += sum(gain * EXPECTED[method] > 0 for gain in gains)
            total += len(gains)
            numbers.append(f"{data}, {WORDS[method]} {span(gains)}.")
    return Claim("regularization", quote, test, verdict_of(won, total), tuple(numbers))


def special_case(rows: list[Row]) -> Claim:
    """Eq. (18) to (21) reduce to Eq. (4) to (6); Eq. (22) is not Eq. (10)."""
    quote = "The Euclidean VDT is a special case of BVDT."
    test = "The same D_AB for the same blocks, to 1e-12, and the same tree; in part: one of them."
    same_sums = all(row["largest difference"] < 1e-12 for row in rows)
    same_tree = all(row["common nodes"] == row["inner nodes"] for row in rows)
    numbers = tuple(
        f"{row['data']}: Eq. (6) and (20) to {row['largest difference']:.0e}; trees by Eq. (10) and (22) "
        f"share {row['common nodes']}/{row['inner nodes']} nodes."
        for row in rows
    )
    verdict = HOLDS if same_sums and same_tree else PART if same_sums or same_tree else NOT
    return Claim("special case", quote, test, verdict if rows else UNKNOWN, numbers)


def pruning_saves(rows: list[Row]) -> Claim:
    """The share of divergences that Eq. (8) and (23) save, from text to clusters."""
    quote = "Eq. (8) and (23) significantly cut unnecessary computations."
    test = "Half of the divergences are saved on all data; in part: on some."
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
    test = "The anchor tree of the same points in d dimensions evaluates as many divergences."
    if not rows:
        return Claim("dimension", quote, test, UNKNOWN)
    found = list(dict.fromkeys(row["evaluations"] for row in rows))
    ds = [row["d"] for row in rows]
    counts = "…".join(f"{n:,}" for n in dict.fromkeys((min(found), max(found))))
    number = f"{counts} for d = {', '.join(map(str, ds))}."
    return Claim("dimension", quote, test, HOLDS if len(found) == 1 else NOT, (number,))
