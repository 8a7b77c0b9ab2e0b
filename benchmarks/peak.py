"""The most memory that this process held at one time, by the operating system's count, from a moment on.

Of every array and every library's workspace, unlike a tracer of Python's allocations.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import psutil

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def start_peak() -> float:
    """Bytes in use now, from which on ``peak_bytes`` counts (elsewhere than on Linux: from the start)."""
    try:
        _CLEAR.write_text("5")  # the high-water mark starts anew from what is in use
    except OSError:
        return peak_bytes()
    return float(psutil.Process().memory_info().rss)


def peak_bytes() -> float:
    """The most bytes in use at one time since ``start_peak``."""
    if _STATUS.exists():  # the one figure that ``start_peak`` can set back
        lines = _STATUS.read_text().splitlines()
        return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    unit = 1 if sys.platform == "darwin" else 1024
    return float(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
