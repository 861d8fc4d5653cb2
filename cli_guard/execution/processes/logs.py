"""Reads the logs of background processes."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from cli_guard.execution.processes.registry import Entry, read

BLOCK = 65_536
# For a program that writes no line ends.
READ_BYTES = 10_000_000


def last_lines(log: Path, lines: int) -> bytes:
    """Return the last lines of a log, across the part that was moved at its limit; empty for a missing log."""
    with suppress(OSError), log.open("rb") as file:
        return before_the_end(log, file, lines)
    return b""


def before_the_end(log: Path, file: BinaryIO, lines: int) -> bytes:
    """Return the last lines of an open log, and leave it at its end."""
    data = tail(file, lines)
    missing = lines - data.count(b"\n")
    if missing >= 0 and len(data) < READ_BYTES:
        with suppress(OSError), log.with_name(log.name + ".1").open("rb") as moved_away:
            data = tail(moved_away, missing + 1) + data
    end = b"\n" if data.endswith(b"\n") else b""
    kept = data.removesuffix(b"\n").split(b"\n")[-lines:] if lines > 0 and data else []
    return b"\n".join(kept) + end if kept else b""


def tail(file: BinaryIO, lines: int) -> bytes:
    """Read the end of a file that holds so many lines, at most `READ_BYTES`, and leave the file at its end."""
    end = position = file.seek(0, os.SEEK_END)
    parts: list[bytes] = []
    found = 0
    while position and found <= lines and end - position < READ_BYTES:
        step = min(BLOCK, position)
        position -= step
        file.seek(position)
        parts.append(file.read(step))
        found += parts[-1].count(b"\n")
    file.seek(end)
    return b"".join(reversed(parts))


def follow_log(entry: Entry, lines: int | None = None) -> Iterator[bytes]:
    """Yield a log (its last lines alone, if `lines` is given), and what is added, until the process has ended.

    A log that is moved at its limit goes on.
    """
    log = entry.log
    file = log.open("rb")
    try:
        if lines is not None:
            yield before_the_end(log, file, lines)
        while True:
            running = is_running(entry)
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


def is_running(entry: Entry) -> bool:
    with suppress(OSError, ValueError, KeyError, TypeError):
        return read(entry.folder).running
    return False


def is_moved(descriptor: int, log: Path) -> bool:
    """Check whether the open log has been moved, and another one has its name."""
    with suppress(OSError):
        return os.fstat(descriptor).st_ino != log.stat().st_ino
    return False
