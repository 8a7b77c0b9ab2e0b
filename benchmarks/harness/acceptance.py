"""The lines that the project set itself, with the figures that decide them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .jobs import GROWTH_DENSE, JOBS
from .summary import COMPARED, Row

Rows = dict[str, list[Row]]  # by job


@dataclass(frozen=True)
class Line:
    """One requirement: ``holds`` is None while a figure is missing."""

    number: int
    text: str
    holds: bool | None
    figures: str


def lines(rows: Rows, reasons: dict[str, dict[str, str]]) -> list[Line]:
    """All of them, in order."""
    return [
        _everyone(rows, reasons),
        _imdb(rows, "warm", 8),
        _imdb(rows, "cold", 15),
        *(
            _fastest(rows, f"{data}-50k", which, times)
            for data in ("blobs", "digits")
            for which, times in (("cold", 2.5), ("warm", 4))  # a cold start imports SciPy, 0.2 s
        ),
        *(
            _fastest(rows, f"{data}-1m", which, 8)
            for data in ("blobs", "digits")
            for which in ("cold", "warm")
        ),
        *(_memory(rows, f"{data}-{size}") for size in ("50k", "1m") for data in ("blobs", "digits")),
        _against(rows, 4, "kl-50k", "one tree", "nmslib", 12),
        _against(rows, 5, "embedding", "one tree", "scikit-learn", 4),
        _against(rows, 5, "embedding", "forest", "scikit-learn", 4),  # the estimator's defaults
        growth(rows),
        *_forests(rows),
    ]


def ours(rows: list[Row], role: str = "one tree") -> Row | None:
    """Our row of that role that has both times."""
    found = [row for row in rows if row.method.role == role and row.cold and row.warm]
    return found[0] if found else None


def _rivals(rows: list[Row], which: str, library: str = "") -> list[Row]:
    """Rivals with that time, the fastest first."""
    able = [r for r in rows if r.is_rival and getattr(r, which) and library in ("", r.method.library)]
    return sorted(able, key=lambda row: getattr(row, which).median)


def _ratio(number: int, text: str, mine: Row | None, rivals: list[Row], which: str, least: float) -> Line:
    if mine is None or not rivals:
        return Line(number, text, None, "not measured")
    rival = rivals[0]
    one, other = getattr(mine, which).median, getattr(rival, which).median
    figures = f"{one:.3g} s against {other:.3g} s ({rival.method.name}): 1/{other / one:.1f}"
    return Line(number, text, one * least <= other, figures)


def _everyone(rows: Rows, reasons: dict[str, dict[str, str]]) -> Line:
    compared = [name for name, job in JOBS.items() if job.kind in COMPARED]
    left = [job for job in compared if not rows.get(job)]
    done = [job for job in compared if rows.get(job)]
    unknown = [f"{name} in {job}" for job in done for name, why in reasons.get(job, {}).items() if not why]
    figures = f"without either: {', '.join(unknown)}. " if unknown else ""
    figures += f"Jobs not run: {', '.join(left)}" if left else ""
    holds = False if unknown else None if left else True
    text = "every rival is in the tables or a line says why not"
    return Line(1, text, holds, figures or "each has a row or a reason in every table")


def _imdb(rows: Rows, which: str, least: int) -> Line:
    job = rows.get("imdb", [])
    rivals = [row for row in _rivals(job, which, "pynndescent") if not row.method.keeps_cache]
    text = f"IMDB, {which}: one tree + 300 steps ≤ 1/{least} of pynndescent and its propagation"
    return _ratio(2, text, ours(job), rivals, which, least)


def _fastest(rows: Rows, name: str, which: str, least: float) -> Line:
    job = rows.get(name, [])
    text = f"{JOBS[name].title}, {which}: ≤ 1/{least} of the fastest rival"
    return _ratio(3, text, ours(job), _rivals(job, which), which, least)


def _memory(rows: Rows, name: str) -> Line:
    job = rows.get(name, [])
    mine, rivals = ours(job), _rivals(job, "peak")
    text = f"{JOBS[name].title}: peak memory below every rival's"
    if mine is None or not rivals or mine.peak is None:
        return Line(3, text, None, "not measured")
    peak, least = mine.peak.median / 2**20, rivals[0].peak.median / 2**20
    stopped = rivals[0].cold is None  # then it needs that much at least
    who = rivals[0].method.name + (", when it was stopped" if stopped else "")
    holds = None if stopped and peak >= least else peak < least
    return Line(3, text, holds, f"{peak:.0f} MiB against {least:.0f} MiB ({who})")


def _against(rows: Rows, number: int, name: str, role: str, library: str, least: int) -> Line:
    job = rows.get(name, [])
    setting = "near field" if role == "forest" else role
    text = f"{JOBS[name].title}, {setting}, warm: ≤ 1/{least} of {library}"
    return _ratio(number, text, ours(job, role), _rivals(job, "warm", library), "warm", least)


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Slope of log seconds over log sizes, by least squares."""
    x, y = [math.log(n) for n in sizes], [math.log(s) for s in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    products = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return products / sum((a - mean_x) ** 2 for a in x)


def growth(rows: Rows, least: int = 10_000) -> Line:
    """The larger of two slopes: over all sizes, and from 10 000 points on, where no constant flatters it."""
    text = "growth of one tree on dense data, 10³ to 10⁶ points: exponent ≤ 1.25"
    found = {n: ours(rows.get(name, [])) for n, name in GROWTH_DENSE.items()}
    if not all(found.values()):
        return Line(6, text, None, "not measured")
    seconds = {n: row.warm.median for n, row in found.items()}
    slopes = []
    for sizes in (GROWTH_DENSE, [n for n in GROWTH_DENSE if n >= least]):
        slopes.append(exponent(list(sizes), [seconds[n] for n in sizes]))
    figures = f"{slopes[0]:.2f} over all sizes, {slopes[1]:.2f} from {least} points on"
    return Line(6, text, max(slopes) <= 1.25, figures)


def _forests(rows: Rows) -> list[Line]:
    """For each table in which a rival labels better than one tree: whether the forest's row is beside it."""
    found = []
    for name, job in JOBS.items():
        mine = ours(rows.get(name, []))
        scores = [row.accuracy for row in rows.get(name, []) if row.is_rival and row.accuracy is not None]
        if job.kind not in COMPARED or mine is None or mine.accuracy is None or not scores:
            continue
        if mine.accuracy >= max(scores):
            continue
        forest = ours(rows[name], "forest")
        text = f"{job.title}: one tree labels {mine.accuracy:.3f}, the best rival {max(scores):.3f}; forest"
        figures = "no row" if forest is None else f"{forest.accuracy:.3f} in {forest.warm.median:.3g} s"
        found.append(Line(7, text, forest is not None, figures))
    return found
