"""The largest memory this process has used since a moment, as the operating system counts it."""

from __future__ import annotations

import sys
from pathlib import Path

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def start() -> float | None:
    """Bytes in use now, from which on ``peak`` counts; None where the system does not say."""
    try:
        _CLEAR.write_text("5")  # Linux: the high-water mark starts anew from what is in use
        return _status("VmRSS")
    except OSError:
        return peak()


def peak() -> float | None:
    """The most bytes in use at one time since ``start`` (on Linux; elsewhere since the process began)."""
    try:
        return _status("VmHWM")
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return float(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def _status(name: str) -> float:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return 1024.0 * int(line.split()[1])
    raise OSError(f"{_STATUS} has no line {name}")
