"""Cache results per file in a SQLite file of the state folder, keyed by a hash of everything they depend on.

The review never waits for the cache and trusts no more than its hashes. A locked cache is not used; a broken one, or
one of another version, is deleted. Deleting it costs only time.
"""

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path

VERSION = 1
NAME = "examined.sqlite"
MOST_ROWS = 100_000
MOST_BYTES = 64 << 20
AT_ONCE = 500
TABLE = "CREATE TABLE examined (key BLOB PRIMARY KEY, value BLOB NOT NULL, seal BLOB NOT NULL, used INTEGER NOT NULL)"


class Cache:
    """Values by key, `bytes` to `bytes`."""

    def __init__(self, folder: Path, *, most_rows: int = MOST_ROWS) -> None:
        self._folder = folder
        self._path = folder / NAME
        self._most_rows = most_rows

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the values known for some keys; nothing if the cache cannot be read now."""
        wanted = list(keys)
        found: dict[bytes, bytes] = {}
        try:
            with closing(self._open()) as file:
                for start in range(0, len(wanted), AT_ONCE):
                    part = wanted[start : start + AT_ONCE]
                    marks = ",".join("?" * len(part))
                    # Only question marks are put into the text.
                    rows = file.execute(
                        f"SELECT key, value, seal FROM examined WHERE key IN ({marks})",  # noqa: S608
                        part,
                    )
                    found |= {
                        key: value
                        for key, value, seal in rows
                        if seal == seal_of(key, value)
                    }
        except (sqlite3.Error, OSError, TypeError) as error:
            self._judge(error)
            return {}
        return found

    def put(self, values: Mapping[bytes, bytes], used: Iterable[bytes] = ()) -> None:
        """Store values and mark used ones; the least recently used are dropped."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with closing(self._open(make=True)) as file, file:
                turn = file.execute(
                    "SELECT coalesce(max(used), 0) + 1 FROM examined"
                ).fetchone()[0]
                file.executemany(
                    "UPDATE examined SET used = ? WHERE key = ?",
                    ((turn, key) for key in used),
                )
                file.executemany(
                    "INSERT OR REPLACE INTO examined VALUES (?, ?, ?, ?)",
                    (
                        (key, value, seal_of(key, value), turn)
                        for key, value in values.items()
                    ),
                )
                over = (
                    file.execute("SELECT count(*) FROM examined").fetchone()[0]
                    - self._most_rows
                )
                if over > 0:
                    oldest = "SELECT key FROM examined ORDER BY used, key LIMIT ?"
                    file.execute(f"DELETE FROM examined WHERE key IN ({oldest})", (over,))  # noqa: S608 - our own words
            if self._path.stat().st_size > MOST_BYTES:
                self._throw_away()
        except (sqlite3.Error, OSError, TypeError) as error:
            self._judge(error)

    def _open(self, *, make: bool = False) -> sqlite3.Connection:
        """Open the database of this version. Raises sqlite3.Error, OSError."""
        if make and not self._path.exists():
            os.close(os.open(self._path, os.O_CREAT | os.O_WRONLY, 0o600))
        file = sqlite3.connect(
            f"{self._path.absolute().as_uri()}?mode=rw", uri=True, timeout=0
        )
        try:
            # First of all: to make the table would wait for the disk as well. Entries lost in a crash are computed
            # again, and a torn one has no valid seal.
            file.execute("PRAGMA synchronous = OFF")
            version = file.execute("PRAGMA user_version").fetchone()[0]
            if version == 0 and make:
                with file:
                    file.execute("BEGIN IMMEDIATE")
                    # Another process may have created it between the two checks.
                    if file.execute("PRAGMA user_version").fetchone()[0] == 0:
                        file.execute(TABLE)
                        file.execute(f"PRAGMA user_version = {VERSION}")
            elif version != VERSION:
                raise sqlite3.DatabaseError("of another version")
        except BaseException:
            file.close()
            raise
        return file

    def _judge(self, error: Exception) -> None:
        """Delete a broken file; leave one that is locked or cannot be opened."""
        if not isinstance(error, sqlite3.OperationalError) and isinstance(
            error, sqlite3.DatabaseError | TypeError
        ):
            self._throw_away()

    def _throw_away(self) -> None:
        for name in (NAME, f"{NAME}-journal"):
            with suppress(OSError):
                (self._folder / name).unlink()


def seal_of(key: bytes, value: bytes) -> bytes:
    """Compute the seal by which a completely written row is recognised."""
    if not isinstance(key, bytes) or not isinstance(value, bytes):
        raise sqlite3.DatabaseError("a row of another kind")
    return hashlib.sha256(key + value).digest()[:16]
