"""What the system grants this process: its control groups' limits (versions 1 and 2) and its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
GROUPS = Path("/proc/self/cgroup")


@cache
def cpu_quota() -> float:
    """Cores' worth of time, read once: every product asks; infinity without a limit."""
    quotas = [float("inf")]
    for folder in _folders("cpu"):
        words = (_read(folder / "cpu.max") or "").split()  # version 2: "max 100000" or "150000 100000"
        if len(words) != 2:
            words = [_read(folder / f"cpu.cfs_{name}_us") or "" for name in ("quota", "period")]
        quota, period = (float(word) if word.isdecimal() else 0.0 for word in words)
        if quota > 0 and period > 0:
            quotas.append(quota / period)
    return min(quotas)


def memory_left() -> float:
    """Bytes until a control group's limit or the address space's (``ulimit -v``); infinity without one."""
    left = [_address_space_left()]
    for folder in _folders("memory"):
        for limit, used in (
            ("memory.max", "memory.current"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ):
            most, now = _number(folder / limit), _number(folder / used)
            if most is not None and now is not None and most < 2**60:  # 2⁶³ is none
                left.append(max(most - now + _reclaimable(folder), 0.0))
    return min(left)


def _reclaimable(folder: Path) -> float:
    """Bytes of files' pages that the group counts but gives back when they are needed."""
    names = ("inactive_file", "total_inactive_file")
    lines = (line.split() for line in (_read(folder / "memory.stat") or "").splitlines())
    return max((float(words[1]) for words in lines if len(words) == 2 and words[0] in names), default=0.0)


def _address_space_left() -> float:
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most == resource.RLIM_INFINITY:
            return float("inf")
        used = int((_read(Path("/proc/self/statm")) or "0").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, AttributeError, OSError, ValueError, IndexError):
        return float("inf")
    return max(float(most - used), 0.0)


@cache
def _folders(controller: str) -> tuple[Path, ...]:
    """The control group of this process and all above it, of either version."""
    return tuple(_find_folders(controller))


def _find_folders(controller: str) -> Iterator[Path]:
    for line in (_read(GROUPS) or "").splitlines():
        number, names, path = [*line.split(":", 2), "", ""][:3]
        if number == "0" and not names:
            root = ROOT
        elif controller in names.split(","):
            root = ROOT / controller
        else:
            continue
        folder = root / path.lstrip("/")
        yield from (place for place in (folder, *folder.parents) if place.is_relative_to(root))


def _number(path: Path) -> float | None:
    text = _read(path)
    return float(text) if text is not None and text.isdecimal() else None


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except (OSError, ValueError):
        return None
