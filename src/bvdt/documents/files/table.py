"""A table as it is read: column names, and rows in batches, so that a file passes through memory once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Column: TypeAlias = Sequence[object] | NDArray[np.generic]  # of a table that is written


@dataclass(frozen=True)
class Batch:
    """Some rows: where each stands in the file, and the cells of a column by its index.

    A cell is a string, None (blank), a bool, a number, or something else that only an error message shows.
    """

    places: Sequence[int]
    column: Callable[[int], Sequence[object]]


@dataclass(frozen=True)
class Table:
    """Columns' names and the rows to come; ``unit`` is what a place counts, "line" or "row"."""

    path: Path
    columns: list[str]
    batches: Iterator[Batch]
    unit: str = "line"
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for name in self.columns:
            if name in seen:
                raise ValueError(f'{self.path} has two columns named "{name}"; rename one')
            seen.add(name)

    def index(self, name: str) -> int:
        """Place of the column of that name."""
        if name not in self.columns:
            raise ValueError(f'{self.path} has no column "{name}"; {self.known(name)}')
        return self.columns.index(name)

    def known(self, name: str) -> str:
        """The columns there are, or the one that was probably meant."""
        near = get_close_matches(name, self.columns, 1)
        if near:
            return f'did you mean "{near[0]}"?'
        shown = ", ".join(self.columns[:8]) + (", …" if len(self.columns) > 8 else "")
        return f"its columns are {shown}"

    def at(self, place: int, column: int) -> str:
        """'docs.csv, line 4, column "text"', for a message."""
        return f'{self.path}, {self.unit} {place}, column "{self.columns[column]}"'


class Written(str):
    """A number in the spelling of a file that knows numbers from text."""

    __slots__ = ()

    def number(self) -> int | float:
        """Its value; of thousands of digits, which Python does not read as an integer, the nearest float."""
        try:
            return int(self)
        except ValueError:
            return float(self)


def is_number(cell: str) -> bool:
    """Whether the cell can be read as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def given(label: str | None, missing: str | None) -> str | None:
    """The label without white space around it; None for a blank, and for the word that means "missing".

    Numbers mean the same in any spelling: -1 is -1.0.
    """
    label = "" if label is None else label.strip()
    if not label or label == missing:
        return None
    if missing is not None and is_number(label) and is_number(missing) and float(label) == float(missing):
        return None
    return label
