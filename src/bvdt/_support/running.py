"""What every long computation shares: its number of threads and its random numbers."""

from __future__ import annotations

import os
from typing import Any

import numpy as np


def n_threads(n_jobs: int | None) -> int:
    """Number of threads for ``n_jobs``: None or −1 is every core this process may use, −2 all but one, …"""
    if n_jobs is not None and (isinstance(n_jobs, bool) or n_jobs == 0 or n_jobs != int(n_jobs)):
        raise ValueError(
            f"n_jobs needs None, a positive integer or a negative one as in joblib; got {n_jobs!r}"
        )
    if n_jobs is not None and n_jobs > 0:
        return int(n_jobs)
    try:
        available = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every platform
        available = os.cpu_count() or 1
    return max(1, available + 1 + (-1 if n_jobs is None else int(n_jobs)))


def generator(random_state: Any) -> np.random.Generator:
    """NumPy generator from None, an int, a ``Generator`` or a ``RandomState`` (as scikit-learn passes)."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1, size=4))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            "random_state needs None, a non-negative integer, or NumPy's Generator or RandomState; "
            f"got {random_state!r}"
        ) from None
