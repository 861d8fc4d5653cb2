"""The background processes of a folder, which any later process can find: one folder for each.

<id>/run.json    the process and its monitor; written by the monitor, whole or not at all
<id>/ended.json  how it ended; written by the monitor
<id>/log         its output
"""

import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from cli_guard.errors import CliGuardError
from cli_guard.execution.processes.model import Process
from cli_guard.execution.processes.supervisor.process_tree import identity
from cli_guard.lazy import frozen
from cli_guard.state.files import check_fields, lock

# Of ended processes and foreground logs, each.
KEPT = 30
# So long an ended process is listed; its log can be read until it is pruned.
LISTED_SECONDS = 3_600.0
# A younger folder may belong to a process that is just starting.
NEW_SECONDS = 60.0
BLOCK = 65_536
# For a program that writes no line ends.
READ_BYTES = 10_000_000


@frozen
class ProcessRecord:
    """A process that was started in the background, its monitor, and how it ended (`is_forced`: by SIGKILL)."""

    folder: Path
    pid: int
    identity: str | None
    monitor: int
    monitor_identity: str | None
    command: str
    working_dir: str
    port: int | None
    started: float
    ended: float | None = None
    return_code: int | None = None
    is_forced: bool = False

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def watched(self) -> bool:
        """True while its monitor runs."""
        return (
            self.monitor_identity is not None
            and identity(self.monitor) == self.monitor_identity
        )

    @property
    def running(self) -> bool:
        """True while anything of it runs; a later process of the same number does not count."""
        if self.ended is not None:
            return False
        return self.watched or (
            self.identity is not None and identity(self.pid) == self.identity
        )

    def refresh(self) -> "ProcessRecord":
        """Return the entry as it is now."""
        with suppress(OSError, ValueError, TypeError):
            return read(self.folder)
        return self

    def as_process(self) -> Process:
        running = self.running
        # Another program may listen on the port of a process that has ended.
        port = self.port if running else None
        until = time.time() if running else self.ended or self.started
        started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.started))
        return Process(
            self.pid,
            self.command,
            self.working_dir,
            port,
            running,
            round(max(0.0, until - self.started), 3),
            str(self.log),
            self.return_code,
            started,
        )


class Registry:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def new(self) -> Path:
        """Create a folder for one more run. Raises OSError."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = self.folder / secrets.token_hex(6)
        made.mkdir(mode=0o700)
        return made

    def entries(self) -> tuple[ProcessRecord, ...]:
        """Return the processes, the oldest first, without records that cannot be read."""
        return tuple(sorted(self._read(), key=lambda entry: (entry.started, entry.pid)))

    def _read(self) -> Iterator[ProcessRecord]:
        with suppress(OSError):
            for folder in self.folder.iterdir():
                with suppress(OSError, ValueError, TypeError, RecursionError):
                    yield read(folder)

    def list_recent(self) -> tuple[ProcessRecord, ...]:
        """Return the processes that run or ended a short while ago, the oldest first."""
        since = time.time() - LISTED_SECONDS
        return tuple(
            each
            for each in self.entries()
            if (each.ended or each.started) > since or each.running
        )

    def find(self, pid: int) -> ProcessRecord | None:
        """Return the last process of a number, a running one before an ended one."""
        fitting = [entry for entry in self.entries() if entry.pid == pid]
        return max(fitting, key=lambda entry: (entry.running, entry.started), default=None)

    def prune(self) -> None:
        """Delete the oldest ended processes and foreground logs beyond `KEPT`."""
        with suppress(OSError, CliGuardError), lock(self.folder / "registry"):
            known = self.entries()
            ended = [entry.folder for entry in known if not entry.running]
            named = {entry.folder for entry in known}
            stale = time.time() - NEW_SECONDS
            ages = {
                each: each.stat().st_mtime
                for each in self.folder.iterdir()
                if each.is_dir()
            }
            others = [
                each for each in sorted(ages, key=ages.__getitem__) if each not in named
            ]
            for folder in (*ended[:-KEPT], *others[:-KEPT]):
                if folder in named or ages[folder] < stale:
                    shutil.rmtree(folder, ignore_errors=True)


def read(folder: Path) -> ProcessRecord:
    """Read one record. Raises OSError, ValueError, TypeError."""
    entry = read_run(folder)
    # The monitor records the end and exits: read again what was read just before that.
    return read_run(folder) if entry.ended is None and not entry.running else entry


def read_run(folder: Path) -> ProcessRecord:
    data = json.loads((folder / "run.json").read_text("ascii"))
    with suppress(FileNotFoundError):
        data |= json.loads((folder / "ended.json").read_text("ascii"))
    return check_fields(ProcessRecord(folder, **data))


def last_lines(log: Path, lines: int) -> bytes:
    """Return the last lines of a log, across the part that was moved at its limit; empty for a missing log."""
    with suppress(OSError), log.open("rb") as file:
        return before_the_end(log, file, lines)
    return b""


def before_the_end(log: Path, file: BinaryIO, lines: int) -> bytes:
    """Return the last lines of an open log, and leave it at its end."""
    data = read_end(file)
    if data.count(b"\n") <= lines and len(data) < READ_BYTES:
        with suppress(OSError), log.with_name(log.name + ".1").open("rb") as moved_away:
            data = read_end(moved_away) + data
    end = b"\n" if data.endswith(b"\n") else b""
    if not data or lines < 1:
        return b""
    return b"\n".join(data.removesuffix(b"\n").split(b"\n")[-lines:]) + end


def read_end(file: BinaryIO) -> bytes:
    """Read the last `READ_BYTES` of a file, and leave it at its end."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - READ_BYTES))
    return file.read()


def follow_log(entry: ProcessRecord, lines: int | None) -> Iterator[bytes]:
    """Yield a log (its last lines alone, if `lines` is given), and what is added, until the process has ended.

    A log that is moved at its limit goes on.
    """
    log = entry.log
    file = log.open("rb")
    try:
        if lines is not None:
            yield before_the_end(log, file, lines)
        while True:
            running = entry.refresh().running
            while data := file.read(BLOCK):
                yield data
            if is_moved(file.fileno(), log):
                file.close()
                file = log.open("rb")
            elif not running:
                return
            else:
                time.sleep(0.05)
    finally:
        file.close()


def is_moved(descriptor: int, log: Path) -> bool:
    """Check whether the open log has been moved, and another one has its name."""
    with suppress(OSError):
        return os.fstat(descriptor).st_ino != log.stat().st_ino
    return False
