"""The streams, folder and environment of a command: passed in, never looked up."""

import io
import os
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from cli_guard.lazy import frozen

if TYPE_CHECKING:
    from cli_guard.git.repository import GitRepository
    from cli_guard.runtime import Invocation


@frozen
class Io:
    """The streams, folder and environment of one command."""

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    cwd: Path
    env: Mapping[str, str] = field(repr=False)

    @property
    def invocation(self) -> "Invocation":
        """Return where and when the command runs."""
        import datetime

        from cli_guard.runtime import Invocation

        return Invocation(self.cwd, self.env, datetime.datetime.now(datetime.UTC))

    def find_repository(
        self, *ahead: tuple[str, ...], through_gitpython: bool = False
    ) -> "GitRepository":
        """Return the repository around the folder; `ahead` are calls to begin. Raises NotARepository, GitError."""
        from cli_guard.git.repository import GitRepository

        return GitRepository.discover(
            self.cwd, self.env, *ahead, through_gitpython=through_gitpython
        )

    def say(self, text: str) -> None:
        """Print a result with a final newline; print nothing if it is empty."""
        write(self.stdout, text)

    def warn(self, text: str) -> None:
        """Print a diagnostic."""
        write(self.stderr, text)

    def complain(self, text: str) -> None:
        """Print an error in one line, without control characters and secrets."""
        from cli_guard.secrets.printable import printable
        from cli_guard.secrets.redact import redact

        self.warn(f"cli-guard: {printable(redact(text))}")

    def write_bytes(self, out: bytes, err: bytes) -> None:
        """Write bytes to both streams unchanged; to a terminal, without control characters."""
        for stream, data in ((self.stderr, err), (self.stdout, out)):
            buffer = getattr(stream, "buffer", None)
            if buffer is None or stream.isatty():
                stream.write(shown_on_terminal(data.decode("utf-8", "surrogateescape")))
            else:
                stream.flush()
                buffer.write(data)
            stream.flush()

    def read_bytes(self) -> bytes:
        """Read all of standard input as bytes."""
        buffer = getattr(self.stdin, "buffer", None)
        return (
            buffer.read()
            if buffer is not None
            else self.stdin.read().encode("utf-8", "surrogateescape")
        )

    def byte_lines(self, longest: int) -> Iterator[bytes | None]:
        """Yield the lines of standard input as they arrive; None for a line of more than `longest` bytes."""
        source = getattr(self.stdin, "buffer", None)
        if source is None:
            source = io.BytesIO(self.read_bytes())
        while line := source.readline(longest + 1):
            too_long = len(line) > longest and not line.endswith(b"\n")
            rest = line
            while len(rest) > longest and not rest.endswith(b"\n"):
                rest = source.readline(longest + 1)
            yield None if too_long else line.rstrip(b"\r\n")

    def colored(self, choice: str) -> bool:
        """Return whether colour may be used: NO_COLOR and FORCE_COLOR decide if the choice is `auto`."""
        if choice != "auto":
            return choice == "always"
        if self.env.get("NO_COLOR"):
            return False
        if self.env.get("FORCE_COLOR"):
            return self.env["FORCE_COLOR"] != "0"
        return self.stdout.isatty() and self.env.get("TERM") != "dumb"

    @property
    def ascii_only(self) -> bool:
        """Return whether the output is limited to ASCII."""
        encoding = (
            (getattr(self.stdout, "encoding", None) or "ascii").lower().replace("-", "")
        )
        return not encoding.startswith("utf")

    def path(self, name: str) -> Path:
        """Resolve a path from the user against the command's folder."""
        return self.cwd / os.path.expanduser(name)  # noqa: PTH111 - `~` by the process, like a shell


def write(stream: TextIO, text: str) -> None:
    """Write text with a final newline; write nothing if it is empty."""
    if text:
        put(stream, text if text.endswith("\n") else text + "\n")


def put(stream: TextIO, text: str) -> None:
    """Write text; escape what the stream's encoding cannot represent."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def shown_on_terminal(text: str) -> str:
    """Return a text without control characters; keep tabs."""
    from cli_guard.secrets.printable import printable

    return "\t".join(printable(part, keep_newlines=True) for part in text.split("\t"))
