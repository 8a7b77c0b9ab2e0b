"""A folder of text files: one document per file, the subfolder perhaps its label."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from .encoding import decode

UNLABELED = ("unlabeled", "unlabelled")


def read_folder(folder: Path, encoding: str | None = None) -> tuple[list[str], list[str], list[str]]:
    """Relative paths (sorted), texts and notes; hidden files and those without text are left out."""
    ids: list[str] = []
    texts: list[str] = []
    guessed: list[str] = []
    strange: list[str] = []
    for path in sorted(_files(folder), key=lambda path: path.relative_to(folder).parts):
        name = (
            path.relative_to(folder).as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        )
        data = path.read_bytes()
        try:
            text, notes = decode(data, str(path), encoding)
        except ValueError:
            if encoding is not None and b"\0" not in data:
                raise
            strange.append(name)
            continue
        guessed += notes
        ids.append(name)
        texts.append(text)
    if not ids:
        held = f"{len(strange)} files, none of them text" if strange else "no files"
        raise ValueError(f"{folder} needs text files, one for each document; it holds {held}")
    return ids, texts, _notes(folder, guessed, strange)


def _notes(folder: Path, guessed: list[str], strange: list[str]) -> list[str]:
    notes = []
    if guessed:
        more = f", and {len(guessed) - 1} other files likewise" if len(guessed) > 1 else ""
        notes.append(guessed[0] + more)
    if strange:
        notes.append(
            f"{folder}: {len(strange)} files are not text and were left out, the first is {strange[0]}"
        )
    return notes


def _files(folder: Path) -> Iterator[Path]:
    def fail(error: OSError) -> None:
        raise error

    for parent, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(parent, name)
            if not name.startswith(".") and path.is_file():
                yield path


def folder_labels(ids: list[str], missing: str | None) -> list[str | None] | None:
    """The first folder of each path; None for files beside the folders and in one named "unlabeled"."""
    if not any("/" in name for name in ids):
        return None
    blank = {*UNLABELED, missing}
    tops = [name.split("/", 1)[0] if "/" in name else None for name in ids]
    return [None if top in blank else top for top in tops]
