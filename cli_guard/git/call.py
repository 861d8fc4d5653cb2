"""One git process: start it, read its output as it arrives, end it. Its stderr goes to a file, so it never blocks.

No thread is started where the system can wait for a pipe: a hook makes half a dozen calls, and each counts.
"""

import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from cli_guard.errors import GitError
from cli_guard.runtime import Env

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

PIECE_BYTES = 1 << 20
PIPE_BYTES = 1 << 16
ERROR_BYTES = 1 << 16
MEMORY_BYTES = 4 << 30


Process = subprocess.Popen[bytes]
File = BinaryIO | int
Started = tuple[Process, Callable[[], object]]
# Starts a command in a folder under an environment, with its stdin and stderr: a file, PIPE or DEVNULL. Returns the
# process, and a call that waits until all of its stderr is written. Raises OSError.
Starter = Callable[[tuple[str, ...], Path, Mapping[str, str], File, File], Started]


def start_process(
    command: tuple[str, ...],
    cwd: Path,
    env: Env,
    stdin: File,
    errors: File,
) -> Started:
    """Start a command by ourselves, see `Starter`."""
    with hold_interrupts() as started:
        process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=stdin, stdout=subprocess.PIPE, stderr=errors
        )
        started.append(process)
    limit_memory(process.pid)
    return process, process.poll


@contextmanager
def collect_signals(is_held: Callable[[Any], bool]) -> Iterator[list[int]]:
    """Collect SIGINT, SIGTERM and SIGHUP where the handler is one to replace, in the main thread."""
    arrived: list[int] = []
    handlers: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        # Windows has no SIGHUP.
        numbers = (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))
        handlers = {n: found for n in numbers if is_held(found := signal.getsignal(n))}
    try:
        for number in handlers:
            signal.signal(number, lambda came, _: arrived.append(came))
        yield arrived
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


@contextmanager
def hold_interrupts() -> Iterator[list[Process]]:
    """Hold the signals that would raise here, as a process that is half started would go on alone.

    One that came ends the processes that were put into the list, and is raised at the end.
    """
    started: list[Process] = []
    arrived: list[int] = []
    try:
        # Without a function of Python's nothing raises; what is ignored stays so in the new process.
        with collect_signals(callable) as arrived:
            yield started
    finally:
        if arrived:
            for process in started:
                process.kill()
                process.wait()
            signal.raise_signal(arrived[0])


class Late(Exception):
    """Git printed nothing for too long."""


class GitCall:
    """A running call; `stdin` is all of its input. Raises OSError if it cannot be started, GitError.

    `until` is a deadline on the `time.monotonic` clock.
    """

    def __init__(
        self,
        command: tuple[str, ...],
        cwd: Path,
        env: Env,
        stdin: bytes = b"",
        start: Starter = start_process,
    ) -> None:
        self._errors = scratch()
        try:
            with scratch(stdin) if stdin else open(os.devnull, "rb") as source:  # noqa: PTH123 - no path of ours
                self._process, self._finish = start(command, cwd, env, source, self._errors)
        except BaseException:
            self._errors.close()
            raise
        assert self._process.stdout  # noqa: S101 - a pipe
        self._output = self._process.stdout
        self._seen = b""

    def anything(self, until: float) -> bool | None:
        """Return whether there is any output; None if the call has failed. Raises Late."""
        self._seen = self._seen or self._some(PIPE_BYTES, until)
        if self._seen:
            return True
        return False if self.ended(until)[0] == 0 else None

    def head(self, end: bytes, until: float) -> bytes | None:
        """Return the output up to an end mark, still to be read; None if it is not in the first PIECE_BYTES.

        Raises Late.
        """
        while end not in self._seen:
            if len(self._seen) > PIECE_BYTES:
                return None
            more = self._some(PIPE_BYTES, until)
            if not more:
                return None
            self._seen += more
        return self._seen[: self._seen.index(end) + len(end)]

    def read(self, most: int, until: float) -> bytes:
        """Read `size` bytes of standard output, or fewer at its end. Raises Late."""
        piece = bytearray(self._seen[:most])
        self._seen = self._seen[most:]
        while len(piece) < most:
            more = self._some(min(PIPE_BYTES, most - len(piece)), until)
            if not more:
                break
            piece += more
        return bytes(piece)

    def rest(self, until: float) -> bytes:
        """Read all remaining output. Raises Late."""
        return b"".join(iter(lambda: self.read(PIECE_BYTES, until), b""))

    def _some(self, most: int, until: float) -> bytes:
        descriptor = self._output.fileno()
        if hasattr(select, "poll"):
            if not readable(descriptor, until):
                raise Late
            return os.read(descriptor, most)
        # Windows cannot wait for a pipe: there a late read ends the process (not tested there).
        late = threading.Event()

        def end() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(max(0.0, until - time.monotonic()), end)
        timer.start()
        try:
            some = os.read(descriptor, most)
        finally:
            timer.cancel()
        if late.is_set():
            raise Late
        return some

    def ended(self, until: float) -> tuple[int, bytes]:
        """Return the exit code and stderr, after all output was read. Raises Late."""
        if self._process.poll() is None:
            # It has closed its output, so it has all but ended: polling would take longer.
            left = (
                None
                if has_ended(self._process.pid, until)
                else max(0.0, until - time.monotonic())
            )
            try:
                self._process.wait(left)
            except subprocess.TimeoutExpired as error:
                raise Late from error
        self._finish()
        self._errors.seek(0)
        return self._process.returncode, self._errors.read(ERROR_BYTES)

    def close(self) -> None:
        """End the process if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._finish()
        self._output.close()
        self._errors.close()


def limit_memory(pid: int) -> None:
    """Limit the memory of a Git process: a file that a hostile `.git` names, or links to, may have no end.

    From outside (prlimit(2), Linux alone): code between fork and exec would make each start slower. Packs are mapped
    and not counted.
    """
    if hasattr(resource, "prlimit"):
        # It may have ended, or be under a lower limit.
        with suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))


def readable(descriptor: int, until: float) -> bool:
    """Return whether there is output, or its end, before a time of `time.monotonic`."""
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(max(0.0, until - time.monotonic()) * 1000))


def has_ended(pid: int, until: float) -> bool:
    """Wait for the end of a process (pidfd_open(2)); False if it has not ended, or the system cannot tell."""
    opener = getattr(os, "pidfd_open", None)
    if opener is None:
        return False
    try:
        descriptor = opener(pid)
    except OSError:  # a kernel before 5.3, or a sandbox
        return False
    try:
        return readable(descriptor, until)
    finally:
        os.close(descriptor)


def scratch(content: bytes = b"") -> BinaryIO:
    """Return an unnamed file with some bytes, in memory if possible. Raises GitError."""
    try:
        file = open_unnamed()
        written = 0
        while written < len(content):
            written += file.write(content[written:])
        file.seek(0)
    except OSError as error:
        raise GitError(
            f"Git's output cannot be written to a temporary file: {error.strerror}; see TMPDIR"
        ) from error
    return file


def open_unnamed() -> BinaryIO:
    """Open a file in memory (memfd_create(2)), or on disk if the system has none, or a sandbox refuses it."""
    try:
        return os.fdopen(os.memfd_create("git"), "w+b", buffering=0)
    except (AttributeError, OSError):
        import tempfile  # rarely needed, and slow to load

        return tempfile.TemporaryFile(buffering=0)
