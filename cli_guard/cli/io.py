"""What a command may touch of the process: its streams, folder and environment, handed in, never looked up."""

import io
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from cli_guard.runtime import Invocation


@dataclass(frozen=True)
class Io:
    """The surroundings of one command."""

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    cwd: Path
    env: Mapping[str, str] = field(repr=False)

    @property
    def invocation(self) -> "Invocation":
        """Where and when the command runs."""
        import datetime

        from cli_guard.runtime import Invocation

        return Invocation(self.cwd, self.env, datetime.datetime.now(datetime.UTC))

    def say(self, text: str) -> None:
        """Prints a result, with a newline if it has none; nothing for nothing."""
        write(self.stdout, text)

    def warn(self, text: str) -> None:
        """Prints a diagnostic."""
        write(self.stderr, text)

    def write_bytes(self, out: bytes, err: bytes) -> None:
        """Writes bytes to both streams as they are; to a terminal, nothing that acts on it."""
        for stream, data in ((self.stderr, err), (self.stdout, out)):
            buffer = getattr(stream, "buffer", None)
            if buffer is None or stream.isatty():
                stream.write(shown_on_terminal(data))
            else:
                stream.flush()
                buffer.write(data)
            stream.flush()

    def read_bytes(self) -> bytes:
        """Standard input, whole, as bytes."""
        buffer = getattr(self.stdin, "buffer", None)
        return buffer.read() if buffer is not None else self.stdin.read().encode("utf-8", "surrogateescape")

    def byte_lines(self, longest: int) -> Iterator[bytes | None]:
        """Standard input line by line, as it comes; None for a line of more than `longest` bytes."""
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
        """May colour be used? NO_COLOR and FORCE_COLOR count where the choice is `auto`."""
        if choice != "auto":
            return choice == "always"
        if self.env.get("NO_COLOR"):
            return False
        if self.env.get("FORCE_COLOR"):
            return self.env["FORCE_COLOR"] != "0"
        return self.stdout.isatty() and self.env.get("TERM") != "dumb"

    @property
    def ascii_only(self) -> bool:
        """Can the output show no more than ASCII?"""
        encoding = (getattr(self.stdout, "encoding", None) or "ascii").lower().replace("-", "")
        return not encoding.startswith("utf")

    def path(self, name: str) -> Path:
        """A path that the user named, seen from the command's folder."""
        return self.cwd / os.path.expanduser(name)  # noqa: PTH111 - `~` by the process, like a shell


def write(stream: TextIO, text: str) -> None:
    """Writes text with a final newline, nothing for nothing."""
    if text:
        put(stream, text if text.endswith("\n") else text + "\n")


def put(stream: TextIO, text: str) -> None:
    """Writes text as it is; what the stream's encoding cannot show is escaped."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def shown_on_terminal(data: bytes) -> str:
    """Bytes as text without what acts on a terminal; tabs stay."""
    from cli_guard.secrets.printable import printable

    text = data.decode("utf-8", "surrogateescape")
    return "\t".join(printable(part, keep_newlines=True) for part in text.split("\t"))
