"""Names for the array types that all packages use, and integers checked once for all."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from tokenize import TokenError
from typing import Any, SupportsInt, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Single = NDArray[np.float32]
Numbers = NDArray[np.float32 | np.float64]  # values in the precision that they come in
Int = NDArray[np.int32]  # nodes, points and other indices that are many
Long = NDArray[np.int64]  # sums of sizes
Index = NDArray[np.intp]  # what NumPy itself returns
Real = TypeVar("Real", np.float32, np.float64)  # a precision that a function keeps
Mask = NDArray[np.bool_]
Integers = NDArray[np.integer]  # indices of any width
Chosen: TypeAlias = NDArray[np.integer] | NDArray[np.bool_] | slice  # rows
ArraysByName: TypeAlias = dict[str, NDArray[Any]]  # of a file, of any dtype
LabelArray: TypeAlias = NDArray[Any]  # class names of any dtype: integers, strings, objects

# What ``numpy.load`` raises for a header that it cannot read, besides ValueError, and zipfile for a member
# with a password.
UNREADABLE = (SyntaxError, TokenError, RecursionError, OverflowError, RuntimeError, NotImplementedError)


BATCH = 1 << 20  # values handled at once, where all of them would take memory


def batches(n: int, width: int, first: int = 0) -> Iterator[slice]:
    """Slices of first … first + n − 1, of about ``BATCH`` values in rows of that width."""
    step = max(1, BATCH // max(width, 1))
    return (slice(start, min(start + step, first + n)) for start in range(first, first + n, step))


def checked_integer(value: object, name: str, least: int | None = None, most: int | None = None) -> int:
    """``value`` as an int, refused by ``name`` unless it is an integer from ``least`` to ``most``."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool) and value == value // 1:
        whole = int(cast(SupportsInt, value))
        if (least is None or whole >= least) and (most is None or whole <= most):
            return whole
    if least is not None and most is not None:
        needed = f"an integer from {least} to {most}"
    else:
        needed = "an integer" if least is None else f"an integer ≥ {least}"
    raise ValueError(f"{name} needs {needed}; got {value!r}")
