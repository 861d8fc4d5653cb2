"""What goes into the run tool, what comes out of it, and what its commands are given and give back."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from cli_guard.lazy import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from bashkit import FileSystem

    from cli_guard.policy.mcp import McpTool
    from cli_guard.repository.protocol import Repository
    from cli_guard.repository.snapshot import Snapshot
    from cli_guard.state.memory import Memory


@frozen
class RunLimits:
    """How far one call may go.

    `seconds` of wall clock, `commands` run, `loop_iterations` of one loop, `memory_bytes` of variables,
    `output_bytes` of each stream, and the overflow files kept: `kept_files`, `kept_bytes` in all, `kept_days`.
    """

    seconds: float = 10.0
    commands: int = 100_000
    loop_iterations: int = 100_000
    # `x=$x$x$x` takes three times as much of the process.
    memory_bytes: int = 20_000_000
    output_bytes: int = 8_000_000
    kept_files: int = 20
    kept_bytes: int = 50_000_000
    kept_days: float = 7.0


class McpTools(Protocol):
    """The configured servers, as the command `mcp` needs them."""

    def list(self) -> tuple[McpTool, ...]:
        """Return every tool of every server. Raises CliGuardError."""

    def call(self, name: str, arguments: str) -> str:
        """Call a tool (`mcp:` may be left out) with arguments in JSON. Raises CliGuardError with the next step."""


@frozen
class CommandWorld:
    """The world that a command sees.

    `snapshot` is all its files. Without a `repository` there is no history, without a `memory` nothing is
    remembered, without `mcp` no server is known, and without a `state_folder` long output is not kept. `ask` answers
    a question in words, or raises CliGuardError. Of the paths that `hides` names, patterns as for fnmatch(3), the
    history shows nothing; `snapshot` does not hold them. With some, what Git answers is masked before it is piped.
    """

    snapshot: Snapshot
    repository: Repository | None = None
    memory: Memory | None = None
    mcp: McpTools | None = None
    state_folder: Path | None = None
    limits: RunLimits = field(default_factory=RunLimits)
    ask: Callable[[str], str] | None = None
    hides: tuple[str, ...] = ()


@frozen
class Image:
    """A picture that a model may look at. `kind` is the media type after `image/`."""

    path: str
    kind: str
    data: bytes = field(repr=False)


@frozen
class RunResult:
    """What one call gave.

    `changes` are the files that the command would have written: path -> its new bytes, None for a removed one.
    `limits` names each limit that was hit. `started` is False where a syntax error kept the command from running.
    `shown` is the presentation, made after the chain has ended, which took `seconds`.
    """

    stdout: bytes
    stderr: bytes
    exit_code: int
    changes: Mapping[str, bytes | None] = field(default_factory=dict)
    images: tuple[Image, ...] = ()
    limits: tuple[str, ...] = ()
    started: bool = True
    shown: str = ""
    seconds: float = 0.0


class CommandFailure(Exception):
    """A command of ours cannot do what was asked: one line with the next step."""

    exit_code = 1


class WrongUsage(CommandFailure):
    """The arguments of a command of ours are not valid."""

    exit_code = 2


@frozen
class CommandCall:
    """One call of a command of ours: its words, standard input, the folder it was called in, and the world."""

    arguments: tuple[str, ...]
    stdin: bytes
    folder: str
    files: FileSystem = field(repr=False)
    world: CommandWorld = field(repr=False)

    def absolute(self, path: str) -> str:
        """Return the path in the sandbox that a word names."""
        return posixpath.normpath(posixpath.join(self.folder, path))

    def is_folder(self, path: str) -> bool:
        """Return whether there is a folder, or a link to one."""
        try:
            return bool(self.files.stat(self.absolute(path))["file_type"] == "directory")
        except (RuntimeError, OSError):
            return False

    def read(self, path: str) -> bytes:
        """Return the bytes of a file. Raises CommandFailure."""
        try:
            return self.files.read_file(self.absolute(path))
        except (RuntimeError, OSError):
            raise CommandFailure(
                f"no file {path} here: see what is there with ls or find"
            ) from None


@frozen
class CommandOutput:
    """What a command of ours gives back."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int = 0
    images: tuple[Image, ...] = ()

    @classmethod
    def from_text(cls, text: str) -> CommandOutput:
        """Make an answer of some lines, with a line end if they have none."""
        ended = text if not text or text.endswith("\n") else text + "\n"
        return cls(ended.encode("utf-8", "surrogateescape"))

    @classmethod
    def error(cls, name: str, message: str, exit_code: int = 1) -> CommandOutput:
        """Make an error, in the form that every command of ours has."""
        return cls(
            stderr=f"[error] {name}: {message}\n".encode("utf-8", "surrogateescape"),
            exit_code=exit_code,
        )
