"""Which reader a name's ending asks for."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from .delimited import read_delimited
from .jsonl import read_jsonl
from .matrices import SVMLIGHT
from .parquet import read_parquet
from .table import Table

DELIMITED = (".csv", ".tsv", ".tab")
JSON_LINES = (".jsonl", ".ndjson")
PARQUET = (".parquet", ".pq")
MATRICES = (".mtx", ".npz", ".npy", *SVMLIGHT)


def suffix_of(path: Path) -> str:
    """The ending in small letters, that before .gz for a packed file."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix == ".gz" else suffix


def table_suffixes() -> tuple[str, ...]:
    """Endings of tables."""
    return DELIMITED + JSON_LINES + PARQUET


def open_table(path: Path, encoding: str | None, wanted: Collection[str]) -> Table:
    """The table of that file; ``wanted`` columns are searched for to the end where columns may come late."""
    suffix = suffix_of(path)
    if suffix in PARQUET:
        return read_parquet(path)
    if suffix in JSON_LINES:
        return read_jsonl(path, encoding, wanted)
    return read_delimited(path, encoding, None if suffix == ".csv" else "\t")


def refuse(path: Path) -> ValueError:
    """The error for a name that says nothing."""
    known = " ".join((*table_suffixes(), *MATRICES))
    return ValueError(f"{path} needs to be a folder of text files or to end in one of {known}; rename it")
