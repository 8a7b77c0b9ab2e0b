"""Labels out of a session of ``bvdt label``, a SQLite file; it may be open and in use."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

SUFFIXES = (".sqlite", ".sqlite3", ".db")
APPLICATION = 0x62766474  # "bvdt", in the file's header

# The decision that holds for each document: the last that was not undone.
CURRENT = """
SELECT document, kind, label, who, at, suggested, confidence, MAX(seq) AS seq FROM decisions
WHERE kind != 'undo' AND seq NOT IN (SELECT undoes FROM decisions WHERE undoes IS NOT NULL)
GROUP BY document ORDER BY seq
"""


def session_labels(path: Path) -> tuple[dict[str, str], dict[str, str | None]]:
    """Label of each document that has one, by its id, and the texts that were decided on."""
    # SQLite cannot read a file in WAL mode where it may not write beside it; no log means no writer.
    in_use = path.with_name(f"{path.name}-wal").exists()
    mode = "mode=ro" if in_use or os.access(path.resolve().parent, os.W_OK) else "immutable=1"
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True, timeout=20)) as db:
            if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
                raise ValueError(f"{path} needs to be a session of bvdt label; it is another SQLite file")
            labels = {row[0]: row[2] for row in db.execute(CURRENT) if row[2] is not None}
            return labels, dict(db.execute("SELECT id, text FROM documents"))
    except sqlite3.Error as error:
        raise ValueError(f"{path} needs to be a session of bvdt label; {error}") from None


def refuse_other_texts(
    session: Path, decided: dict[str, str | None], documents: Path, ids: list[str], texts: list[str] | None
) -> None:
    """Raise ValueError if ids are row numbers and a row's text differs from the one labeled."""
    if texts is None or ids != [str(number) for number in range(1, len(ids) + 1)]:
        return
    for name, text in decided.items():
        if text is not None and name.isdigit() and 0 < int(name) <= len(ids) and text != texts[int(name) - 1]:
            there, here = (_beginning(t) for t in (text, texts[int(name) - 1]))
            raise ValueError(
                f'{session} is of other documents: its number {name} is "{there}", that of {documents} is '
                f'"{here}"; name the session of these by --session, or a column of ids by --id'
            )


def _beginning(text: str) -> str:
    text = " ".join(text[:200].split())
    return text if len(text) <= 40 else text[:40].rstrip() + "…"
