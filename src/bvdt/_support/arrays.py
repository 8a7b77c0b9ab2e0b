"""Names for the array types that all rooms use, and integers checked once for all."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int32]  # nodes, points and other indices that are many
Long = NDArray[np.int64]  # sums of sizes
Index = NDArray[np.intp]  # what NumPy itself returns
Mask = NDArray[np.bool_]

# As ``numpy.load`` tells of a header that it cannot read, besides ValueError, and zipfile of a member with a
# password.
UNREADABLE = (SyntaxError, TokenError, RecursionError, OverflowError, RuntimeError, NotImplementedError)


BATCH = 1 << 20  # values handled at once, where all of them would take memory


def batches(n: int, width: int, first: int = 0) -> Iterator[slice]:
    """Slices of first … first + n − 1, of about ``BATCH`` values in rows of that width."""
    step = max(1, BATCH // max(width, 1))
    return (slice(start, min(start + step, first + n)) for start in range(first, first + n, step))


def checked_integer(value: Any, name: str, least: int | None = None, most: int | None = None) -> int:
    """``value`` as an int, refused by ``name`` unless it is an integer from ``least`` to ``most``."""
    whole = isinstance(value, numbers.Real) and not isinstance(value, bool) and value == value // 1
    if whole and (least is None or value >= least) and (most is None or value <= most):
        return int(value)
    if least is not None and most is not None:
        needed = f"an integer from {least} to {most}"
    else:
        needed = "an integer" if least is None else f"an integer ≥ {least}"
    raise ValueError(f"{name} needs {needed}; got {value!r}")
