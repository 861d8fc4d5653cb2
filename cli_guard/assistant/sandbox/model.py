"""What goes into the run tool and what comes out of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from cli_guard.git.repository import Repository
from cli_guard.git.snapshot import Snapshot
from cli_guard.state.memory import Memory


@dataclass(frozen=True, slots=True)
class Limits:
    """How far one call may go.

    `seconds` of wall clock, `commands` run, `loop_iterations` of one loop, `memory_bytes` of files and variables,
    `output_bytes` of each stream, and the overflow files kept: `kept_files`, `kept_bytes` in all, `kept_days`.
    """

    seconds: float = 10.0
    commands: int = 100_000
    loop_iterations: int = 100_000
    memory_bytes: int = 400_000_000
    output_bytes: int = 8_000_000
    kept_files: int = 20
    kept_bytes: int = 50_000_000
    kept_days: float = 7.0


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool that a server of the Model Context Protocol offers; `parameters` is its JSON schema."""

    server: str
    name: str
    summary: str
    parameters: Mapping[str, object] = field(default_factory=dict)


class McpTools(Protocol):
    """The configured servers, as the command `mcp` needs them."""

    def list(self) -> tuple[McpTool, ...]:
        """Every tool of every server. Raises CliGuardError."""

    def call(self, name: str, arguments: str) -> str:
        """What the tool `server.name` answers to arguments in JSON. Raises CliGuardError with the next step."""


@dataclass(frozen=True, slots=True)
class Shell:
    """The world that a command sees.

    `snapshot` is all its files. Without a `repository` there is no history, without a `memory` nothing is
    remembered, without `mcp` no server is known, and without a `state_folder` long output is not kept.
    """

    snapshot: Snapshot
    repository: Repository | None = None
    memory: Memory | None = None
    mcp: McpTools | None = None
    state_folder: Path | None = None
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Image:
    """A picture that a model may look at. `kind` is the media type after `image/`, sizes are in pixels."""

    path: str
    kind: str
    width: int | None
    height: int | None
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Ran:
    """What one call gave.

    `shown` is the presentation; the rest is the execution alone. `changes` are the files that the command would
    have written: path -> its new bytes, None for one that is gone. `limits` names each limit that was hit.
    """

    shown: str
    stdout: bytes
    stderr: bytes
    exit_code: int
    seconds: float
    changes: Mapping[str, bytes | None] = field(default_factory=dict)
    images: tuple[Image, ...] = ()
    limits: tuple[str, ...] = ()
