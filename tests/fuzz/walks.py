"""What is asked of every walk that an input was accepted for, and of every refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.engine import Impossible, Refused

PROMISED = (ValueError, TypeError, IndexError, OSError, MemoryError, ImportError)


@contextmanager
def may_refuse(path: Path | None = None) -> Iterator[None]:
    """Errors that are promised become Refused; of a file, the sentence names it."""
    try:
        yield
    except PROMISED as error:
        told = str(error)
        if not told.strip():
            raise Impossible(f"{type(error).__name__} without a word") from error
        if path is not None and isinstance(error, ValueError) and path.name not in told:
            raise Impossible(f"{type(error).__name__} does not name {path.name}: {told}") from error
        raise Refused(f"{type(error).__name__}: {told[:300]}") from error


def require(holds: Any, said: str) -> None:
    if not holds:
        raise Impossible(said)


def check_rows(rows: Any, what: str = "the walk") -> None:
    """Probabilities: finite, none below 0, every row sums to 1."""
    require(np.isfinite(rows).all(), f"{what} has an entry that is not finite")
    require((rows >= 0).all(), f"{what} has the entry {rows.min():g}")
    off = np.abs(rows.sum(axis=1) - 1)
    require((off < 1e-9).all(), f"row {int(off.argmax())} of {what} sums to {rows.sum(axis=1)[off.argmax()]}")


def check_walk(op: Any, X_new: Any = None) -> None:
    """Rows, products and what is made of the operator."""
    n_points = op.shape[0]
    rows = op.toarray().astype(float)
    single = op.dtype == np.float32
    if single:
        rows /= rows.sum(axis=1, keepdims=True)
    check_rows(rows)
    require((np.diag(rows) == 0).all(), "the walk stays where it is")
    V = np.random.default_rng(0).random((n_points, 3))
    close = 1e-5 if single else 1e-9
    require(np.allclose(op @ V, rows @ V, atol=close), "op @ V is not the matrix's")
    require(np.allclose(op.T @ V, rows.T @ V, atol=close * n_points), "op.T @ V is not the matrix's")
    require(np.isfinite(op.symmetrized() @ V).all(), "the symmetrised walk is not finite")
    require(np.isfinite(op.lower_bound), f"the bound is {op.lower_bound}")
    most = len(op.members) * n_points * (n_points - 1)
    finer = _unless_refused(lambda: op.refine(min(op.n_blocks + 15, most)))
    if finer is not None:
        check_rows(_in_double(finer), "the refined walk")
    if X_new is not None:
        extended = _unless_refused(lambda: op.extend(X_new).toarray())
        if extended is not None:
            check_rows(extended.astype(float), "the walk of new points")


def _in_double(op: Any) -> Any:
    rows = op.toarray().astype(float)
    return rows / rows.sum(axis=1, keepdims=True) if op.dtype == np.float32 else rows


def _unless_refused(call: Callable[[], Any]) -> Any:
    try:
        with may_refuse():
            return call()
    except Refused:
        return None
