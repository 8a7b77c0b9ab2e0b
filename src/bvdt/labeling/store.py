"""A labeling session in one SQLite file: one row per decision, written before it is answered.

Rows are only ever added. A later decision on a document replaces an earlier one; undo is a row that names
the decision it takes back. ``synchronous = FULL`` makes every commit wait for the disk, so that a killed
process, or a machine without power, loses nothing that was acknowledged. ``request`` is the client's own
number of a request: one that is sent again, because its answer was lost, is not written twice.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from ..documents.files.sessions import APPLICATION, CURRENT

VERSION = 1
KINDS = ("label", "skip", "unsure", "import")
_JOINERS = dict.fromkeys((0x200C, 0x200D))  # invisible, but letters of Persian and Hindi need them
_AT_ONCE = 500  # documents that one query names
LONGEST_NAME = 200  # characters of a class or a person

_SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE classes (position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, who TEXT, at TEXT NOT NULL);
CREATE TABLE documents (id TEXT PRIMARY KEY, text TEXT);
CREATE TABLE decisions (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  request TEXT NOT NULL,
  document TEXT NOT NULL REFERENCES documents (id),
  kind TEXT NOT NULL CHECK (kind IN ('label', 'skip', 'unsure', 'import', 'undo')),
  label TEXT REFERENCES classes (name),
  undoes INTEGER UNIQUE REFERENCES decisions (seq),
  who TEXT NOT NULL,
  at TEXT NOT NULL,
  shown TEXT,
  suggested TEXT,
  confidence REAL,
  UNIQUE (request, document)
);
CREATE INDEX decisions_of_document ON decisions (document, seq);
"""
_DECIDE = """
INSERT INTO decisions (request, document, kind, label, who, at, shown, suggested, confidence)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_UNDO = "INSERT INTO decisions (request, document, kind, undoes, who, at) VALUES (?, ?, 'undo', ?, ?, ?)"
_LAST_OF = """
SELECT request FROM decisions WHERE who = ? AND kind NOT IN ('undo', 'import')
AND seq NOT IN (SELECT undoes FROM decisions WHERE undoes IS NOT NULL) ORDER BY seq DESC LIMIT 1
"""


@dataclass(frozen=True)
class Decision:
    """What holds for a document now."""

    document: str
    kind: str
    label: str | None
    who: str
    at: str
    suggested: str | None
    confidence: float | None
    seq: int


@dataclass(frozen=True)
class Shown:
    """What a person saw of a document when they decided."""

    document: str
    text: str | None = None
    how: str | None = None  # the strategy that brought it up
    suggested: str | None = None
    confidence: float | None = None


class Store:
    """The session's file; safe to use from several threads."""

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        if not create and not self.path.is_file():
            raise ValueError(f"{self.path} needs to be a session of bvdt label; there is no such file")
        self._lock = threading.RLock()
        self._held: IO[bytes] | None = None
        self._db = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None, timeout=20)
        try:
            self._prepare(create)
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise ValueError(f"{self.path} needs to be a session of bvdt label; {error}") from None

    def _prepare(self, create: bool) -> None:
        self._db.execute("PRAGMA foreign_keys = ON")
        kind = self._db.execute("PRAGMA application_id").fetchone()[0]
        empty = not self._db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
        if not (kind == APPLICATION or (create and empty and kind == 0)):
            self._db.close()
            raise ValueError(f"{self.path} needs to be a session of bvdt label; it is another file")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        if empty:
            with self._writing():
                for statement in _SCHEMA.strip().split(";\n"):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA application_id = {APPLICATION}")
                self._db.execute(f"PRAGMA user_version = {VERSION}")
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise ValueError(f"{self.path} needs a newer bvdt: its version is {version}, not {VERSION}")

    def close(self) -> None:
        """Everything is on the disk already; the file is whole without it."""
        with self._lock:
            self._db.close()
            if self._held is not None:
                self._held.close()

    def claim(self) -> None:
        """Refuse a second server on the same session; the claim ends with the process, however it ends."""
        try:
            import fcntl
        except ImportError:  # Windows
            return
        self._held = open(self.path, "rb")  # noqa: SIM115  # closed with the store
        try:
            fcntl.flock(self._held.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ValueError(f"{self.path} is open in another bvdt label; use that one's address") from None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or nothing."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                with suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def _read(self, query: str, *values: object) -> list[Any]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    # -- facts and classes ------------------------------------------------------------------------------

    def fact(self, name: str) -> str | None:
        """What is kept under a name, such as the documents' file."""
        rows = self._read("SELECT value FROM facts WHERE name = ?", name)
        return rows[0][0] if rows else None

    def keep(self, name: str, value: str) -> None:
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def classes(self) -> list[str]:
        """In the order in which they were added, which is that of the keys 1 to 9."""
        return [row[0] for row in self._read("SELECT name FROM classes ORDER BY position")]

    def add_classes(self, names: Sequence[str], who: str | None = None) -> None:
        """Those that are not there yet."""
        names = [checked_name(name, "a class") for name in names]
        with self._writing() as db:
            _add_classes(db, names, who)

    # -- decisions --------------------------------------------------------------------------------------

    def decide(
        self, request: str, kind: str, shown: Sequence[Shown], *, who: str, label: str | None = None
    ) -> list[int]:
        """One row per document, all or none; the rows' numbers, also where the request was known already."""
        if kind not in KINDS:
            raise ValueError(f"a decision needs one of {', '.join(KINDS)}; got {kind!r}")
        if (label is not None) != (kind in ("label", "import")):
            needed = "a" if kind in ("label", "import") else "no"
            raise ValueError(f"a decision {kind!r} needs {needed} label; got {label!r}")
        who, at = checked_name(who, "a person"), _now()
        label = None if label is None else checked_name(label, "a class")
        with self._writing() as db:
            known = db.execute(
                "SELECT seq FROM decisions WHERE request = ? ORDER BY seq", (request,)
            ).fetchall()
            if known:
                return [row[0] for row in known]
            if label is not None:
                _add_classes(db, [label], who)
            rows = []
            for one in shown:
                db.execute(
                    "INSERT INTO documents VALUES (?, ?) ON CONFLICT (id) DO NOTHING",
                    (one.document, one.text),
                )
                values = (request, one.document, kind, label, who, at, one.how, one.suggested, one.confidence)
                found = db.execute(
                    _DECIDE,
                    values,
                )
                rows.append(int(found.lastrowid or 0))
        return rows

    def undo(self, request: str, who: str) -> list[str]:
        """Take back that person's last decision, all documents of it; the documents' ids, none if none."""
        who = checked_name(who, "a person")
        with self._writing() as db:
            known = db.execute("SELECT document FROM decisions WHERE request = ?", (request,)).fetchall()
            if known:
                return [row[0] for row in known]
            last = db.execute(
                _LAST_OF,
                (who,),
            ).fetchone()
            if last is None:
                return []
            rows = db.execute(
                "SELECT seq, document FROM decisions WHERE request = ? ORDER BY seq", (last[0],)
            ).fetchall()
            db.executemany(
                _UNDO,
                [(request, document, seq, who, _now()) for seq, document in rows],
            )
        return [document for _, document in rows]

    def current(self) -> list[Decision]:
        """The decision that holds for each document, in the order they were made."""
        return [Decision(*row) for row in self._read(CURRENT)]

    def current_of(self, documents: Sequence[str]) -> list[Decision]:
        """The current decision of each of these documents."""
        found: list[Decision] = []
        for first in range(0, len(documents), _AT_ONCE):
            some = documents[first : first + _AT_ONCE]
            query = CURRENT.replace("GROUP BY", f"AND document IN ({', '.join('?' * len(some))}) GROUP BY")
            found += [Decision(*row) for row in self._read(query, *some)]
        return found

    def labels(self) -> dict[str, str]:
        """Label of each document that has one now."""
        return {d.document: d.label for d in self.current() if d.label is not None}

    def texts(self) -> dict[str, str | None]:
        """Texts of the documents that were decided on."""
        return dict(self._read("SELECT id, text FROM documents"))

    def n_rows(self) -> int:
        """All rows ever written."""
        return int(self._read("SELECT COUNT(*) FROM decisions")[0][0])


def _add_classes(db: sqlite3.Connection, names: Sequence[str], who: str | None) -> None:
    db.executemany(
        "INSERT INTO classes (name, who, at) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING",
        [(name, who, _now()) for name in names],
    )


def checked_name(name: str, what: str) -> str:
    """Without blanks around it, neither empty nor too long, on one line."""
    cleaned = " ".join(str(name).encode("utf-8", "replace").decode().split())
    if not cleaned or len(cleaned) > LONGEST_NAME or not cleaned.translate(_JOINERS).isprintable():
        raise ValueError(
            f"{what} needs a name of 1 to {LONGEST_NAME} printable characters; got {name[:50]!r}"
        )
    return cleaned


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
