"""What this build is made of: for bug reports, and to see its SIMD level and how many threads it has."""

from __future__ import annotations

import platform
from importlib.metadata import version

import numpy as np
import scipy

from .. import _core
from .running import n_threads


def show_versions() -> None:
    """Print bvdt's version, its compiler, SIMD level, OpenMP and threads, and the libraries beneath.

    Examples
    --------
    >>> import bvdt
    >>> bvdt.show_versions()
    bvdt...
    compiler...
    """
    built = _core.build_info()
    rows = {
        "bvdt": version("bvdt"),
        "compiler": built["compiler"],
        "SIMD level": built["simd"],
        "OpenMP": built["openmp_version"] if built["openmp"] else "no: built without threads",
        "threads": str(n_threads(None) if built["openmp"] else 1),
        "Python": f"{platform.python_version()} on {platform.platform()}",
        "NumPy": np.__version__,
        "SciPy": scipy.__version__,
    }
    width = max(map(len, rows))
    for name, value in rows.items():
        print(f"{name:<{width}}  {value}")
