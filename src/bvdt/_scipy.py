"""SciPy, imported when it is needed: dense data are walked, and their labels propagated, without it.

``scipy.sparse.linalg`` takes 0.2 s to import, longer than a tree over 50 000 points takes to build.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np


class _Package:
    """``scipy.sparse``, ``scipy.special`` and so on, each imported when it is first named."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return import_module(f"scipy.{name}")


scipy = _Package()


def issparse(X: Any) -> bool:
    """Whether X is a sparse array or matrix of SciPy's; an ndarray is known not to be one."""
    return not isinstance(X, np.ndarray) and bool(scipy.sparse.issparse(X))
