"""The audit trail: one JSON line a run, each holding the hash of the line before it.

A line that is changed, moved or taken out of the middle breaks the chain; lines cut off the end are noticed
because the last hash is kept beside the trail. It proves nothing against somebody who rewrites both files: it
is a record for honest people, not evidence against an owner of the machine.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

START = "0" * 64


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` found: how many lines hold, and the first problem, None if all do."""

    entries: int
    problem: str | None


class AuditTrail:
    """The trail in a folder: `audit.jsonl`, and its last hash in `audit.head`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "audit.jsonl"
        self._head = folder / "audit.head"

    def append(self, entry: Mapping[str, object]) -> None:
        """Adds one run. Raises OSError where nothing can be written."""
        with locked(self.path):
            line = json.dumps({**entry, "previous": self._last_hash()}, sort_keys=True)
            with self.path.open("a", encoding="ascii") as file:
                file.write(line + "\n")
            self._head.write_text(digest(line) + "\n", "ascii")

    def entries(self) -> Iterator[dict[str, object]]:
        """The runs, oldest first; a line that is not JSON comes as {"unreadable": line}."""
        for line in self._lines():
            try:
                yield json.loads(line)
            except ValueError:
                yield {"unreadable": line}

    def verify(self) -> Verification:
        """Goes along the chain from its first line."""
        expected = START
        number = 0
        for number, line in enumerate(self._lines(), 1):
            try:
                previous = json.loads(line)["previous"]
            except (ValueError, KeyError, TypeError):
                return Verification(number - 1, f"line {number} is not an entry of the trail")
            if previous != expected:
                return Verification(number - 1, f"line {number} does not follow line {number - 1}")
            expected = digest(line)
        with suppress(FileNotFoundError):
            head = self._head.read_text("ascii", "replace").strip()
            if head != expected:
                return Verification(number, f"the trail ends at line {number}, but a later line was written")
        return Verification(number, None)

    def _lines(self) -> Iterator[str]:
        try:
            with self.path.open(encoding="utf-8", errors="replace") as file:
                for line in file:
                    yield line.removesuffix("\n")
        except FileNotFoundError:
            return

    def _last_hash(self) -> str:
        last = START
        for line in self._lines():
            last = line
        return last if last == START else digest(last)


def digest(line: str) -> str:
    """The hash that the next line carries."""
    return hashlib.sha256(line.encode("utf-8", "replace")).hexdigest()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds a lock file beside `path`: two hooks that end together must not write over each other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(path.suffix + ".lock").open("w") as lock:
        with suppress(ImportError):  # no fcntl outside POSIX: there the lock is the open file alone
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
