"""bvdt beside its rivals: installs, measures, and writes docs/benchmarks (``make bench``).

    python benchmarks/run.py                          all that is not measured yet, then the page
    python benchmarks/run.py --job imdb --job growth  these jobs (or the group "growth")
    python benchmarks/run.py --only faiss             only the methods whose name contains this
    python benchmarks/run.py --fresh                  forgets what was measured (of the jobs named, or all)
    python benchmarks/run.py --report                 only the page, from what was measured
    python benchmarks/run.py --list                   the jobs and their methods
    python benchmarks/run.py --no-page                only measures
    python benchmarks/run.py --points 1000            a trial on so many points of each job, kept apart
    python benchmarks/run.py --scripts import_time    the single benchmarks beside this file

Each finished run is a line of build/bench/runs.jsonl; a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness import acceptance, environments, measure, render, summary
from harness.jobs import Job, chosen
from harness.measure import THREADS, Record
from harness.methods import LIBRARIES, METHODS, Method

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "bench"
PAGE = ROOT / "docs" / "benchmarks"
PROFILED = {
    "imdb": "ours:text_one_tree",
    "blobs-50k": "ours:dense_one_tree",
    "kl-50k": "ours:kl_one_tree",
    "is-50k": "ours:spectra_one_tree",
    "embedding": "ours:embed_one_tree",
    "blobs-1m": "ours:dense_one_tree",
}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--job", action="append", default=[])
    parser.add_argument("--only", action="append", default=[], help="methods whose name contains this")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for each call of a method")
    parser.add_argument(
        "--slow", type=float, default=float("inf"), help="seconds; what takes longer runs once"
    )
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--no-page", action="store_true", help="only measure")
    parser.add_argument("--points", type=int)
    parser.add_argument("--scripts", nargs="+", default=[])
    return parser.parse_args()


def main() -> None:
    wanted = options()
    for name in wanted.scripts:
        subprocess.run([sys.executable, Path(__file__).with_name(f"{name}.py")], check=True)
    if wanted.scripts:
        return
    jobs = chosen(wanted.job)
    if wanted.list:
        for job in jobs:
            print(f"{job.name}: {', '.join(m.name for m in summary.methods_of(job))}")
        return
    work = WORK if wanted.points is None else WORK / f"trial-{wanted.points}"
    record = Record(work / "runs.jsonl")
    if wanted.fresh:
        record.drop({job.name for job in jobs})
    if not wanted.report:
        for library in LIBRARIES:
            if not wanted.only or any(m.library == library.name for m in METHODS if named(m, wanted.only)):
                environments.install(library)
        for job in jobs:
            measure_job(job, record, wanted, work)
    if not wanted.no_page:
        write_page(record, PAGE if wanted.points is None else work)


def named(method: Method, only: list[str]) -> bool:
    return not only or any(part in method.name for part in only)


def measure_job(job: Job, record: Record, wanted: argparse.Namespace, work: Path) -> None:
    """All that is left of one job, and the profile of our own method."""
    failed = {library.name for library in LIBRARIES if environments.failure(library)}
    methods = [m for m in summary.methods_of(job) if m.library not in failed and named(m, wanted.only)]
    runs = record.runs
    record.add("rules", {"job": job.name, "limit": wanted.limit, "slow": min(wanted.slow, 1e9)})
    for method, repeat in measure.pending(job, methods, runs, wanted.repeats, wanted.slow):
        place = job.prepare(work / "data", wanted.points)
        reason = summary.too_long(method, job, runs, wanted.limit)
        run = (
            measure.Run(job.name, method.name, repeat, trouble=reason)
            if reason
            else measure.measure(job, method, repeat, place, wanted.limit)
        )
        record.add("run", asdict(run))
        runs.append(run)
        print(shown(run), flush=True)
    done = any(line["profile"]["job"] == job.name for line in record.lines if "profile" in line)
    if not done and any(method.call == PROFILED.get(job.name) for method in methods):
        profile(job, record, work)


def profile(job: Job, record: Record, work: Path) -> None:
    """Our own stages, in a process of their own."""
    place, out = job.prepare(work / "data"), work / "stages.json"
    command = [sys.executable, "-m", "harness.stages", PROFILED[job.name], place / "data", out]
    threads = {"OMP_NUM_THREADS": str(THREADS), "OPENBLAS_NUM_THREADS": str(THREADS)}
    subprocess.run(command, check=True, cwd=Path(__file__).parent, env=os.environ | threads)
    record.add("profile", {"job": job.name, "stages": json.loads(out.read_text())})


def shown(run: measure.Run) -> str:
    """One line on the screen."""
    figures = {"warm": run.warm, "cold": run.cold, "accuracy": run.accuracy}
    times = ", ".join(f"{name} {value:.3f}" for name, value in figures.items() if value is not None)
    peak = f", peak {run.peak / 2**20:.0f} MiB" if run.peak else ""
    trouble = f" [{run.trouble}]" if run.trouble else ""
    return f"{run.job} #{run.repeat + 1} {run.method}: {times}{peak}, load {run.load:.1f}{trouble}"


def write_page(record: Record, folder: Path) -> None:
    """results.json, README.md and the pictures; prints which requirements hold."""
    from harness import plot

    folder.mkdir(parents=True, exist_ok=True)
    jobs = chosen([])
    failures = {x.name: environments.failure(x) or "" for x in LIBRARIES}
    rows = {job.name: summary.rows_of(job, record.runs) for job in jobs}
    reasons = {job.name: summary.missing(job, rows[job.name], failures) for job in jobs}
    lines = acceptance.lines(rows, reasons)
    facts: dict[str, Any] = {
        "machine": machine(),
        "versions": {x.name: environments.versions(x) for x in LIBRARIES},
        "rules": {line["rules"]["job"]: line["rules"] for line in record.lines if "rules" in line},
        "profiles": {p["profile"]["job"]: p["profile"]["stages"] for p in record.lines if "profile" in p},
    }
    (folder / "README.md").write_text(render.markdown(facts, rows, reasons))
    results = facts | {
        "requirements": [asdict(line) for line in lines],
        "absent": {job: found for job, found in reasons.items() if found},
        "runs": [asdict(run) for run in record.runs],
    }
    (folder / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    plot.time_accuracy(rows, folder / "time_accuracy.png")
    plot.growth(rows, folder / "growth.png")
    for line in lines:
        word = {True: "holds", False: "FAILS", None: "open "}[line.holds]
        print(f"{word} {line.number}. {line.text}: {line.figures}")


def machine() -> str:
    """Cores and system, in words."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GiB, {platform.system()}, "
        f"Python {platform.python_version()}, {THREADS} threads for everyone"
    )


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the process under way is ended too
    main()
