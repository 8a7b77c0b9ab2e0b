"""Rows of the tables: medians and spreads of the runs, and the lines of those who have no row."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from .jobs import Job
from .measure import Run
from .methods import ABSENT, LIBRARIES, METHODS, OURS, Method

COMPARED = (
    "text",
    "dense",
    "histograms",
    "spectra",
    "embedding",
)  # kinds where every library is accounted for


@dataclass(frozen=True)
class Spread:
    """Median, least and greatest of the repeats."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: list[float]) -> Spread | None:
        return cls(statistics.median(values), min(values), max(values)) if values else None


@dataclass(frozen=True)
class Row:
    """A method's figures in one job."""

    job: str
    method: Method
    cold: Spread | None
    warm: Spread | None
    peak: Spread | None
    accuracy: float | None
    n_runs: int
    trouble: str

    @property
    def is_rival(self) -> bool:
        return self.method.library != OURS


def methods_of(job: Job) -> list[Method]:
    """Who takes part in a job."""
    return [m for m in METHODS if job.kind in m.kinds and (not m.jobs or job.name in m.jobs)]


def rows_of(job: Job, runs: list[Run]) -> list[Row]:
    """One row for each method that has a run in the job."""
    rows = []
    for method in methods_of(job):
        mine = [run for run in runs if (run.job, run.method) == (job.name, method.name)]
        if not mine:
            continue
        mine = mine[1:] if method.keeps_cache and len(mine) > 1 else mine  # the first one filled the cache
        times = {
            name: Spread.of([getattr(run, name) for run in mine if getattr(run, name) is not None])
            for name in ("cold", "warm", "peak")
        }
        scores = [run.accuracy for run in mine if run.accuracy is not None]
        trouble = next((run.trouble for run in mine if run.trouble), "")
        accuracy = statistics.median(scores) if scores else None
        rows.append(Row(job.name, method, **times, accuracy=accuracy, n_runs=len(mine), trouble=trouble))
    return rows


def missing(job: Job, rows: list[Row], failures: dict[str, str]) -> dict[str, str]:
    """By library without a row: why it has none; "" where nothing is known, that is, it was not run."""
    if job.kind not in COMPARED:
        return {}
    have = {row.method.library for row in rows}
    known = ABSENT.get(job.kind, {}) | ABSENT.get(job.name, {})
    reasons = {}
    for library in LIBRARIES:
        if library.name in have or (library.name == "NumPy" and job.kind not in ("histograms", "spectra")):
            continue
        failed = failures.get(library.name)
        reasons[library.name] = f"was not installed: {failed}" if failed else known.get(library.name, "")
    return reasons


def too_long(method: Method, job: Job, runs: list[Run], limit: float) -> str:
    """Why a method is not started on a million points, from its time at 50 000; "" where it may finish.

    Points are 20 times as many; so is the least time of a method, and 400 times that of a quadratic one.
    """
    if not job.name.endswith("-1m"):
        return ""
    small = [r for r in runs if (r.job, r.method) == (job.name.replace("-1m", "-50k"), method.name)]
    times = [run.warm for run in small if run.warm is not None]
    if small and not times:
        return f"not run: it did not finish 50 000 points in {limit:g} s"
    factor = 400 if method.quadratic else 20
    expected = factor * statistics.median(times) if times else 0.0
    if expected <= limit:
        return ""
    return f"not run: {factor} × its time at 50 000 points is {expected:.0f} s, the limit {limit:g} s"
