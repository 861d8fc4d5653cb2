"""Our ends of a command's streams: output is logged, kept and forwarded; input is the answer it is given."""

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from cli_guard.execution.processes.supervisor.wire import STDERR, STDOUT, Message, frame

if TYPE_CHECKING:
    from cli_guard.execution.processes.supervisor.launching import Launched

READ_BYTES = 262_144
LOG_BYTES = 50_000_000
KEPT_BYTES = 40_000


class Log:
    """A log file that is moved to `<name>.1` at its limit, replacing the one before.

    A full disk or a missing folder ends the log and not the command: `problem` says why.
    """

    def __init__(self, path: str, limit: int = LOG_BYTES) -> None:
        self.path = path
        self.problem: str | None = None
        self.rotated = False
        self._limit = limit
        self._size = 0
        self._fd: int | None = None
        self._open()

    def _open(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            self._fd = os.open(self.path, flags, 0o600)
            self._size = os.fstat(self._fd).st_size
        except OSError as error:
            self.problem = error.strerror

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def write(self, data: bytes) -> None:
        if self._fd is None:
            return
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._fd, rest) :]
            self._size += len(data)
            if self._size >= self._limit:
                self.close()
                os.replace(self.path, f"{self.path}.1")  # noqa: PTH105 - as above
                self.rotated = True
                self._open()
        except OSError as error:
            self.problem = error.strerror
            self.close()


class KeptOutput:
    """The beginning and the end of one stream, and its size."""

    def __init__(self) -> None:
        self.total = 0
        self.head = bytearray()
        self.tail = bytearray()

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = KEPT_BYTES - len(self.head)
        if room > 0:
            self.head += data[:room]
            data = data[room:]
        if data:
            self.tail += data[-KEPT_BYTES:]
            if len(self.tail) > 2 * KEPT_BYTES:
                del self.tail[:-KEPT_BYTES]

    def as_message(self) -> dict[str, object]:
        """Return it for JSON, a character for each byte."""
        return {
            "total": self.total,
            "head": self.head.decode("latin-1"),
            "tail": self.tail[-KEPT_BYTES:].decode("latin-1"),
        }


class OutputStreams:
    """The streams of one command; a terminal is output and input at once, and gets its answer at the start."""

    def __init__(self, run: "Launched", log: Log, answers: str, *, terminal: bool) -> None:
        self._log = log
        self._kept = {STDOUT: KeptOutput(), STDERR: KeptOutput()}
        self._input = run.stdin
        self._terminal = terminal
        self._answers = bytearray(answers.encode("utf-8", "surrogateescape"))
        self._output = {run.stdout: STDOUT} | (
            {run.stderr: STDERR} if run.stderr is not None else {}
        )
        for fd in {*self._output, *([run.stdin] if run.stdin is not None else [])}:
            os.set_blocking(fd, False)
        if terminal and self._answers:
            self.type(bytes(self._answers))

    @property
    def output(self) -> list[int]:
        """The descriptors to read, none once all have ended."""
        return list(self._output)

    @property
    def input(self) -> int | None:
        """The descriptor to write an answer to, None if there is nothing to write or close."""
        return None if self._terminal else self._input

    def read(self, fd: int) -> bytes:
        """Read one stream, and return the output as a frame; empty for none."""
        kind = self._output[fd]
        try:
            data = os.read(fd, READ_BYTES)
        except BlockingIOError:
            return b""
        except OSError:  # a terminal whose last user is gone (EIO)
            data = b""
        if not data:
            del self._output[fd]
            if fd != self._input:
                os.close(fd)
            return b""
        self._log.write(data)
        self._kept[kind].add(data)
        return frame(kind, data)

    def answer(self) -> None:
        """Write what the input takes of the answer, and close it at the end."""
        if self._input is None:
            return
        try:
            del self._answers[: os.write(self._input, self._answers)]
        except BlockingIOError:
            return
        except OSError:
            self._answers.clear()
        if not self._answers:
            os.close(self._input)
            self._input = None

    def type(self, data: bytes) -> None:
        """Type into the terminal of the command."""
        if self._terminal and self._input is not None:
            with suppress(OSError):
                os.write(self._input, data)

    def close(self) -> None:
        for fd in {*self._output, *([self._input] if self._input is not None else [])}:
            os.close(fd)

    def as_message(self) -> Message:
        return {
            "stdout": self._kept[STDOUT].as_message(),
            "stderr": self._kept[STDERR].as_message(),
            "log_problem": self._log.problem,
            "log_rotated": self._log.rotated,
        }
