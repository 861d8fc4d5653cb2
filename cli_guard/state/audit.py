"""The audit log: one JSON line per event, each with the hash of the line before it.

A line that is changed, moved or removed from the middle breaks the chain; lines cut off the end are noticed
because the last hash is stored beside the log. Against a user who rewrites both files, only what was signed stands
(`cli_guard.approvals.heads`).
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path

from cli_guard import __version__
from cli_guard.errors import CliGuardError
from cli_guard.lazy import frozen
from cli_guard.runtime import Invocation
from cli_guard.state.files import lock, open_state, read_state

START = "0" * 64
BLOCK = 4_096
RECENT_BYTES = 65_536
# The shape of an entry: the keys of `entry`, and those of its event.
SCHEMA = 1
Entry = dict[str, object]


@contextmanager
def readable() -> Iterator[None]:
    """Raise CliGuardError, with the reason in one line, if the log cannot be read."""
    try:
        yield
    except OSError as error:
        raise CliGuardError(
            f"the audit log cannot be read: {error.strerror} ({error.filename})"
        ) from error


def entry(event: str, invocation: Invocation, **details: object) -> Entry:
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


@frozen
class Verification:
    """The number of valid entries, and the first problem, None if there is none; `numbers` has each hash's line."""

    entries: int
    problem: str | None
    numbers: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return `3 entries, hash chain OK`, or the problem."""
        return (
            self.problem
            or f"{self.entries} {'entry' if self.entries == 1 else 'entries'}, hash chain OK"
        )


class AuditLog:
    """The log of a folder: `audit.jsonl`, and its last hash in `audit.head`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "audit.jsonl"
        self._head = folder / "audit.head"

    def append(self, data: Mapping[str, object]) -> None:
        """Append one entry, in a time that does not grow with the log. Raises OSError."""
        with lock(self.path):
            size, last = self._end()
            line = json.dumps(
                {**data, "previous": self._previous(last)}, sort_keys=True
            ).encode("ascii")
            # A half-written line of a killed process stays in the log as unreadable.
            glue = b"" if last is None or last.endswith(b"\n") else b"\n"
            try:
                with os.fdopen(
                    open_state(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab"
                ) as file:
                    file.write(glue + line + b"\n")
            except OSError:
                with suppress(OSError):
                    os.truncate(self.path, size)
                raise
            # Written over, as it has the same length: a file that was cut short has ext4 begin to write to the disk at
            # once, which the commit would wait for.
            head = open_state(self._head, os.O_WRONLY | os.O_CREAT)
            with os.fdopen(head, "w", encoding="ascii") as file:
                file.write(digest(line) + "\n")
                file.truncate()

    def entries(self) -> Iterator[Entry]:
        """Yield the entries, oldest first; a line that is not JSON as {"unreadable": line}."""
        return map(parse, self._lines())

    def recent(self) -> Iterator[Entry]:
        """Yield the entries in the last RECENT_BYTES, newest first; none if the log cannot be read."""
        try:
            with os.fdopen(open_state(self.path, os.O_RDONLY), "rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - RECENT_BYTES))
                lines = file.read().splitlines()
        except (OSError, CliGuardError):
            return iter(())
        return map(parse, reversed(lines))

    def events(self, *names: str) -> list[Entry]:
        """Return the entries of some events that follow the line before them, oldest first. Raises CliGuardError."""
        found: list[Entry] = []
        marks = [f'"event": "{name}"'.encode() for name in names]
        before: bytes | None = None
        with readable():
            for line in self._lines():
                # Most lines are of other events, and need not be parsed.
                if any(mark in line for mark in marks):
                    data = parse(line)
                    follows = START if before is None else digest(before)
                    if data.get("previous") == follows and data.get("event") in names:
                        found.append(data)
                before = line
        return found

    def verify(self, keep: Callable[[Entry], object] | None = None) -> Verification:
        """Check the hash chain from its first line; `keep` is given each entry. Raises OSError if it cannot be read."""
        before = expected = START
        number = 0
        numbers = dict[str, int]()
        same = dict[tuple[str, ...], tuple[str, ...]]()
        for number, line in enumerate(self._lines(), 1):
            data = parse(line)
            previous = data.get("previous")
            if not isinstance(previous, str):
                return Verification(
                    number - 1, f"line {number} is not an entry of the log", numbers
                )
            if previous != expected:
                return Verification(
                    number - 1, f"line {number} does not follow line {number - 1}", numbers
                )
            if keep:
                # Most entries have the same keys: one text for each.
                names = same.setdefault(tuple(data), tuple(data))
                keep(dict(zip(names, data.values(), strict=True)))
            before = expected
            expected = digest(line)
            numbers[expected] = number
        # The stored hash is one line behind if the process was killed between the two writes.
        if self._read_head() not in (None, expected, before if number else expected):
            changed = f"line {number} was changed, or " if number else ""
            problem = f"{changed}lines after line {number} are gone"
            return Verification(max(number - 1, 0), problem, numbers)
        return Verification(number, None, numbers)

    def _lines(self) -> Iterator[bytes]:
        try:
            with os.fdopen(open_state(self.path, os.O_RDONLY), "rb") as file:
                for line in file:
                    yield line.removesuffix(b"\n")
        except FileNotFoundError:
            return

    def _read_head(self) -> str | None:
        try:
            return read_state(self._head).decode("ascii", "replace").strip() or None
        except FileNotFoundError:
            return None

    def _previous(self, last: bytes | None) -> str:
        """Return the hash for the next line: that of the last line, unless lines were cut off behind it."""
        follows = START if last is None else digest(last.removesuffix(b"\n"))
        head = self._read_head()
        if head is None or (last is not None and parse(last).get("previous") == head):
            return follows
        return head

    def _end(self) -> tuple[int, bytes | None]:
        """Return the size of the log in bytes, and its last line."""
        try:
            with os.fdopen(open_state(self.path, os.O_RDONLY), "rb") as file:
                size = file.seek(0, os.SEEK_END)
                tail = b""
                position = size
                while position and b"\n" not in tail[:-1]:
                    step = min(BLOCK, position)
                    position -= step
                    file.seek(position)
                    tail = file.read(step) + tail
        except FileNotFoundError:
            return 0, None
        return size, tail[tail.rfind(b"\n", 0, -1) + 1 :] if tail else None


def parse(line: bytes) -> Entry:
    """Return the entry in a line, {"unreadable": line} for a line that is not JSON."""
    try:
        data = json.loads(line.decode())
    except (ValueError, RecursionError):
        data = None
    return (
        data if isinstance(data, dict) else {"unreadable": line.decode("utf-8", "replace")}
    )


def texts(data: Mapping[str, object], name: str) -> list[str]:
    """Return the texts in a list of an entry."""
    listed = data.get(name)
    return (
        [each for each in listed if isinstance(each, str)]
        if isinstance(listed, list)
        else []
    )


def text(data: Mapping[str, object], name: str) -> str:
    """Return a text of an entry, "" for anything else: any program of the user can write a line."""
    return value if isinstance(value := data.get(name), str) else ""


def digest(line: bytes) -> str:
    """Return the hash of a line, which the next line contains."""
    return hashlib.sha256(line).hexdigest()
