"""The audit log: one JSON line per event, each with the hash of the line before it.

A line that is changed, moved or removed from the middle breaks the chain; lines cut off the end are noticed
because the last hash is stored beside the log. It proves nothing against a user who rewrites both files: it is a
record for honest people, not evidence against the owner of the machine.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cli_guard import __version__
from cli_guard.runtime import Invocation

START = "0" * 64
BLOCK = 4_096
# The shape of an entry: the keys of `entry`, and those of its event.
SCHEMA = 1


def entry(event: str, invocation: Invocation, **details: object) -> dict[str, object]:
    """Build the audit entry of an event: its schema, time (ISO 8601, UTC), user, version, and its own details.

    Details hold no code and no secret: callers redact what comes from outside.
    """
    return {
        "schema": SCHEMA,
        "at": invocation.now.isoformat(timespec="seconds"),
        "user": invocation.user,
        "version": __version__,
        "event": event,
        **details,
    }


@dataclass(frozen=True, slots=True)
class Verification:
    """The number of valid entries, and the first problem, None if there is none."""

    entries: int
    problem: str | None


class AuditLog:
    """The log of a folder: `audit.jsonl`, and its last hash in `audit.head`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "audit.jsonl"
        self._head = folder / "audit.head"

    def append(self, data: Mapping[str, object]) -> None:
        """Append one entry, in a time that does not grow with the log. Raises OSError."""
        with lock(self.path):
            size, last = self._end()
            line = json.dumps({**data, "previous": self._previous(last)}, sort_keys=True).encode("ascii")
            # A half-written line of a killed process stays in the log as unreadable.
            glue = b"" if last is None or last.endswith(b"\n") else b"\n"
            try:
                with self.path.open("ab") as file:
                    file.write(glue + line + b"\n")
            except OSError:
                with suppress(OSError):
                    os.truncate(self.path, size)
                raise
            self._head.write_text(digest(line) + "\n", "ascii")

    def entries(self) -> Iterator[dict[str, object]]:
        """Yield the entries, oldest first; a line that is not JSON as {"unreadable": line}."""
        for line in self._lines():
            try:
                data = json.loads(line)
            except (ValueError, RecursionError):
                data = None
            yield data if isinstance(data, dict) else {"unreadable": line.decode("utf-8", "replace")}

    def verify(self) -> Verification:
        """Check the hash chain from its first line. Raises OSError if the log cannot be read."""
        before = expected = START
        number = 0
        for number, line in enumerate(self._lines(), 1):
            previous = previous_in(line)
            if previous is None:
                return Verification(number - 1, f"line {number} is not an entry of the log")
            if previous != expected:
                return Verification(number - 1, f"line {number} does not follow line {number - 1}")
            before, expected = expected, digest(line)
        # The stored hash is one line behind if the process was killed between the two writes.
        if self._read_head() not in (None, expected, before if number else expected):
            changed = f"line {number} was changed, or " if number else ""
            return Verification(number, f"{changed}lines after line {number} are gone")
        return Verification(number, None)

    def _lines(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as file:
                for line in file:
                    yield line.removesuffix(b"\n")
        except FileNotFoundError:
            return

    def _read_head(self) -> str | None:
        try:
            return self._head.read_text("ascii", "replace").strip() or None
        except FileNotFoundError:
            return None

    def _previous(self, last: bytes | None) -> str:
        """Return the hash for the next line: that of the last line, unless lines were cut off behind it."""
        follows = START if last is None else digest(last.removesuffix(b"\n"))
        head = self._read_head()
        if head is None or (last is not None and previous_in(last) == head):
            return follows
        return head

    def _end(self) -> tuple[int, bytes | None]:
        """Return the size of the log in bytes, and its last line."""
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                tail, position = b"", size
                while position and b"\n" not in tail[:-1]:
                    step = min(BLOCK, position)
                    position -= step
                    file.seek(position)
                    tail = file.read(step) + tail
        except FileNotFoundError:
            return 0, None
        return size, tail[tail.rfind(b"\n", 0, -1) + 1 :] if tail else None


def previous_in(line: bytes) -> str | None:
    """Return the hash of the previous line in a line, None if it is not an entry."""
    try:
        previous = json.loads(line)["previous"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return previous if isinstance(previous, str) else None


def digest(line: bytes) -> str:
    """Return the hash of a line, which the next line contains."""
    return hashlib.sha256(line).hexdigest()


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Hold a lock file beside `path`, so that two hooks cannot overwrite each other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(path.suffix + ".lock").open("w") as lock:
        with suppress(ImportError):  # no fcntl outside POSIX: there the lock is the open file alone
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
