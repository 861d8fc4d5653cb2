"""Runs an approved command: with a time limit, its output shown as it comes, and a summary of a few lines."""

from collections.abc import Callable, Mapping
from pathlib import Path

from cli_guard.errors import UsageError
from cli_guard.execution.environment import clean_environment
from cli_guard.execution.errors import explain_output, plain
from cli_guard.execution.processes.model import Result
from cli_guard.graph.tools.tool import RUN_SECONDS
from cli_guard.lazy import frozen
from cli_guard.secrets.masked_stream import MaskedStream
from cli_guard.secrets.printable import clip, printable
from cli_guard.secrets.redact import redact

# The summary.
END_CHARS = 4_000
# How much of the end is searched for them: a test program sums up at the end.
SEARCHED_BYTES = 1_000_000
# What is shown while it runs; the log holds the rest.
SHOWN_BYTES = 2_000_000
SHOWN_LINE_CHARS = 2_000


@frozen
class CommandRunner:
    """Runs approved commands in the top folder of a work tree.

    `env` is the caller's environment, of which a command gets what is no secret; `kept` the state folder, where the log
    of a long output stays. `say` is given the output as it comes, line by line, as it may be shown; without it none
    is. `begin` is called right before a command starts: what it raises keeps it from starting. `seconds` is the
    time-out.
    """

    folder: str
    env: Mapping[str, str]
    kept: Path
    say: Callable[[str], None] | None = None
    begin: Callable[[], None] | None = None
    seconds: float = RUN_SECONDS

    def run(self, command: str, folder: str) -> Mapping[str, object]:
        """Run a command with bash to its end, without input; nothing that it started is left running.

        Raises UsageError for a folder that is another, CliGuardError, KeyboardInterrupt, and what `begin` raises.
        """
        if folder != self.folder:
            raise UsageError(
                f"this was asked for {folder or 'no folder'}: ask again in {self.folder}"
            )
        # Every answer is given a runner, and few of them run anything.
        from cli_guard.execution.processes.manager import ProcessManager

        shown = ApprovedOutput(self.say or (lambda line: None))
        with ProcessManager(self.kept / "processes") as manager:
            if self.begin:
                self.begin()
            result = manager.run(
                command,
                cwd=self.folder,
                env=clean_environment(self.env).env,
                timeout=self.seconds,
                respond=None,
                on_output=shown.add,
            )
        shown.end()
        return summarize(result, bytes(shown.tail), self.seconds)


class ApprovedOutput:
    """The output of a command as lines for a terminal: of two streams, masked, without what acts on it, bounded."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._masked = {"stdout": MaskedStream(), "stderr": MaskedStream()}
        self._said = 0
        self.tail = bytearray()

    def add(self, stream: str, data: bytes) -> None:
        """Take in bytes of a stream as they come."""
        self.tail += data
        if len(self.tail) > 2 * SEARCHED_BYTES:
            del self.tail[:-SEARCHED_BYTES]
        if self._said <= SHOWN_BYTES:
            self._show(self._masked[stream].feed(data))

    def end(self) -> None:
        """Show what has no end of line."""
        for masked in self._masked.values():
            if self._said <= SHOWN_BYTES:
                self._show(masked.end())

    def _show(self, text: str) -> None:
        self._said += len(text)
        for line in text.removesuffix("\n").split("\n") if text else ():
            self._say(clip(printable_line(line), SHOWN_LINE_CHARS))
        if self._said > SHOWN_BYTES:
            self._say(f"[more than {SHOWN_BYTES:,} bytes: the rest is in the log alone]")


def split_lines(data: bytes) -> list[str]:
    """Return output as lines that may be shown, each as it is at its end: a progress bar is written over itself."""
    text = plain(data.decode("utf-8", "surrogateescape").replace("\r\n", "\n"))
    lines = redact(text).split("\n")
    if not lines[-1]:
        lines.pop()
    return [printable_line(line.rstrip("\r").rpartition("\r")[2]) for line in lines]


def printable_line(line: str) -> str:
    """Return a line of output for a terminal."""
    return printable(line.replace("\t", "    "))


def summarize(result: Result, output: bytes, seconds: float) -> dict[str, object]:
    """Return the result of a command, as plain data that may be shown."""
    return {
        "command": printable(redact(result.command)),
        "folder": printable(result.working_dir),
        "exit_code": result.return_code,
        "duration": round(result.duration, 2),
        "timed_out": result.timed_out,
        "left_behind": result.left_behind,
        "stdout": show_end(result.stdout),
        "stderr": show_end(result.stderr),
        "failing_lines": []
        if result.success
        else explain_output(output[-SEARCHED_BYTES:].decode("utf-8", "replace")),
        "log": result.log_file,
        "problem": "" if result.success else problem_of(result, seconds),
    }


def show_end(text: str) -> str:
    """Return the end of an output, as it may be shown."""
    return "\n".join(split_lines(text.encode("utf-8", "surrogateescape")))[-END_CHARS:]


def problem_of(result: Result, seconds: float) -> str:
    """Return why a command failed, and what to do, in one line."""
    if result.timed_out:
        return f"not done within {seconds:g} s and ended, with all that it had started: run less, or run it yourself"
    return printable(redact(result.error or f"exit code {result.return_code}"))
