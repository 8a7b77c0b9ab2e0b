"""Tables out: CSV, TSV, JSON Lines or Parquet by the name's ending, whole or not at all."""

from __future__ import annotations

import io
import itertools
import json
import math
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from ..._support.atomic import atomic, check_writable
from ...documents.files.table import Column
from .parquet import need_pyarrow

DELIMITERS = {".csv": ",", ".tsv": "\t"}
SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")


def write_table(path: str | Path, columns: Mapping[str, Column], *, escape_formulas: bool = False) -> None:
    """Write named columns of one length; None and NaN become blanks (CSV, TSV) or null (JSON Lines).

    Text is UTF-8, lines end with one "\\n", cells that hold the delimiter, a quote or a line end are quoted.
    A text that begins with = + - @ or a tab, which a spreadsheet would run as a formula, is written as it is,
    with a warning, or behind an apostrophe with ``escape_formulas``.
    """
    path = Path(path)
    suffix = _suffix(path)
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"{path} needs columns of one length; theirs are {lengths}")
    lists = {name: _plain(values) for name, values in columns.items()}
    if suffix == ".parquet":
        return _write_parquet(path, lists)
    with atomic(path) as file:
        if suffix == ".jsonl":
            _write_jsonl(file, lists)
        else:
            _write_delimited(file, _without_formulas(path, lists, escape_formulas), DELIMITERS[suffix])
    return None


def csv_text(columns: Mapping[str, list[object]]) -> str:
    """The columns as ``write_table`` writes them to a .csv, formulas as they are."""
    text = io.StringIO(newline="")
    _write_delimited(text, columns, ",")
    return text.getvalue()


def warn_of_formulas(path: Path, columns: Mapping[str, list[object]]) -> None:
    """A warning that names the first text which a spreadsheet would run as a formula."""
    _without_formulas(path, columns, False)


def check_table(path: str | Path) -> None:
    """Raise now what ``write_table(path, …)`` would raise after the work: ending, folder, permission."""
    if _suffix(Path(path)) == ".parquet":
        need_pyarrow(path)
    check_writable(path)


def _suffix(path: Path) -> str:
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(
            f"{path} needs a name that ends in {', '.join(SUFFIXES)}; it ends in {path.suffix!r}"
        )
    return path.suffix.lower()


def _plain(values: Column) -> list[object]:
    """Python objects, not NumPy scalars."""
    if hasattr(values, "tolist"):
        return list(values.tolist())
    return [value.item() if hasattr(value, "item") else value for value in values]


def _without_formulas(
    path: Path, columns: Mapping[str, list[object]], escape: bool
) -> Mapping[str, list[object]]:
    """The columns, with formulas behind an apostrophe, or as they are after a warning that names one."""
    for name, values in columns.items():
        first = next((k for k, value in enumerate(values) if _is_formula(value)), None)
        if first is not None and not escape:
            warnings.warn(
                f"{path}: column {name!r} holds {str(values[first])[:20]!r} in row {first + 1}, which a "
                "spreadsheet runs as a formula; escape_formulas=True (--escape-formulas) writes an "
                "apostrophe before it",
                stacklevel=3,
            )
            return columns
    return {name: [f"'{v}" if _is_formula(v) else v for v in values] for name, values in columns.items()}


def _is_formula(value: object) -> bool:
    """Whether a spreadsheet takes a text for a formula; a number with a sign is none."""
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _write_delimited(file: IO[str], columns: Mapping[str, list[object]], delimiter: str) -> None:
    # csv.writer leaves a lone "\r" unquoted when lines end with "\n", and no reader takes that back.
    special = re.compile(f'[{delimiter}"\r\n]')

    def cell(value: object) -> str:
        text = "" if _is_blank(value) else _as_text(value)
        return '"' + text.replace('"', '""') + '"' if special.search(text) else text

    alone = len(columns) == 1  # an empty line is no row: a blank in the only column is written ""
    for row in itertools.chain([tuple(columns)], zip(*columns.values(), strict=True)):
        line = delimiter.join(map(cell, row))
        file.write('""\n' if alone and not line else line + "\n")


def _as_text(value: object) -> str:
    return (
        json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list | dict) else str(value)
    )


def _write_jsonl(file: IO[str], columns: Mapping[str, list[object]]) -> None:
    rows: Iterator[tuple[object, ...]] = zip(*columns.values(), strict=True)
    for row in rows:
        finite = (None if isinstance(value, float) and not math.isfinite(value) else value for value in row)
        file.write(
            json.dumps(dict(zip(columns, finite, strict=True)), ensure_ascii=False, default=str) + "\n"
        )


def _write_parquet(path: Path, columns: Mapping[str, list[object]]) -> None:
    pyarrow = need_pyarrow(path)
    import pyarrow.parquet as parquet

    try:
        table = pyarrow.table(dict(columns))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} needs columns of one type each ({error})") from error
    with atomic(path, "wb") as file:
        parquet.write_table(table, file)
