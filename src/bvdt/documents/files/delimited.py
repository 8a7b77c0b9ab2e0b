"""CSV and TSV in, row by row, with the line on which each row begins."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypedDict

from .encoding import find_encoding, open_text
from .table import Batch, Table, is_number

BATCH = 1000
LIMIT = 2**31 - 1  # characters in a cell; Python's own limit is 131 072
Row = tuple[int, list[str]]


class Dialect(TypedDict, total=False):
    """What ``csv.reader`` takes."""

    delimiter: str
    strict: bool
    quoting: Literal[3]  # csv.QUOTE_NONE


def read_delimited(path: Path, encoding: str | None = None, delimiter: str | None = None) -> Table:
    """Table of a file with a header; a first row of numbers only is data, its columns are then numbered.

    The delimiter, where the name does not say it, is what the header has most of: "," ";" "|" or tab.
    """
    encoding, notes = find_encoding(path, encoding)
    if delimiter is None:
        delimiter = _sniff(path, encoding)
    form: Dialect = {"delimiter": delimiter, "strict": True}
    if delimiter == "\t" and not _is_quoted(path, encoding, form):
        form["quoting"] = csv.QUOTE_NONE
        notes.append(f"{path}: quotes are not paired as a table's; they were read as part of the text")
    rows = _rows(path, encoding, form)
    first = next(rows, None)
    if first is None:
        raise ValueError(f"{path} is empty; it needs a header and a row for each document")
    header = [name.strip() for name in first[1]]
    if all(map(is_number, header)):
        notes.append(f"{path} has no header; its columns are named column 1 to column {len(header)}")
        return Table(path, _numbered(len(header)), _batches(path, rows, len(header), [first]), notes=notes)
    names = [name or numbered for name, numbered in zip(header, _numbered(len(header)), strict=True)]
    return Table(path, names, _batches(path, rows, len(header), []), notes=notes)


def _numbered(n: int) -> list[str]:
    return [f"column {k}" for k in range(1, n + 1)]


def _sniff(path: Path, encoding: str) -> str:
    with open_text(path, encoding) as file:
        header = next((line for line in file if line.strip()), "")
    outside = "".join(header.split('"')[::2])
    return max(",;\t|", key=outside.count)


def _is_quoted(path: Path, encoding: str, form: Dialect) -> bool:
    """Whether a TSV keeps the quoting rules: many programs write texts with lone quotes into one."""
    with open_text(path, encoding, newline="") as file:
        try:
            return len({len(row) for row in _wide(csv.reader(file, **form)) if row}) <= 1
        except csv.Error:
            return False


def _rows(path: Path, encoding: str, form: Dialect) -> Iterator[Row]:
    """Each row that is not an empty line, after the line on which it begins."""
    with open_text(path, encoding, newline="") as file:
        reader = csv.reader(file, **form)
        line = 1
        try:
            for cells in _wide(reader):
                if cells:
                    yield line, cells
                line = reader.line_num + 1
        except csv.Error as error:
            raise ValueError(
                f"{path}, line {line} is not a row of a table ({error}): close each quote, and write "
                '"" for one inside a quoted cell'
            ) from error


def _wide(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """The reader's rows, long cells included: the limit is the whole process's and is set back after each."""
    while True:
        usual = csv.field_size_limit(LIMIT)
        try:
            cells = next(reader)
        except StopIteration:
            return
        finally:
            csv.field_size_limit(usual)
        yield cells


def _batches(path: Path, rows: Iterator[Row], width: int, held: list[Row]) -> Iterator[Batch]:
    lines, cells = array("q", (line for line, _ in held)), [row for _, row in held]
    for line, row in rows:
        if len(row) != width:
            raise ValueError(
                f"{path}, line {line} has {len(row)} cells, the header has {width}; put cells that hold the "
                "delimiter or a line end in quotes"
            )
        lines.append(line)
        cells.append(row)
        if len(cells) == BATCH:
            yield Batch(lines, list(zip(*cells, strict=True)).__getitem__)
            lines, cells = array("q"), []
    if cells:
        yield Batch(lines, list(zip(*cells, strict=True)).__getitem__)
