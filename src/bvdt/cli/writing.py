"""What the commands on documents share on their outputs: check them first, write the table, say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..documents.files.table import Column
from .reading import Source
from .session import Session


def check_outputs(source: Source, table: Path, *others: Path | None) -> None:
    """Refuse, before any work, outputs that could not be written or would become or replace an input."""
    from ..documents.files import check_table, check_writable

    seen = {path.resolve(): what for path, what in source.files()}
    folder = source.path.resolve() if source.path.is_dir() else None
    for path in (table, *(other for other in others if other is not None)):
        place = path.resolve()
        if place in seen:
            raise ValueError(f"{path} needs another name: it is {seen[place]} as well")
        if folder is not None and place.is_relative_to(folder):
            raise ValueError(
                f"{path} needs a place outside {source.path}, whose files are the documents: the next run "
                "would read it as one"
            )
        seen[place] = "another output"
    check_table(table)
    for other in others:
        if other is not None:
            check_writable(other)


def write_columns(session: Session, path: Path, columns: Mapping[str, Column], escape_formulas: bool) -> None:
    """The table of results."""
    from ..documents.files import write_table

    with session.stage("write"):
        write_table(path, dict(columns), escape_formulas=escape_formulas)
    session.result["output"] = str(path)


def say_written(session: Session, written: Sequence[Path | None]) -> None:
    """The last line: which files there are now."""
    names = ", ".join(str(path) for path in written if path is not None)
    session.say(f"\nWrote {names} in {session.seconds:.1f} s")
