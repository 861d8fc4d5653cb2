"""The family of a process: who belongs to it, and how each is told to end.

On Linux everybody below a subreaper stays below it, also who starts a session of its own (prctl(2)); proc(5) lists the
children. Elsewhere psutil looks at the whole table, and who has lost its parent before that is found no more.
"""

import os
import signal
import sys
from contextlib import suppress

LINUX = sys.platform == "linux"


def descendants(pid: int) -> list[int]:
    """The processes below a process, parents first; those that have ended and wait to be reaped included."""
    if not LINUX:
        return by_table(pid)
    found: dict[int, None] = {}
    waiting = [pid]
    while waiting:
        for child in children(waiting.pop()):
            if child not in found and child != pid:
                found[child] = None
                waiting.append(child)
    return list(found)


def children(pid: int) -> list[int]:
    """The children of all threads of a process, none of one that is gone."""
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - pathlib is slow to load
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123
                found += map(int, file.read().split())
    return found


def by_table(pid: int) -> list[int]:
    """The same where there is no /proc."""
    import psutil

    with suppress(psutil.Error):
        return [each.pid for each in psutil.Process(pid).children(recursive=True)]
    return []


def tell(pids: list[int], number: int) -> None:
    """Sends a signal to processes; those that are gone or belong to somebody else are left out."""
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, number)


def ignores_interrupts(pid: int) -> bool:
    """Does a process ignore SIGINT, as whatever a shell starts with `&` does (POSIX, "Asynchronous Lists")?"""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123
            ignored = next(line for line in file if line.startswith(b"SigIgn:"))
    except (OSError, StopIteration):
        return False
    return bool(int(ignored.split()[1], 16) >> (signal.SIGINT - 1) & 1)


def identity(pid: int) -> str | None:
    """What tells a process from a later one of the same number, None for one that is gone or has ended.

    proc(5): field 22 of `stat` is the start in clock ticks after boot.
    """
    if not LINUX:
        return by_creation(pid)
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else f"{boot()}:{fields[19].decode()}"


def by_creation(pid: int) -> str | None:
    """The same where there is no /proc."""
    import psutil

    with suppress(psutil.Error):
        process = psutil.Process(pid)
        if process.status() != psutil.STATUS_ZOMBIE:
            return f"{process.create_time():.2f}"
    return None


def boot() -> str:
    """What tells this start of the machine from others."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:  # noqa: PTH123
            return file.read().strip()
    except OSError:
        return "-"
