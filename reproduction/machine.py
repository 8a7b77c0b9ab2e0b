"""The machine that the numbers come from, as the page names it."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import numpy as np
import scipy
import sklearn

from bvdt._support import memory
from bvdt.documents.files import atomic

__all__ = ["here", "libraries", "machine"]


def machine(folder: Path) -> str:
    """That of the run that made the folder; later runs only add to it."""
    path = folder / "machine.txt"
    if not path.exists():
        with atomic(path) as file:
            file.write(here())
    return path.read_text(encoding="utf-8")


def here() -> str:
    """This machine."""
    try:
        gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / memory.GIB
    except (AttributeError, OSError, ValueError):
        gib = float("nan")
    return (
        f"{os.cpu_count()} cores of {platform.machine()}, {gib:.0f} GiB of memory, Python "
        f"{platform.python_version()}, {libraries()}"
    )


def libraries() -> str:
    """The versions that numbers may follow from."""
    return f"NumPy {np.__version__}, SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}"
