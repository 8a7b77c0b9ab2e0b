"""Which column is what, and the documents that come out of a table in one pass."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import SupportsFloat, cast

import numpy as np
from numpy.typing import NDArray

from .table import Batch, Table, Written, given, is_number

_DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?")


@dataclass(frozen=True)
class Roles:
    """Indices of columns: the id and the label (or None), then either the text or the numbers.

    ``unused`` are columns of numbers beside a text.
    """

    id: int | None
    label: int | None
    text: int | None
    numbers: list[int]
    unused: list[int] = field(default_factory=list)


@dataclass
class Taken:
    """What was read from a table so far."""

    ids: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    numbers: list[NDArray[np.float64]] = field(default_factory=list)
    labels: list[str | None] = field(default_factory=list)
    kept: dict[str, list[object]] = field(default_factory=dict)


def take(
    table: Table,
    text: str | None,
    id: str | None,
    label: str | None,
    missing: str | None,
    numbers: Collection[str] = (),
    keep: bool = False,
) -> tuple[Roles, Taken]:
    """Read the table to its end; the first batch decides the columns' roles.

    With ``keep`` the cells of all columns but the ids' are kept as they are.
    """
    first = next(table.batches, None)
    if first is None:
        raise ValueError(f"{table.path} has no rows; it needs one for each document")
    roles, taken = choose(table, first, text, id, label, numbers), Taken()
    for batch in itertools.chain([first], table.batches):
        if roles.id is not None:
            taken.ids += _ids(table, batch, roles.id)
        if roles.label is not None:
            taken.labels += labels_of(table, batch, roles.label, missing)
        if roles.text is not None:
            taken.texts += _texts(table, batch, roles.text)
        else:
            taken.numbers.append(_numbers(table, batch, roles.numbers))
        for index, name in enumerate(table.columns if keep else ()):
            if index != roles.id:
                taken.kept.setdefault(name, []).extend(map(as_written, _listed(batch.column(index))))
    return roles, taken


def choose(
    table: Table,
    first: Batch,
    text: str | None,
    id: str | None,
    label: str | None,
    numbers: Collection[str] = (),
) -> Roles:
    """The roles: by the names given, else "id" and "text", else the longest strings, else all numbers.

    Of ``numbers`` those that are there are taken, and no other column is looked at.

    A column counts as text when at least half of its cells in the first batch that are not blank are no
    numbers, so that one "n/a" among numbers is an error and not a text. Beside columns of numbers a column of
    a few single words, or one that is mostly blank, is a category and not a text: it is left out.
    """
    id_at = find_id(table.columns) if id is None else table.index(id)
    label_at = None if label is None else table.index(label)
    rest = [index for index in range(len(table.columns)) if index not in (id_at, label_at)]
    if text is not None:
        text_at = table.index(text)
        unused = [index for index in rest if index != text_at and _is_numeric(first.column(index))]
        return Roles(id_at, label_at, text_at, [], unused)
    known = [index for index, name in enumerate(table.columns) if name in set(numbers)]
    if known:
        return Roles(id_at, label_at, None, known)
    lengths = {index: _mean_length(first.column(index)) for index in rest}
    wordy = [index for index in rest if lengths[index] > 0]
    named = [index for index in rest if table.columns[index].lower() == "text"]
    numeric = [index for index in rest if index not in wordy]
    texts = [index for index in wordy if not numeric or _is_prose(first.column(index))]
    if named or texts:
        chosen = named[0] if named else max(texts, key=lambda index: lengths[index])
        _refuse_commas(table, first, chosen)
        return Roles(id_at, label_at, chosen, [], [i for i in numeric if _is_numeric(first.column(i))])
    if not rest:
        raise ValueError(
            f"{table.path} has no column of text or numbers beside the id and the labels; add one"
        )
    return Roles(id_at, label_at, None, numeric)


def _refuse_commas(table: Table, first: Batch, column: int) -> None:
    """ValueError where what was taken for texts are numbers with a decimal comma."""
    filled = [cell for cell in first.column(column) if not is_blank(cell)]
    texts = [cell.strip() for cell in filled if isinstance(cell, str)]
    if filled and len(texts) == len(filled) and all(map(_DECIMAL_COMMA.fullmatch, texts)):
        raise ValueError(
            f'{table.path} has numbers with a decimal comma in column "{table.columns[column]}", such as '
            f"{texts[0]!r}; write them with a point, or name the column of texts by --text"
        )


def find_id(columns: list[str]) -> int | None:
    """The column named id, else a first one without a name, as an index is often written."""
    for index, name in enumerate(columns):
        if name.lower() == "id":
            return index
    nameless = columns[0] == "column 1" and columns[1] != "column 2" if len(columns) > 1 else False
    return 0 if nameless else None


def _mean_length(cells: Sequence[object]) -> float:
    """Mean length of the strings, 0 where most of the cells are numbers."""
    if isinstance(cells, np.ndarray):
        return 0.0
    filled = [cell for cell in cells if not is_blank(cell)]
    strings = [cell for cell in filled if isinstance(cell, str) and not is_number(cell)]
    return sum(map(len, strings)) / len(cells) if strings and 2 * len(strings) >= len(filled) else 0.0


def _is_numeric(cells: Sequence[object]) -> bool:
    """Whether there are numbers, and nothing else but blanks."""
    if isinstance(cells, np.ndarray):
        return True
    filled = [cell for cell in cells if not is_blank(cell)]
    return bool(filled) and all(is_number(str(cell)) for cell in filled)


def _is_prose(cells: Sequence[object]) -> bool:
    """Whether strings are texts: most cells hold one, and those have several words or seldom recur."""
    filled = [cell for cell in cells if not is_blank(cell)]
    n_words = sum(len(str(cell).split()) for cell in filled)
    return 2 * len(filled) >= len(cells) and (
        n_words >= 2 * len(filled) or 2 * len(set(filled)) > len(filled)
    )


def is_blank(cell: object) -> bool:
    """Nothing, white space, or the NaN that stands for nothing in a column of floats."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return True
    return isinstance(cell, str) and not cell.strip()


