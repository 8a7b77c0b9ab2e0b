"""A file of labels, joined to the documents by their ids or in their order."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..._support.class_names import look_alikes, means_nothing, tell_apart
from .columns import as_string, find_id, labels_of
from .encoding import find_encoding, open_text, refuse_streams
from .formats import DELIMITED, open_table, suffix_of, table_suffixes
from .matrices import as_strings, load_arrays
from .sessions import SUFFIXES as SESSIONS
from .sessions import refuse_other_texts, session_labels
from .table import Batch, Table, given, is_number

NAMES = ("label", "labels", "class", "category", "target", "topic", "y")
Labels = list[str | None]


@dataclass(frozen=True)
class Keyed:
    """The documents that labels are for: their file, their ids and the name of the ids' column."""

    path: Path
    ids: list[str]
    id_name: str | None
    width: int | None = None  # of a matrix, for a hint when it has been given on its side
    texts: list[str] | None = None


def read_labels(
    path: Path, to: Keyed, missing: str | None = None, encoding: str | None = None
) -> tuple[Labels, list[str]]:
    """One label or None for each document, and notes.

    A table with an id and a label column is joined by id. A table with one column, a file of any other
    ending with one label per line (a blank line: not labeled) and a one-dimensional .npy go by order. A
    session of ``bvdt label`` has the ids of its documents.
    """
    refuse_streams(path)
    suffix = suffix_of(path)
    if suffix == ".npy":
        return _in_order(path, _from_npy(path), to, missing), []
    if suffix in SESSIONS:
        return _from_session(path, to), []
    if suffix not in table_suffixes():
        lines, notes = _lines(path, encoding)
        return _in_order(path, lines, to, missing), notes
    table = open_table(path, encoding, wanted=())
    if len(table.columns) > 1:
        return _by_id(table, to, missing), table.notes
    if suffix in DELIMITED:  # by lines: an empty one is a document without a label here
        lines, notes = _lines(path, encoding)
        cells = [_unquoted(line) for line in lines]
        return _in_order(path, cells[_is_headed(cells, len(to.ids)) :], to, missing), notes
    found = [label or "" for batch in table.batches for label in labels_of(table, batch, 0, missing)]
    return _in_order(path, found, to, missing), table.notes


def suspicious(labels: Labels, missing: str | None = None) -> list[str]:
    """Notes on labels that look like none or like each other, and on a word for none that is not there."""
    classes = {label for label in labels if label is not None}
    notes = [tell_apart(group) for group in look_alikes(classes)]
    for name in sorted(classes):
        others = classes - {name}
        minus_one = is_number(name) and float(name) == -1 and len(others) > 1 and all(map(is_number, others))
        if minus_one or means_nothing(name):
            how = f'if it means "not labeled", add --unlabeled "{name}"'
            return [*notes, f'the label "{name}" was taken for a class; {how}']
    if missing is not None and None not in labels:
        notes.append(f'no label is "{missing}", the one for "not labeled" (--unlabeled)')
    return notes


# -- in order ------------------------------------------------------------------------------------------------


def _lines(path: Path, encoding: str | None) -> tuple[list[str], list[str]]:
    found, notes = find_encoding(path, encoding)
    with open_text(path, found) as file:
        return [line.rstrip("\n") for line in file], notes


def _is_headed(cells: list[str], n: int) -> bool:
    """Whether the first of the cells names the column, for n documents.

    With blank lines at the end both may be: n labels, or a header and labels of which the last are blank.
    It is a header then unless it comes again as a label.
    """
    if cells[0].lower() in NAMES:
        return True
    n_filled = max((place for place, cell in enumerate(cells, 1) if cell), default=0)
    if n_filled <= n < len(cells):
        return cells[0] not in cells[1:]
    return len(cells) != n


def _unquoted(line: str) -> str:
    cell = line.strip()
    is_quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return cell[1:-1].replace('""', '"') if is_quoted else cell


