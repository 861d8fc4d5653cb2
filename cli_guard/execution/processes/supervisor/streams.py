"""Our ends of a command's streams: its output is logged, kept and passed on; its input is what it is answered."""

import os
from contextlib import suppress

from cli_guard.execution.processes.supervisor.launching import Launched
from cli_guard.execution.processes.supervisor.output import Kept, Log
from cli_guard.execution.processes.supervisor.wire import STDERR, STDOUT, Message, frame

READ_BYTES = 262_144


class Streams:
    """The streams of one command. A terminal is output and input at once, and is answered as soon as it is there."""

    def __init__(self, run: Launched, log: Log, answers: str, *, terminal: bool) -> None:
        self._log = log
        self._kept = {STDOUT: Kept(), STDERR: Kept()}
        self._input = run.stdin
        self._terminal = terminal
        self._answers = bytearray(answers.encode("utf-8", "surrogateescape"))
        self._output = {run.stdout: STDOUT} | ({run.stderr: STDERR} if run.stderr is not None else {})
        for fd in {*self._output, *([run.stdin] if run.stdin is not None else [])}:
            os.set_blocking(fd, False)
        if terminal and self._answers:
            self.type(bytes(self._answers))

    @property
    def output(self) -> list[int]:
        """What can be read, nothing once all of it has ended."""
        return list(self._output)

    @property
    def input(self) -> int | None:
        """What can be written to: an answer waits, or the end of input is to be told."""
        return None if self._terminal else self._input

    def read(self, fd: int) -> bytes:
        """Takes in what one stream has put out; it comes as a frame, empty for nothing."""
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
        """Writes what is taken of the answer, and closes the input after it."""
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
        """Types into the terminal of the command."""
        if self._terminal and self._input is not None:
            with suppress(OSError):
                os.write(self._input, data)

    def close(self) -> None:
        """Lets go of what is still open: somebody else has the other end."""
        for fd in {*self._output, *([self._input] if self._input is not None else [])}:
            os.close(fd)

    def as_message(self) -> Message:
        """What is known of the output."""
        return {
            "stdout": self._kept[STDOUT].as_message(),
            "stderr": self._kept[STDERR].as_message(),
            "held": self._log.held,
            "log_problem": self._log.problem,
            "log_rotated": self._log.rotated,
        }
