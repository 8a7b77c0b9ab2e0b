"""Measures: one process per run, a limit of time, and a file of JSON lines that a later run goes on with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .child import peak_bytes, write
from .environments import python_of
from .jobs import Job
from .methods import LIBRARIES, Method

BENCHMARKS = Path(__file__).parents[1]
THREADS = 2


@dataclass(frozen=True)
class Run:
    """One run of one method; times in seconds, ``peak`` in bytes, None where there is none.

    A run that was stopped in its first call has the peak it had reached by then.
    """

    job: str
    method: str
    repeat: int
    cold: float | None = None
    warm: float | None = None
    peak: int | None = None
    accuracy: float | None = None
    trouble: str = ""  # why a time is missing
    load: float = 0.0  # of the machine, the minute before the run

    @property
    def key(self) -> tuple[str, str, int]:
        return self.job, self.method, self.repeat


class Record:
    """The runs so far, in a file of JSON lines to which each new one is added as soon as it is done."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text() if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]  # a last line without its end was cut off
        if whole != text:
            path.write_text(whole)
        self.lines: list[dict[str, Any]] = [json.loads(line) for line in whole.splitlines()]

    @property
    def runs(self) -> list[Run]:
        return [Run(**line["run"]) for line in self.lines if "run" in line]

    def add(self, kind: str, what: dict[str, Any]) -> None:
        self.lines.append({kind: what})
        with self.path.open("a") as file:
            file.write(json.dumps({kind: what}) + "\n")

    def drop(self, jobs: set[str]) -> None:
        """Forgets the runs and the profiles of these jobs."""
        self.lines = [line for line in self.lines if next(iter(line.values()))["job"] not in jobs]
        self.path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))


def pending(
    job: Job, methods: list[Method], runs: list[Run], repeats: int, slow: float = float("inf")
) -> Iterator[tuple[Method, int]]:
    """What is left to do, all methods once, then all once more, so that the machine's moods are shared.

    A method that had trouble once is not tried again, nor one whose two calls together took more than
    ``slow`` seconds, unless its first run was there to fill a cache. ``runs`` may grow while this goes on.
    """
    for repeat in range(repeats):
        for method in methods:
            mine = [run for run in runs if (run.job, run.method) == (job.name, method.name)]
            counted = mine[1:] if method.keeps_cache else mine
            late = any((run.cold or 0.0) + (run.warm or 0.0) > slow for run in counted)
            if late or any(run.trouble or run.repeat == repeat for run in mine):
                continue
            yield method, repeat


def measure(job: Job, method: Method, repeat: int, place: Path, limit: float) -> Run:
    """Runs the method in a new process; ``limit`` holds for each of its two calls."""
    library = next(library for library in LIBRARIES if library.name == method.library)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as out:
        kept = place.parent / "numba" / f"{job.name}-{method.name}".replace(" ", "")
        cache = kept if method.keeps_cache else Path(out)
        command = [python_of(library), "-m", "harness.child", method.call, place / "data", out]
        trouble = supervise([str(part) for part in command], _environment(cache), Path(out), limit)
        figures = {}
        for name in ("stopped", "cold", "warm"):
            file = Path(out) / f"{name}.json"
            figures |= json.loads(file.read_text()) if file.exists() else {}
        result = Path(out) / "result.npy"
        accuracy = _accuracy(np.load(result), place) if "warm" in figures else None
    return Run(job.name, method.name, repeat, accuracy=accuracy, trouble=trouble, load=load, **figures)


def supervise(command: list[str], environment: dict[str, str], out: Path, limit: float) -> str:
    """Waits for the process, at most ``limit`` seconds for each of its two calls; says what went wrong."""
    environment = environment | {"BENCH_STARTED": repr(time.monotonic())}
    with tempfile.TemporaryFile("w+") as errors:
        streams = {"stdout": subprocess.DEVNULL, "stderr": errors}
        child = subprocess.Popen(command, env=environment, cwd=BENCHMARKS, start_new_session=True, **streams)
        try:
            late = _wait(child, out / "cold.json", limit)
        finally:  # also when the harness itself is stopped
            if child.poll() is None:
                write(out / "stopped.json", {"peak": peak_bytes(child.pid) or None})
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        if late or child.returncode == 0:
            return late
        errors.seek(0)
        last = (errors.read().strip().splitlines() or [""])[-1]
        killed = f"killed by signal {-child.returncode}" if child.returncode < 0 else "failed"
        return f"{killed}: {last}" if last else killed


def _wait(child: subprocess.Popen[bytes], first_done: Path, limit: float) -> str:
    """Until the process ends or is late, and then how; the limit starts anew once ``first_done`` is there."""
    end, first = time.monotonic() + limit, True
    while child.poll() is None:
        time.sleep(0.05)
        if first and first_done.exists():
            end, first = time.monotonic() + limit, False
        if time.monotonic() > end:
            return f"the {'first' if first else 'second'} call did not finish in {limit:g} s"
    return ""


def _environment(cache: Path) -> dict[str, str]:
    """Two threads for everyone; compiled code is looked for, and left, in ``cache`` alone."""
    names = ("OMP", "OPENBLAS", "MKL", "NUMBA")
    threads = {f"{name}_NUM_THREADS": str(THREADS) for name in names}
    caches = {"NUMBA_CACHE_DIR": str(cache / "numba"), "KEOPS_CACHE_FOLDER": str(cache / "keops")}
    for folder in caches.values():
        Path(folder).mkdir(parents=True, exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))}
    return kept | threads | caches | {"BENCH_THREADS": str(THREADS), "PYTHONPATH": str(BENCHMARKS)}


def _accuracy(result: np.ndarray, place: Path) -> float | None:
    """Share of the unlabeled points in their true class; coordinates are judged by a vote of 10 labeled."""
    truth, labels = np.load(place / "truth.npy"), np.load(place / "data" / "labels.npy")
    unknown = labels < 0
    if result.ndim == 2 and result.shape[1] == 10 and len(result) == len(truth):
        from sklearn.neighbors import KNeighborsClassifier

        vote = KNeighborsClassifier(10, weights="distance").fit(result[~unknown], labels[~unknown])
        result = vote.predict(result)
    if result.shape != truth.shape or result.dtype.kind not in "iu":
        return None
    return float((result == truth)[unknown].mean())
