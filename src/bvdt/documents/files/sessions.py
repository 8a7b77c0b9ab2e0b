"""Labels out of a session of ``bvdt label``, a SQLite file; it may be open and in use."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

SUFFIXES = (".sqlite", ".sqlite3", ".db")
APPLICATION = 0x62766474  # "bvdt", in the file's header

# The decision that holds for each document: the last that nobody took back.
CURRENT = """
SELECT document, kind, label, who, at, suggested, confidence, MAX(seq) AS seq FROM decisions
WHERE kind != 'undo' AND seq NOT IN (SELECT undoes FROM decisions WHERE undoes IS NOT NULL)
GROUP BY document ORDER BY seq
"""


def session_labels(path: Path) -> dict[str, str]:
    """Label of each document that has one, by its id."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=20)) as db:
            if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
                raise ValueError(f"{path} needs to be a session of bvdt label; it is another SQLite file")
            return {row[0]: row[2] for row in db.execute(CURRENT) if row[2] is not None}
    except sqlite3.Error as error:
        raise ValueError(f"{path} needs to be a session of bvdt label; {error}") from None
