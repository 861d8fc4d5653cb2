"""From what is asked for to what is started: the words, the folder, the environment, or why not."""

import math
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from cli_guard.errors import CliGuardError
from cli_guard.execution.processes.environment import Passed, clean_environment
from cli_guard.execution.processes.model import Limits, Result, Started
from cli_guard.execution.processes.sandbox import Sandbox, wrap_command

TERMINAL_SIZE = (40, 120)


@dataclass(frozen=True, slots=True)
class Refused:
    """What cannot be started, and why."""

    command: str
    folder: str
    error: str
    details: Mapping[str, Any] = field(default_factory=dict)

    def result(self) -> Result:
        """As what came of it in the foreground."""
        return Result(self.command, self.folder, error=self.error, details=self.details)

    def started(self) -> Started:
        """As what came of it in the background."""
        return Started(self.command, self.folder, "failed", error=self.error, details=self.details)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A command that can be started: its words, as a person writes it, and where and how it runs.

    `reachable`: would we get an answer on a port that it listens on?
    """

    words: tuple[str, ...]
    command: str
    folder: str
    env: dict[str, str]
    limits: Limits
    terminal: tuple[int, int] | None = None
    sandbox: str | None = None
    reachable: bool = True
    notes: tuple[str, ...] = ()


def prepare(
    command: str | Sequence[str],
    cwd: Path | str | None,
    env: Mapping[str, str] | None,
    limits: Limits | None,
    terminal: bool | tuple[int, int],
    sandbox: Sandbox | None,
    timeout: float | None,
) -> Prepared | Refused:
    """All that has to be known of a command before it is started."""
    shown = command if isinstance(command, str) else shlex.join(command)
    folder = Path.cwd() / cwd if cwd is not None else Path.cwd()
    problem = problem_with(command, folder, timeout)
    if problem:
        return Refused(shown, str(folder), problem)
    passed = Passed(dict(env)) if env is not None else clean_environment(dict(os.environ))
    own = passed.env
    words = (shell_of(own), "-c", "--", command) if isinstance(command, str) else tuple(command)
    said = None
    if sandbox is not None:
        try:
            words, said = wrap_command(words, sandbox, folder, own)
        except CliGuardError as error:
            return Refused(shown, str(folder), str(error))
    size = TERMINAL_SIZE if terminal is True else terminal or None
    reachable = sandbox is None or sandbox.network
    return Prepared(words, shown, str(folder), own, limits or Limits(), size, said, reachable, passed.notes())


def problem_with(command: str | Sequence[str], folder: Path, timeout: float | None) -> str | None:
    """Why a command cannot be started, None if nothing is known against it; the folder in the words of seed 004."""
    words = (command,) if isinstance(command, str) else tuple(command)
    if not words or not words[0].strip():
        return "there is no command: name a program"
    if any("\0" in word for word in words):
        return "the command holds a NUL character, which no program takes"
    if not folder.exists():
        return f"Working directory not found: {folder}"
    if not folder.is_dir():
        return f"Path is not a directory: {folder}"
    if timeout is not None and (not math.isfinite(timeout) or timeout <= 0):
        return f"a time-out is more than 0 seconds, not {timeout:g}"
    return None


def shell_of(env: Mapping[str, str]) -> str:
    """The shell that runs a text: bash, as its syntax is what the command engine reads."""
    return shutil.which("bash", path=env.get("PATH")) or "/bin/sh"


def method(force: bool) -> Literal["graceful", "forced"]:
    """How a process is ended, in the words of seed 004."""
    return "forced" if force else "graceful"
