"""What every long computation shares: its number of threads and its random numbers."""

from __future__ import annotations

import math
import numbers
import os
from typing import TypeAlias

import numpy as np

from . import limits

# About a millisecond: on a busy machine threads wait for each other longer, and spin meanwhile.
SERIAL = 1 << 20

RandomState: TypeAlias = int | np.integer | np.random.Generator | np.random.RandomState | None

_state = {"forked": False, "team": False}  # whether this process, or the one it was forked from, had threads


def _after_fork() -> None:
    _state["forked"] = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def n_threads(n_jobs: int | None, work: float = math.inf) -> int:
    """Number of threads for ``n_jobs``: None or −1 is every core this process may use, −2 all but one, …

    ``work``: additions or so that are to be done; for less than ``SERIAL`` it is one thread.

    None also obeys ``OMP_NUM_THREADS``. More than there are cores is as many as there are cores. A forked
    process runs on one thread: OpenMP's other threads stayed behind, and it would wait for them for ever.
    """
    _check(n_jobs)
    if work < SERIAL:
        return 1
    threads = _wanted(n_jobs)
    if _state["forked"] and (n_jobs is None or _state["team"]):
        return 1
    _state["team"] |= threads > 1
    return threads


def _check(n_jobs: int | None) -> None:
    if n_jobs is not None and not (_is_integer(n_jobs) and n_jobs != 0):
        raise ValueError(
            f"n_jobs needs None, a positive integer or a negative one as in joblib; got {n_jobs!r}"
        )


def _wanted(n_jobs: int | None) -> int:
    cores = available_cores()
    if n_jobs is None:
        return min(cores, _from_environment() or cores)
    return min(int(n_jobs), cores) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def _is_integer(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    return math.isfinite(value) and float(value).is_integer()


def available_cores() -> int:
    """Cores that this process may use: of its affinity, and of its control group's share of time."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every platform
        cores = os.cpu_count() or 1
    return max(1, math.ceil(min(cores, limits.cpu_quota())))


def _from_environment() -> int | None:
    """``OMP_NUM_THREADS``, of a list its first entry; None where it is not a number."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) > 0 else None


def generator(random_state: RandomState) -> np.random.Generator:
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
