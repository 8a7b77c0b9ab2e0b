"""How much memory is left, what was used at most, and refusing what would not fit before it is allocated."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import limits

GIB = 2**30
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def available_bytes() -> float:
    """Memory that this process can have without swapping, within its own limits."""
    import psutil  # here, as in the others: it takes 20 ms, which most calls need not pay

    return min(float(psutil.virtual_memory().available), limits.memory_left())


def require(n_bytes: float, purpose: str) -> None:
    """MemoryError that names the GiB when ``n_bytes`` exceed what is available."""
    available = available_bytes()
    if n_bytes > available:
        raise MemoryError(f"{purpose} needs {n_bytes / GIB:.1f} GiB; {available / GIB:.1f} GiB are available")


def refusal(purpose: str) -> str:
    """The sentence for what asked for memory and was refused by the system."""
    return f"{purpose} needs more memory than the {available_bytes() / GIB:.1f} GiB that are available"


@contextmanager
def telling(purpose: str) -> Iterator[None]:
    """A MemoryError from in here that names no figure, as Python's own and C++'s, is told with the GiB."""
    try:
        yield
    except MemoryError as error:
        if names_figure(error):
            raise
        raise MemoryError(refusal(purpose)) from error


def names_figure(error: MemoryError) -> bool:
    """Whether it says how many GiB; NumPy's do, Python's own say nothing."""
    return re.search(r"\d\.? [KMGT]iB", str(error)) is not None


def start_peak() -> float:
    """Bytes in use now, from which on ``peak_bytes`` counts (elsewhere than on Linux: from the start)."""
    try:
        _CLEAR.write_text("5")  # the high-water mark starts anew from what is in use
    except OSError:
        return peak_bytes()
    import psutil

    return float(psutil.Process().memory_info().rss)


def peak_bytes() -> float:
    """The most bytes in use at one time since ``start_peak``."""
    if sys.platform == "win32":
        import psutil

        return float(psutil.Process().memory_info().peak_wset)
    if _STATUS.exists():  # the one figure that ``start_peak`` can set back
        lines = _STATUS.read_text().splitlines()
        return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    import resource  # not on Windows

    unit = 1 if sys.platform == "darwin" else 1024
    return float(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