def as_string(cell: object) -> str | None:
    """A cell as the user wrote it; None for lists, objects and the like."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool | np.bool_):
        return str(bool(cell)).lower()
    if cell is None or isinstance(cell, list | dict | tuple | bytes | np.ndarray):
        return None
    return str(cell)


def as_written(cell: object) -> object:
    """A cell to be written again: the numbers of JSON, which are read as text, are numbers."""
    if isinstance(cell, Written):
        return cell.number()
    if isinstance(cell, list):
        return [as_written(part) for part in cell]
    if isinstance(cell, dict):
        return {name: as_written(part) for name, part in cell.items()}
    return cell


# -- the cells of one batch ----------------------------------------------------------------------------------


def _listed(cells: Sequence[object]) -> Sequence[object]:
    return cells.tolist() if isinstance(cells, np.ndarray) else cells


def _refuse(table: Table, place: int, column: int, needs: str, cell: object) -> ValueError:
    shown = repr(cell) if len(repr(cell)) <= 40 else repr(cell)[:37] + "…"
    held = "it is blank" if is_blank(cell) else f"it holds {shown}"
    return ValueError(f"{table.at(place, column)} needs {needs}; {held}")


def _ids(table: Table, batch: Batch, column: int) -> list[str]:
    ids = []
    for place, cell in zip(batch.places, _listed(batch.column(column)), strict=True):
        name = as_string(cell)
        if name is None or is_blank(cell):
            needs = "an id (or choose another column, or none, for the ids)"
            raise _refuse(table, place, column, needs, cell)
        ids.append(name.strip())
    return ids


def _texts(table: Table, batch: Batch, column: int) -> list[str]:
    texts = []
    for place, cell in zip(batch.places, _listed(batch.column(column)), strict=True):
        text = "" if cell is None else as_string(cell)
        if text is None:
            raise _refuse(table, place, column, "a string", cell)
        texts.append(text)
    return texts


def labels_of(table: Table, batch: Batch, column: int, missing: str | None) -> list[str | None]:
    """Labels without white space around them; None where the cell is blank or the word for "missing"."""
    labels: list[str | None] = []
    for place, cell in zip(batch.places, _listed(batch.column(column)), strict=True):
        label = None if is_blank(cell) else as_string(cell)
        if label is None and not is_blank(cell):
            raise _refuse(table, place, column, "one label", cell)
        labels.append(given(label, missing))
    return labels


def _numbers(table: Table, batch: Batch, columns: list[int]) -> NDArray[np.float64]:  # (rows, columns)
    part = np.empty((len(batch.places), len(columns)))
    for at, column in enumerate(columns):
        cells = batch.column(column)
        try:
            part[:, at] = (
                cells
                if isinstance(cells, np.ndarray)
                else list(map(float, cast(Sequence[SupportsFloat], cells)))
            )
        except (ValueError, TypeError):
            raise _first_wrong(table, batch, column) from None
        if not np.isfinite(part[:, at]).all():
            raise _first_wrong(table, batch, column)
    return part


def _first_wrong(table: Table, batch: Batch, column: int) -> ValueError:
    for place, cell in zip(batch.places, _listed(batch.column(column)), strict=True):
        try:
            value = float(cast(SupportsFloat, cell))
        except (ValueError, TypeError):
            value = math.nan
        if not math.isfinite(value):
            needs = "a finite number (fill it in, leave the row out, or name the text column)"
            return _refuse(table, place, column, needs, cell)
    return ValueError(f'{table.path} has a column "{table.columns[column]}" that is not made of numbers')
