"""Run work in copies of this process in parallel: each sends back lines, and nothing is shared.

A copy has everything loaded and read already, so it starts in milliseconds. Only a process with a single thread is
copied: a lock held by another thread would stay locked in the copy for ever (fork(2), os.fork).
"""

import gc
import os
import selectors
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from cli_guard.lazy import dataclass

MOST = 8
PIECE_BYTES = 1 << 18


def available() -> int:
    """Return how many processors this process may use, 1 if it cannot be copied."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return 1
    with suppress(OSError):  # without /proc nothing but Python's own threads is known
        if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208 - names alone
            return 1
    return min(len(os.sched_getaffinity(0)), MOST)


def idle() -> int:
    """Return how many processors nothing runs on now, this process counted as none; at least 1.

    It is about speed alone: no result depends on it.
    """
    with suppress(OSError, ValueError, IndexError):
        running = Path("/proc/loadavg").read_text().split()[3].split("/")[0]
        return max(1, available() - int(running) + 1)
    return 1


@dataclass
class Worker:
    """One copy: its process, the pipe that it writes to, and the unfinished line read so far."""

    number: int
    pid: int
    pipe: int
    rest: bytearray = field(default_factory=bytearray)


def lines_of(
    count: int, work: Callable[[int], Iterable[bytes]], *, joins: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Yield the numbered lines of `work` for 0, 1, ... from copies of this process, as they arrive.

    If this process `joins` them, it does the work of 0 itself. A copy that does not start, or dies, gives fewer lines
    and no error: the caller has to check.
    """
    workers = start_workers(range(int(joins), count), work)
    try:
        for line in work(0) if joins else ():
            yield 0, line
        with selectors.DefaultSelector() as selector:
            for worker in workers:
                selector.register(worker.pipe, selectors.EVENT_READ, worker)
            while selector.get_map():
                for key, _ in selector.select():
                    worker = key.data
                    piece = os.read(worker.pipe, PIECE_BYTES)
                    if not piece:
                        selector.unregister(worker.pipe)
                        continue
                    worker.rest += piece
                    *lines, rest = worker.rest.split(b"\n")
                    worker.rest = rest
                    for line in lines:
                        yield worker.number, bytes(line)
    finally:
        for worker in workers:
            os.close(worker.pipe)
            # A copy that has ended is not yet reaped, so no other process has its number.
            os.kill(worker.pid, signal.SIGKILL)
            os.waitpid(worker.pid, 0)


def start_workers(
    numbers: Iterable[int], work: Callable[[int], Iterable[bytes]]
) -> list[Worker]:
    """Start the copies, as many as the system allows."""
    workers: list[Worker] = []
    # Freeze the objects: garbage collection in a copy would otherwise copy their memory.
    gc.freeze()
    try:
        for number in numbers:
            reading, writing = os.pipe()
            try:
                pid = os.fork()
            except OSError:
                os.close(reading)
                os.close(writing)
                break
            if pid == 0:
                work_in_copy(writing, lambda number=number: work(number))  # type: ignore[misc]
            os.close(writing)
            workers.append(Worker(number, pid, reading))
    finally:
        gc.unfreeze()
    return workers


def work_in_copy(pipe: int, work: Callable[[], Iterable[bytes]]) -> None:
    """Do the work and end the process, whatever happens; never returns."""
    code = 1
    try:
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(name, signal.SIG_DFL)
        with open(pipe, "wb", buffering=1 << 16) as out:
            for line in work():
                out.write(line + b"\n")
                out.flush()
        code = 0
    finally:
        # Nothing of the original may be written, flushed or cleaned up a second time.
        os._exit(code)
