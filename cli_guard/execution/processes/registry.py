"""The background processes of a folder: a folder for each, written whole or not at all, found by every later process.

<id>/run.json    what runs, and who watches over it; written by its guardian
<id>/ended.json  how it ended; written by its guardian
<id>/log         its output
"""

import json
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli_guard.execution.processes.model import Process
from cli_guard.execution.processes.supervisor.family import identity
from cli_guard.state.audit import lock

# What has ended is kept for those who ask why, up to so many.
KEPT = 30
# Another manager has made the folder, and its guardian has not yet written to it.
NEW_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A process that was started in the background: who it is, who watches over it, and how it ended."""

    folder: Path
    pid: int
    identity: str | None
    guardian: int
    guardian_identity: str | None
    command: str
    working_dir: str
    port: int | None
    started: float
    ended: float | None = None
    return_code: int | None = None

    @property
    def log(self) -> Path:
        """Its log."""
        return self.folder / "log"

    @property
    def watched(self) -> bool:
        """Is its guardian there?"""
        return self.guardian_identity is not None and identity(self.guardian) == self.guardian_identity

    @property
    def running(self) -> bool:
        """Is anything of it left? A later process of the same number is not it."""
        if self.ended is not None:
            return False
        return self.watched or (self.identity is not None and identity(self.pid) == self.identity)

    def as_process(self) -> Process:
        """The same as the room tells it."""
        running = self.running
        until = time.time() if running else self.ended or self.started
        started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.started))
        return Process(
            self.pid,
            self.command,
            self.working_dir,
            self.port,
            running,
            round(max(0.0, until - self.started), 3),
            str(self.log),
            self.return_code,
            started,
        )


class Registry:
    """The folder of runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self) -> Path:
        """Where a folder for one more run may be made. Raises OSError."""
        if not self.folder.is_dir():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self.folder / secrets.token_hex(6)

    def new(self) -> Path:
        """A folder for one more run. Raises OSError."""
        made = self.place()
        made.mkdir(mode=0o700)
        return made

    def entries(self) -> tuple[Entry, ...]:
        """What runs or has run, the oldest first; a record that cannot be read is none."""
        return tuple(sorted(self._read(), key=lambda entry: (entry.started, entry.pid)))

    def _read(self) -> Iterator[Entry]:
        with suppress(OSError):
            for folder in self.folder.iterdir():
                with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
                    yield read(folder)

    def find(self, pid: int) -> Entry | None:
        """The last process of a number, one that runs before one that has ended."""
        fitting = [entry for entry in self.entries() if entry.pid == pid]
        return max(fitting, key=lambda entry: (entry.running, entry.started), default=None)

    def prune(self) -> None:
        """Lets go of the oldest: of what has ended, and of the logs of commands in the foreground."""
        with suppress(OSError), lock(self.folder / "registry"):
            known = self.entries()
            ended = [entry.folder for entry in known if not entry.running]
            named = {entry.folder for entry in known}
            stale = time.time() - NEW_SECONDS
            ages = {each: each.stat().st_mtime for each in self.folder.iterdir() if each.is_dir()}
            others = [each for each in sorted(ages, key=ages.__getitem__) if each not in named]
            for folder in (*ended[:-KEPT], *others[:-KEPT]):
                if folder in named or ages[folder] < stale:
                    shutil.rmtree(folder, ignore_errors=True)


def read(folder: Path) -> Entry:
    """One record. Raises OSError, ValueError, TypeError, KeyError."""
    entry = read_run(folder)
    # A guardian writes down how it ended, and is gone: what was read just before that knows of no end.
    return read_run(folder) if entry.ended is None and not entry.running else entry


def read_run(folder: Path) -> Entry:
    """What is written down of a run. Raises OSError, ValueError, TypeError, KeyError."""
    run = dict(json.loads((folder / "run.json").read_text("ascii")))
    end: dict[str, Any] = {}
    if (folder / "ended.json").exists():
        end = dict(json.loads((folder / "ended.json").read_text("ascii")))
    port = run["port"]
    return Entry(
        folder,
        int(run["pid"]),
        run["identity"],
        int(run["guardian"]),
        run["guardian_identity"],
        str(run["command"]),
        str(run["working_dir"]),
        None if port is None else int(port),
        float(run["started"]),
        float(end["ended"]) if end else None,
        end.get("return_code"),
    )
