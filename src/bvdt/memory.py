"""How much memory is left, and refusing what would not fit before it is allocated."""

from __future__ import annotations

import os
from pathlib import Path

GIB = 2**30


def available_bytes() -> float:
    """Memory that can be had without swapping; infinity where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * int(line.split()[1])
    except OSError:
        pass
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return float("inf")


def require(n_bytes: float, purpose: str) -> None:
    """MemoryError that names the GiB when ``n_bytes`` exceed what is available."""
    available = available_bytes()
    if n_bytes > available:
        raise MemoryError(f"{purpose} needs {n_bytes / GIB:.1f} GiB; {available / GIB:.1f} GiB are available")
