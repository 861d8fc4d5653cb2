"""The memory of one repository: decisions, reasons, answers and facts, with full-text search.

An SQLite database with a full-text index (FTS5) in the state folder; it may be deleted at any time.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cli_guard.errors import CliGuardError
from cli_guard.lazy import frozen
from cli_guard.secrets.redact import redact
from cli_guard.state.audit import AuditLog, Entry
from cli_guard.state.files import make_folder, open_state

if TYPE_CHECKING:
    import sqlite3

FILE = "memory.sqlite"
KINDS = ("decision", "reason", "answer", "fact")
MOST_CHARACTERS = 4_000
MOST_ROWS = 5_000
MOST_DECISIONS = 500
DECIDED = {"approve": "approved", "reject": "rejected", "undo": "reverted"}
LOCK_SECONDS = 2.0
WORD = re.compile(r"\w+")
MOST_WORDS = 32
SCHEMA = """
CREATE TABLE IF NOT EXISTS remembered (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL,
    source TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX IF NOT EXISTS remembered_source ON remembered(source) WHERE source != '';
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(text, content='remembered', content_rowid='id',
    tokenize="unicode61 tokenchars '_'");
CREATE TABLE IF NOT EXISTS forgotten (source TEXT PRIMARY KEY);
CREATE TRIGGER IF NOT EXISTS added AFTER INSERT ON remembered BEGIN
    INSERT INTO words(rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER IF NOT EXISTS removed AFTER DELETE ON remembered BEGIN
    INSERT INTO words(words, rowid, text) VALUES ('delete', old.id, old.text);
END;
"""


def clean_text(text: str) -> str:
    """Prepare a text for storage: without secrets, in UTF-8, truncated."""
    return redact(text.strip().encode("utf-8", "replace").decode("utf-8"))[:MOST_CHARACTERS]


@frozen
class Remembered:
    """One row. `at` is an ISO 8601 time in UTC, `kind` one of KINDS."""

    id: int
    at: str
    kind: str
    text: str


class Memory:
    """The memory in a state folder. Every method raises CliGuardError if the database cannot be used."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    def search(self, words: str, *, count: int = 10) -> tuple[Remembered, ...]:
        """Return rows with all the words, best first (BM25), or with any of them if none has all."""
        found = list(dict.fromkeys(WORD.findall(words)))[:MOST_WORDS]
        if not found:
            return ()
        terms = [f'"{word}"' + ("*" if len(word) > 3 else "") for word in found]
        with self._open() as database:
            self._import(database)
            for joint in (" AND ", " OR "):
                rows = database.execute(
                    "SELECT r.id, r.at, r.kind, r.text FROM words JOIN remembered r ON r.id = words.rowid"
                    " WHERE words MATCH ? ORDER BY bm25(words), r.id DESC LIMIT ?",
                    (joint.join(terms), count),
                ).fetchall()
                if rows:
                    return tuple(Remembered(*row) for row in rows)
        return ()

    def recent(self, count: int = 10, kind: str = "") -> tuple[Remembered, ...]:
        """Return the newest rows first."""
        with self._open() as database:
            self._import(database)
            rows = database.execute(
                "SELECT id, at, kind, text FROM remembered WHERE ? = '' OR kind = ? ORDER BY at DESC, id DESC LIMIT ?",
                (kind, kind, count),
            ).fetchall()
        return tuple(Remembered(*row) for row in rows)

    def store(self, text: str, kind: str = "fact") -> int:
        """Store a text, redacted and cut to MOST_CHARACTERS; drop the oldest rows beyond MOST_ROWS. Return its id."""
        if kind not in KINDS:
            raise CliGuardError(f"unknown kind {kind}: use one of {', '.join(KINDS)}")
        with self._open() as database:
            return self._add(database, kind, clean_text(text))

    def keep(self, text: str, kind: str, source: str) -> None:
        """Store the text of a source, replacing its earlier one."""
        with self._open() as database:
            database.execute("DELETE FROM remembered WHERE source = ?", (source,))
            self._add(database, kind, clean_text(text), source=source)

    def forget(self, number: int) -> bool:
        """Remove a row for good, so that it is not imported again; return whether there was one."""
        with self._open() as database:
            database.execute(
                "INSERT OR IGNORE INTO forgotten SELECT source FROM remembered WHERE id = ? AND source != ''",
                (number,),
            )
            return (
                database.execute("DELETE FROM remembered WHERE id = ?", (number,)).rowcount
                > 0
            )

    def _add(
        self,
        database: sqlite3.Connection,
        kind: str,
        text: str,
        at: str = "",
        source: str = "",
    ) -> int:
        when = (
            at
            or database.execute("SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')").fetchone()[
                0
            ]
        )
        added = database.execute(
            "INSERT OR IGNORE INTO remembered(at, kind, text, source) SELECT ?, ?, ?, ?"
            " WHERE NOT EXISTS (SELECT 1 FROM forgotten WHERE source = ?)",
            (when, kind, text, source, source),
        )
        database.execute(
            "DELETE FROM remembered WHERE id <= (SELECT max(id) FROM remembered) - ? ",
            (MOST_ROWS,),
        )
        return added.lastrowid or 0

    def _import(self, database: sqlite3.Connection) -> None:
        """Import new decisions, and the reasons of those for a change, from the audit log."""
        log = AuditLog(self.path.parent)
        for entry in log.events("approve")[-MOST_DECISIONS:]:
            # The content of a request of `ask` is its id, and a signed approval has another level.
            is_change = entry.get("content") != entry.get("review_id")
            if entry.get("reason") and is_change and entry.get("level", "tty") == "tty":
                said = f"approved by {entry.get('user')}: {entry['reason']}"
                self._import_entry(database, "reason", said, "approval", entry)
        for entry in deque(log.entries(), MOST_DECISIONS):
            event = str(entry.get("event"))
            if event in DECIDED:
                said = f"{DECIDED[event]} {entry.get('review_id')} by {entry.get('user')}"
                said += f": {entry['reason']}" if entry.get("reason") else ""
                self._import_entry(database, "decision", said, event, entry)

    def _import_entry(
        self, database: sqlite3.Connection, kind: str, said: str, what: str, entry: Entry
    ) -> None:
        at = str(entry.get("at", ""))
        source = f"{what} {entry.get('review_id')} {at}"
        self._add(database, kind, clean_text(said), at, source)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        import sqlite3

        try:
            make_folder(self.path.parent)
            # SQLite would create it readable for all, and its journal with the same mode.
            os.close(open_state(self.path, os.O_RDWR | os.O_CREAT))
            database = sqlite3.connect(self.path, timeout=LOCK_SECONDS)
        except (sqlite3.Error, OSError) as error:
            raise CliGuardError(
                f"the memory {self.path} cannot be opened: {error}"
            ) from error
        try:
            with database:
                # The memory may be lost in a power failure, so a write need not wait for the disk.
                database.execute("PRAGMA synchronous = OFF")
                if not database.execute(
                    "SELECT 1 FROM sqlite_master WHERE name = 'words'"
                ).fetchone():
                    database.executescript(SCHEMA)
                yield database
        except sqlite3.OperationalError as error:
            words = (
                "is locked by another process; try again"
                if "locked" in str(error)
                else f"cannot be used: {error}"
            )
            raise CliGuardError(f"the memory {self.path} {words}") from error
        except sqlite3.Error as error:
            raise CliGuardError(
                f"the memory {self.path} is broken ({error}); delete the file to start over"
            ) from error
        finally:
            database.close()