def _from_npy(path: Path) -> list[str]:
    array = load_arrays(path, "an array of labels in NumPy's format")
    if not isinstance(array, np.ndarray) or array.ndim != 1:
        shape = getattr(array, "shape", "that of several arrays")
        raise ValueError(f"{path} needs one dimension, a label for each document; its shape is {shape}")
    return as_strings(path, array)


def _in_order(path: Path, lines: list[str], to: Keyed, missing: str | None) -> Labels:
    while len(lines) > len(to.ids) and not lines[-1].strip():
        lines = lines[:-1]
    if len(lines) != len(to.ids):
        hint = "one label per line, a blank line for a document without"
        if to.width == len(lines):
            hint = f"{to.path} has {to.width} columns: transpose it, rows are documents"
        raise ValueError(
            f"{path} has {len(lines)} labels for the {len(to.ids)} documents of {to.path}; {hint}"
        )
    labels = (line.strip() for line in lines)
    return [given(label, missing) for label in labels]


# -- by id ---------------------------------------------------------------------------------------------------


def _by_id(table: Table, to: Keyed, missing: str | None) -> Labels:
    rows = _positions(to, table.path)
    first = next(table.batches, None)
    batches = itertools.chain([] if first is None else [first], table.batches)
    id_at, label_at, headed = _roles(table, to, rows)
    if not headed:
        batches = itertools.chain([Batch([1], lambda index: [table.columns[index]])], batches)
    labels: Labels = [None] * len(to.ids)
    given: dict[int, int] = {}  # row of the document -> place of its label
    for batch in batches:
        names, values = batch.column(id_at), labels_of(table, batch, label_at, missing)
        for place, name, label in zip(batch.places, names, values, strict=True):
            row = _row(table, place, id_at, name, rows, to)
            if label is None:
                continue
            if labels[row] not in (None, label):
                raise ValueError(
                    f'{table.path}, {table.unit} {place} gives "{to.ids[row]}" the label "{label}", '
                    f'{table.unit} {given[row]} gave it "{labels[row]}"; keep one of them'
                )
            labels[row], given[row] = label, place
    return labels


def _from_session(path: Path, to: Keyed) -> Labels:
    rows = _positions(to, path)
    labels: Labels = [None] * len(to.ids)
    found, decided = session_labels(path)
    refuse_other_texts(path, decided, to.path, to.ids, to.texts)
    for name, label in found.items():
        if name not in rows:
            raise ValueError(
                f'{path} has a label for "{name}", which is not in {to.path}; its ids are like "{to.ids[0]}"'
            )
        labels[rows[name]] = label
    return labels


def _positions(to: Keyed, path: Path) -> dict[str, int]:
    rows: dict[str, int] = {}
    for row, name in enumerate(to.ids):
        if rows.setdefault(name, row) != row:
            raise ValueError(
                f'{to.path} has the id "{name}" twice (documents {rows[name] + 1} and {row + 1}), so the '
                f"labels of {path} cannot be joined by id; make the ids unique, or give labels in a column"
            )
    return rows


def _row(table: Table, place: int, id_at: int, cell: object, rows: dict[str, int], to: Keyed) -> int:
    name = (as_string(cell) or "").strip()
    if name not in rows:
        raise ValueError(
            f'{table.at(place, id_at)} names the id "{name}", which is not in {to.path}; its ids are like '
            f'"{to.ids[0]}"'
        )
    return rows[name]


def _roles(table: Table, to: Keyed, rows: dict[str, int]) -> tuple[int, int, bool]:
    """Columns of the ids and of the labels, and whether the first line is a header."""
    columns = table.columns
    lower = [name.lower() for name in columns]
    id_at = columns.index(to.id_name) if to.id_name in columns else find_id(columns)
    label_at = next((lower.index(name) for name in NAMES if name in lower), None)
    if len(columns) == 2:
        if id_at is None and label_at is None and columns[0].strip() in rows:
            return 0, 1, False
        if id_at is None:
            id_at = 0 if label_at is None else 1 - label_at
        label_at = 1 - id_at
    if id_at is None or label_at is None or id_at == label_at:
        shown = ", ".join(columns[:8])
        raise ValueError(f"{table.path} needs a column id and a column label; its columns are {shown}")
    return id_at, label_at, True
