"""Lists of 15 neighbors: seconds against recall of bvdt and of the libraries one would use otherwise.

    python benchmarks/neighbors.py                          all that is not measured yet, then the page
    python benchmarks/neighbors.py --data unit --method faiss     only names that contain these
    python benchmarks/neighbors.py --setting "M=8|M=12"     only indices whose name contains one of these
    python benchmarks/neighbors.py --prepare                only the points and their true lists
    python benchmarks/neighbors.py --page                   only the page, from what is kept
    python benchmarks/neighbors.py --points 2000            a trial on so many points of each, kept apart
    python benchmarks/neighbors.py one METHOD DATA INDICES  a method in this environment, a line per setting

Each method runs over its grid in one process on two threads (THREADS). A library's index is built once; how
much effort its search needs for a recall of 0.90, 0.95 and 0.99 is tried on 500 rows with exact answers,
and at these efforts all points are searched. A setting's time is that from the points to the lists, index
included, by the clock and in processor seconds: the least of up to three runs while they take less than ten
seconds together. What compiles is run once before. Results are kept in build/bench/neighbors and a run
goes on where the last one ended; ``--no-page`` leaves the page alone, so that several may run side by side.
Rivals live in .venv-bench/neighbors, which is made if it is not there. ``--by cpu`` compares processor
seconds in the page, for a machine that does other work, and ``--note`` says there what machine it was.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from neighbors_data import DATA, KEPT, ROOT, K, prepare, prepared
from neighbors_methods import METHODS, Family

RIVALS = ROOT / ".venv-bench" / "neighbors"
RECALLS = (0.90, 0.95, 0.99)
SHORT, TIMES = 10.0, 3


def recall_of(lists: Any, rows: Any, exact: Any) -> float:
    """Of lists that belong to these rows, in their order."""
    found = ([int(j) for j in each if j != i][:K] for i, each in zip(rows, lists, strict=True))
    return float(np.mean([len({*a} & {*b.tolist()}) / K for a, b in zip(found, exact, strict=True)]))


def timed(run: Callable[[], Any]) -> tuple[Any, np.ndarray]:
    """The result and the least seconds, clock and processor, of up to three runs while they are short."""
    seconds: list[np.ndarray] = []
    while not seconds or (len(seconds) < TIMES and sum(s[0] for s in seconds) < SHORT):
        start = np.array([time.perf_counter(), time.process_time()])
        result = run()
        seconds.append(np.array([time.perf_counter(), time.process_time()]) - start)
    return result, np.min(seconds, axis=0)


def efforts_of(family: Family, index: Any, points: Any, rows: Any, exact: Any) -> list[int]:
    """The least effort for each recall, and the largest where the last recall is not reached."""
    if len(family.efforts) == 1:
        return list(family.efforts)
    wanted, found = list(RECALLS), []
    for effort in family.efforts:
        reached = recall_of(family.search(index, points, effort), rows, exact)
        if reached >= wanted[0]:
            found.append(effort)
            wanted = [recall for recall in wanted if recall > reached]
        if not wanted:
            return found
    return sorted({*found, family.efforts[-1]}) if found else []


def measure_family(family: Family, X: Any, rows: Any, exact: Any, done: list[str]) -> None:
    """A line of JSON per effort that is not done, and one that says that there are no more."""
    index, building = timed(family.build)
    for effort in efforts_of(family, index, X[rows], rows, exact):
        setting = family.setting(effort)
        if setting in done:
            continue
        lists, searching = timed(lambda e=effort: family.search(index, X, e))
        wall, busy = building + searching
        reached = recall_of([lists[i] for i in rows], rows, exact)
        say({"setting": setting, "wall": wall, "cpu": busy, "recall": reached, "building": building[0]})
    say({"finished": family.name, "building": building[0]})


def measure_one(method: str, name: str, wanted: str, done: list[str]) -> None:
    """All indices of a method that are wanted and not done; one that fails does not end the others."""
    X, rows, exact = prepared(name)
    kind = DATA[name].kind
    for family in next(m for m in METHODS[kind] if m.__name__ == method)(X, kind):
        if family.name in done or (wanted and not any(part in family.name for part in wanted.split("|"))):
            continue
        try:
            measure_family(family, X, rows, exact, done)
        except Exception as error:  # a library's own
            say({"failed": family.name, "why": f"{type(error).__name__}: {error}"})


def say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def python_of(method: str) -> Path:
    if method == "bvdt":
        return Path(sys.executable)
    python = RIVALS / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(RIVALS)], check=True)
        names = ("faiss-cpu==1.15.1", "hnswlib==0.8.0", "pynndescent==0.7.0", "nmslib==2.1.2", "scipy")
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *names], check=True)
    return python


def measure(name: str, method: str, wanted: str) -> None:
    """Adds to the file of a data set and a method what it lacks."""
    prepare(name)
    file = KEPT / f"{name}.{method}.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    done = [line.get("setting") or line["finished"] for line in lines if "failed" not in line]
    command = [str(python_of(method)), __file__, "one", method, name, wanted, *done]
    with file.open("a", encoding="utf-8") as kept:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            if not line.startswith("{"):
                continue  # a library's own words
            kept.write(line)
            kept.flush()
            print(name, method, line.strip(), flush=True)
        if process.wait():
            print(f"{name} {method}: exit status {process.returncode}", flush=True)


def main() -> None:
    if sys.argv[1:2] == ["one"]:
        return measure_one(*sys.argv[2:5], sys.argv[5:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", default="")
    parser.add_argument("--method", default="")
    parser.add_argument("--setting", default="", help="only indices whose name contains one of these, by |")
    parser.add_argument("--prepare", action="store_true", help="only make the points")
    parser.add_argument("--page", action="store_true", help="only write the page from what is kept")
    parser.add_argument("--no-page", action="store_true", help="only measure")
    parser.add_argument("--by", choices=["wall", "cpu"], default="wall", help="what the page compares")
    parser.add_argument("--note", default="", help="a sentence for the page on the machine")
    parser.add_argument("--points", type=int, help="a trial on so many points")
    chosen = parser.parse_args()
    if chosen.points and not os.environ.get("NEIGHBORS_POINTS"):  # read when the modules are imported
        os.environ["NEIGHBORS_POINTS"] = str(chosen.points)
        os.execv(sys.executable, [sys.executable, *sys.argv])
    for name, (_, _, kind) in DATA.items():
        if chosen.data not in name or chosen.page:
            continue
        if chosen.prepare:
            prepare(name)
            continue
        for method in METHODS[kind]:
            if chosen.method in method.__name__:
                measure(name, method.__name__, chosen.setting)
    if not (chosen.prepare or chosen.no_page or chosen.points):
        from neighbors_page import write

        write({name: points.title for name, points in DATA.items()}, KEPT, chosen.by, chosen.note)
    return None


if __name__ == "__main__":
    main()
