"""JSON Lines in: one object per line; numbers stay the strings that were written, and known as such."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from pathlib import Path

from ..._support.json import JsonObject
from .encoding import find_encoding, open_text
from .table import Batch, Table, Written

BATCH = 1000
Record = tuple[int, JsonObject]


def _constant(name: str) -> str | None:
    """NaN, which stands for nothing, or an infinity's name."""
    return None if name == "NaN" else name


_parse = json.JSONDecoder(parse_int=Written, parse_float=Written, parse_constant=_constant).decode


def read_jsonl(path: Path, encoding: str | None = None, wanted: Collection[str] = ()) -> Table:
    """Table of the file's objects; a key that a line does not have is blank there.

    The columns are the keys of the first 1000 objects; only where a wanted one is not among them is the
    file searched to its end for more.
    """
    encoding, notes = find_encoding(path, encoding)
    records = _records(path, encoding)
    first = list(itertools.islice(records, BATCH))
    if not first:
        raise ValueError(f"{path} is empty; it needs one JSON object per line")
    columns = _keys(first)
    if not set(wanted) <= set(columns):
        columns = _keys(_records(path, encoding))
    return Table(path, columns, _batches(columns, first, records), notes=notes)


def _keys(records: Iterator[Record] | list[Record]) -> list[str]:
    return list(dict.fromkeys(key for _, record in records for key in record))


def _records(path: Path, encoding: str) -> Iterator[Record]:
    with open_text(path, encoding) as file:
        for line, text in enumerate(file, 1):
            if text.strip():
                yield line, _object(path, line, text)


def _object(path: Path, line: int, text: str) -> JsonObject:
    try:
        record = _parse(text.strip())
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", "nested too deep")
        raise ValueError(
            f"{path}, line {line} is not JSON ({reason}); put one whole object on each line"
        ) from error
    if not isinstance(record, dict):
        kind = type(record).__name__
        raise ValueError(
            f"{path}, line {line} needs an object, {{…}}; it holds a {kind}: put one object on each line"
        )
    if (
        "\\ud" in text or "\\uD" in text
    ):  # half a surrogate pair is no character and could not be written again
        return {str(_whole(key)): _whole(value) for key, value in record.items()}
    return record


def _whole(value: object) -> object:
    if not isinstance(value, str):
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _batches(columns: list[str], first: list[Record], rest: Iterator[Record]) -> Iterator[Batch]:
    records = first
    while records:
        yield Batch([line for line, _ in records], _column_of(columns, records))
        records = list(itertools.islice(rest, BATCH))


def _column_of(columns: list[str], records: list[Record]) -> Callable[[int], Sequence[object]]:
    @cache
    def column(index: int) -> list[object]:
        return [record.get(columns[index]) for _, record in records]

    return column
