"""Full-text search over the documents, by SQLite's FTS5, in memory: it is built from the texts in seconds."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Sequence

MOST = 50  # results


class Search:
    """Documents by their words; each word of a query may be the beginning of one."""

    def __init__(self, texts: Sequence[str], ids: Sequence[str]) -> None:
        self._lock = threading.Lock()
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self._db.execute("CREATE VIRTUAL TABLE found USING fts5 (id, text, content='', tokenize='unicode61')")
        rows = ((row, name, text) for row, (name, text) in enumerate(zip(ids, texts, strict=True)))
        self._db.executemany("INSERT INTO found (rowid, id, text) VALUES (?, ?, ?)", rows)

    def find(self, query: str, most: int = MOST) -> list[int]:
        """Rows of the documents with all the words, the best match first."""
        words = re.findall(r"\w+", query)[:20]
        if not words:
            return []
        # Every word in quotes: none of them is one of FTS5's own.
        wanted = " ".join(f'"{word}"*' for word in words)
        with self._lock:
            rows = self._db.execute(
                "SELECT rowid FROM found WHERE found MATCH ? ORDER BY rank LIMIT ?", (wanted, most)
            ).fetchall()
        return [int(row[0]) for row in rows]
