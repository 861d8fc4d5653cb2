"""Finds the processes below a process, and ends them.

On Linux everything below a subreaper stays below it, new sessions included (prctl(2)). Elsewhere a process that has
lost its parent before is not found.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from cli_guard.execution.shell import send_signal

LINUX = sys.platform == "linux"
Steps = list[tuple[int, float]]
# After SIGKILL a process is gone at once, unless it waits in the kernel (signal(7), "uninterruptible").
GIVE_UP_SECONDS = 5.0


def open_wakeup(*numbers: int) -> int:
    """Open a pipe that wakes a select for these signals, and return the end to read."""
    woken, waker = os.pipe()
    for fd in (woken, waker):
        os.set_blocking(fd, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    for number in numbers:
        signal.signal(number, lambda *_: None)
    return woken


def descendants(pid: int) -> list[int]:
    """Return the processes below a process, parents first, zombies included."""
    import psutil

    with suppress(psutil.Error):
        return [each.pid for each in psutil.Process(pid).children(recursive=True)]
    return []


def ignores_interrupts(pid: int) -> bool:
    """Check whether SIGINT is ignored, as by what a shell starts with `&` (POSIX, "Asynchronous Lists")."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123
            ignored = next(line for line in file if line.startswith(b"SigIgn:"))
    except (OSError, StopIteration):
        return False
    return bool(int(ignored.split()[1], 16) >> (signal.SIGINT - 1) & 1)


def identity(pid: int) -> str | None:
    """Return a text that differs for a later process of the same number, None for one that is gone or has ended.

    proc(5): field 22 of `stat` is the start in clock ticks after boot.
    """
    if not LINUX:
        return _identity_by_psutil(pid)
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else f"{_boot_id()}:{fields[19].decode()}"


def _identity_by_psutil(pid: int) -> str | None:
    import psutil

    with suppress(psutil.Error):
        process = psutil.Process(pid)
        if process.status() != psutil.STATUS_ZOMBIE:
            return f"{process.create_time():.2f}"
    return None


def _boot_id() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:  # noqa: PTH123
            return file.read().strip()
    except OSError:
        return "-"


class Ending:
    """Ends a process tree by steps: signals and their times, in seconds from the beginning, the first at 0."""

    def __init__(self, steps: Steps) -> None:
        self._steps = list(steps)
        self._begun = time.monotonic()
        self._killed: float | None = None
        self.pause = 0.002

    @property
    def is_forced(self) -> bool:
        """True once SIGKILL was sent: something did not end by itself."""
        return self._killed is not None

    def step(self, living: Callable[[], list[int]]) -> bool:
        """Send the signals that are due; True if nothing more can be done."""
        passed = time.monotonic() - self._begun
        while self._steps and passed >= self._steps[0][1]:
            number, _ = self._steps.pop(0)
            members = living()
            if number == signal.SIGINT:
                # These would only delay the others.
                ignoring = [pid for pid in members if ignores_interrupts(pid)]
                send_signal(ignoring, signal.SIGTERM)
                members = [pid for pid in members if pid not in ignoring]
            send_signal(members, number)
            if number == signal.SIGKILL:
                self._killed = time.monotonic()
        if self._killed is None:
            self.pause = min(0.05, self.pause * 1.5)
            return False
        # Processes forked in between.
        send_signal(living(), signal.SIGKILL)
        return time.monotonic() - self._killed > GIVE_UP_SECONDS
