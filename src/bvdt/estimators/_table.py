"""Tables of numbers and categories as views: what is no matrix yet becomes two of them.

Numbers, standardized, are Gaussian, a missing one the column's mean. Categories are one-hot rows under the
multinomial's divergence, smoothed towards how frequent each is, so that to share a rare one counts more; a
missing one is a category of its own. Each view counts as many times as it has columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._support.arrays import Float, Mask
from .._support.robust import ordinary
from ..divergences import Multinomial
from ..lifting import Views
from ._texts import beginning

INSTEAD = (
    'bvdt.text_pipeline("text") labels texts, scikit-learn\'s TfidfVectorizer turns them into numbers; leave '
    "columns of names out, or encode them"
)
NUMBERS, CATEGORIES = "numbers", "categories"
_MISSING = ("NAType", "NaTType", "NoneType")


@dataclass(frozen=True, eq=False)
class TableEncoder:
    """What was learnt from a table: its columns of numbers and of categories."""

    columns: tuple[str, ...]
    mean: dict[str, float]  # of the columns of numbers
    deviation: dict[str, float]
    levels: dict[str, dict[str, int]]  # of the columns of categories, from 1 on: 0 is for all others

    @classmethod
    def learn(cls, frame: Any) -> TableEncoder:
        """From a DataFrame; ValueError that names the column that is neither."""
        mean: dict[str, float] = {}
        deviation: dict[str, float] = {}
        levels: dict[str, dict[str, int]] = {}
        for name in frame.columns:
            values = np.asarray(frame[name])
            numbers = _numbers(values, str(name))
            if numbers is None:
                levels[str(name)] = _levels(values, str(name))
                continue
            known = numbers[np.isfinite(numbers)]
            kept = known[ordinary(known)] if len(known) else np.zeros(1)
            mean[str(name)] = float(kept.mean())
            deviation[str(name)] = float(kept.std()) if kept.std() > 1e-12 * np.abs(kept).max() else 1.0
        return cls(tuple(map(str, frame.columns)), mean, deviation, levels)

    def views(self, frame: Any) -> Views:
        """The table, or another with the same columns, as views."""
        missing = [name for name in self.columns if name not in set(map(str, frame.columns))]
        if missing:
            shown = ", ".join(map(repr, missing[:3]))
            raise ValueError(f"X needs the columns of the fit; it has none named {shown}")
        place = {str(name): name for name in frame.columns}
        views: dict[str, Any] = {}
        if self.mean:
            views[NUMBERS] = np.column_stack(
                [self._standardized(name, np.asarray(frame[place[name]])) for name in self.mean]
            )
        if self.levels:
            onehot = [self._onehot(name, np.asarray(frame[place[name]])) for name in self.levels]
            rows = sparse.csr_array(sparse.hstack(onehot, format="csr"))
            views[CATEGORIES] = (rows, Multinomial(len(self.levels)))
        weights = {NUMBERS: float(len(self.mean)), CATEGORIES: float(len(self.levels))}
        return Views(weights={name: weights[name] for name in views}, **views)

    def _standardized(self, name: str, values: NDArray[Any]) -> Float:
        numbers = _numbers(values, name)
        if numbers is None:
            raise ValueError(f"X needs numbers in column {name!r}, as in the fit; it has {values[0]!r}")
        known = np.where(np.isfinite(numbers), numbers, self.mean[name])
        return np.asarray((known - self.mean[name]) / self.deviation[name])

    def _onehot(self, name: str, values: NDArray[Any]) -> sparse.csr_array:
        levels = self.levels[name]
        codes = np.array([0 if _is_missing(value) else levels.get(str(value), 0) for value in values])
        indptr = np.arange(len(codes) + 1)
        return sparse.csr_array((np.ones(len(codes)), codes, indptr), shape=(len(codes), len(levels) + 1))


def needs_encoding(X: Any) -> bool:
    """Whether X is a table with columns that are no numbers, or with missing values."""
    if not hasattr(X, "columns") or sparse.issparse(X) or len(X) == 0:
        return False
    names = list(X.columns)
    if not all(isinstance(name, str | int) for name in names) or len(set(names)) < len(names):
        return False
    return any(_is_encoded(np.asarray(X[name])) for name in names)


def _is_encoded(values: NDArray[Any]) -> bool:
    if values.dtype.kind == "f":
        return bool(np.isnan(values).any())
    if values.dtype.kind in "biu":
        return False
    if values.dtype.kind != "O":
        return True
    numbers = _numbers(values, "")
    return numbers is None or bool(np.isnan(numbers).any())


def _numbers(values: NDArray[Any], name: str) -> Float | None:
    """A column's numbers, NaN for those missing; None where it holds something else."""
    if values.dtype.kind == "b":
        return None
    if values.dtype.kind == "c":
        raise ValueError(f"X needs real numbers; column {name!r} holds complex ones")
    if values.dtype.kind in "iuf":
        numbers = values.astype(np.float64)
        if np.isinf(numbers).any():
            raise ValueError(f"X needs finite values; column {name!r} has an infinite one")
        return numbers
    if values.dtype.kind in "mM":
        raise ValueError(f"X needs numbers or categories; column {name!r} holds dates: make numbers of them")
    missing = _missing(values)
    known = list(values[~missing])
    if any(isinstance(value, str | bytes | bool | np.bool_) for value in known):
        return None
    try:
        numbers = np.full(len(values), np.nan)
        numbers[~missing] = np.array(known, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return numbers


def _levels(values: NDArray[Any], name: str) -> dict[str, int]:
    known = sorted({str(value) for value in values[~_missing(values)]})
    if 2 * len(known) > len(values):
        text = next(str(value) for value in values if not _is_missing(value))
        raise ValueError(
            f"X needs numbers, points × features; it holds the text {beginning(text)} in column {name!r}: "
            + INSTEAD
        )
    return {level: code for code, level in enumerate(known, 1)}


def _missing(values: NDArray[Any]) -> Mask:
    return np.array([_is_missing(value) for value in values], bool)


def _is_missing(value: Any) -> bool:
    return type(value).__name__ in _MISSING or (isinstance(value, float) and value != value)
