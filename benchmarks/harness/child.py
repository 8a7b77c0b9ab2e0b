"""Runs one method in its library's environment: twice, and writes what each call took.

    python -m harness.child CALL DATA_FOLDER OUT_FOLDER

``cold`` is from the start of the process (BENCH_STARTED, the system's monotonic clock, set by the harness) to
the result of the first call: the interpreter, imports, the reading of the data, compilation, the method.
``warm`` is the second call in the same process on the same data, nothing else.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
from pathlib import Path


def peak_bytes(process: int | str = "self") -> int:
    """The largest resident memory of a process so far; 0 where the system tells only a process its own.

    Not getrusage's on Linux: that one starts from the memory of the process that started this one.
    """
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss if process == "self" else 0
    lines = status.read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def main(call: str, data_folder: str, out_folder: str) -> None:
    module, function = call.split(":")
    method = getattr(importlib.import_module(f"rivals.{module}"), function)
    from rivals.common import Data

    data = Data.load(Path(data_folder))
    result = method(data)
    times = 1
    if callable(result):  # something built, then run again and again
        method, times = result, importlib.import_module(f"rivals.{module}").TIMES
        result = method()
    figures = {"cold": time.monotonic() - float(os.environ["BENCH_STARTED"]), "peak": peak_bytes()}
    out = Path(out_folder)
    write(out / "cold.json", figures)
    import numpy as np

    np.save(out / "result.npy", result)
    start = time.perf_counter()
    method(data) if times == 1 else method()
    write(out / "warm.json", {"warm": (time.perf_counter() - start) / times})


def write(path: Path, figures: dict[str, float]) -> None:
    """Whole or not at all, as the harness reads it while this process may be killed."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(figures))
    part.rename(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
