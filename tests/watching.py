"""Looks at the machine for the tests of processes."""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

DEADLINE = 30.0
# How long a background process is watched where nothing is to be seen of it.
STARTUP = 0.3
# A program that hears neither request to end.
DEAF = """
import signal
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
print("deaf", flush=True)
while True:
    signal.pause()
"""


def eventually(holds: Callable[[], object], seconds: float = DEADLINE) -> bool:
    """Does it hold before a generous time has passed? It is asked ever less often: some questions start a process."""
    until = time.monotonic() + seconds
    pause = 0.01
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(pause)
        pause = min(2 * pause, 0.25)
    return False


@contextmanager
def cpu_seconds(limit: float) -> Iterator[None]:
    """Fail if what is done meanwhile, here and in children that have ended, takes more time of the processor."""
    started = sum(os.times()[:4])
    yield
    spent = sum(os.times()[:4]) - started
    assert spent < limit, f"{spent:.1f} seconds of the processor, {limit} allowed"


def make_once(folder: Path, make: Callable[[Path], None]) -> Path:
    """Make a folder in the first worker that needs it, while the others wait, and give it to each."""
    done = folder.with_name(f"{folder.name}.done")
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            done.touch()
    return folder


def marked(mark: str) -> list[int]:
    """The processes that have a mark among their arguments, zombies left out."""
    others = (pid for pid in psutil.pids() if pid != os.getpid())
    return [pid for pid in others if mark in arguments_of(pid)]


def arguments_of(pid: int) -> str:
    """What a process was started with, nothing of a zombie or one that has gone."""
    try:
        # Tests that wait ask for this many times: psutil takes ten times the processor's time.
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
    except OSError:
        return ""


def written(path: Path) -> str:
    """What is in a file, nothing if it is not there."""
    return path.read_text("utf-8") if path.exists() else ""
