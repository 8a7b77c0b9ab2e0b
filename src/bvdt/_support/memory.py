"""How much memory is left, and refusing what would not fit before it is allocated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from . import limits

GIB = 2**30


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
def explain_memory_error(purpose: str) -> Iterator[None]:
    """A MemoryError from in here without a figure, as Python's own and C++'s, is raised with the GiB."""
    try:
        yield
    except MemoryError as error:
        if names_figure(error):
            raise
        raise MemoryError(refusal(purpose)) from error


def names_figure(error: MemoryError) -> bool:
    """Whether it says how many GiB; NumPy's do, Python's own say nothing."""
    return re.search(r"\d\.? [KMGT]iB", str(error)) is not None
