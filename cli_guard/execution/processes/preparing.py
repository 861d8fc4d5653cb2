"""Prepares a command: its words, folder and environment, or the reason why it cannot start."""

import math
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from cli_guard.errors import CliGuardError
from cli_guard.execution.environment import Passed, clean_environment
from cli_guard.execution.processes.model import ProcessLimits
from cli_guard.execution.processes.sandbox import DESCRIPTION, Sandbox, wrap_command
from cli_guard.execution.shell import shell_words
from cli_guard.lazy import frozen

TERMINAL_SIZE = (40, 120)


@frozen
class Prepared:
    """A command that can be started; `command` is its text as a person writes it.

    `terminal` is rows and columns. `sandbox` describes the one that it runs in.
    """

    words: tuple[str, ...]
    command: str
    folder: str
    env: dict[str, str]
    limits: ProcessLimits
    terminal: tuple[int, int] | None = None
    sandbox: str | None = None
    notes: tuple[str, ...] = ()


def prepare(
    command: str | Sequence[str],
    cwd: Path | str | None,
    env: Mapping[str, str] | None,
    limits: ProcessLimits | None,
    terminal: bool | tuple[int, int],
    sandbox: Sandbox | None,
    timeout: float | None,
) -> Prepared:
    """Check a command and decide all that its start needs. Raises CliGuardError for one that cannot start."""
    shown, place = text_and_folder(command, cwd)
    folder = Path(place)
    problem = problem_with(command, folder, timeout)
    if problem:
        raise CliGuardError(problem)
    passed = Passed(dict(env)) if env is not None else clean_environment(dict(os.environ))
    # A server that a hook of Git starts would be ended with the command, and counted as left behind by it.
    own = {"CLI_GUARD_SERVER": "0", **passed.env}
    words = shell_words(command, own) if isinstance(command, str) else tuple(command)
    if sandbox is not None:
        words = wrap_command(words, sandbox, folder, own)
    size = TERMINAL_SIZE if terminal is True else terminal or None
    return Prepared(
        words,
        shown,
        place,
        own,
        limits or ProcessLimits(),
        size,
        DESCRIPTION if sandbox else None,
        passed.notes(),
    )


def text_and_folder(
    command: str | Sequence[str], cwd: Path | str | None
) -> tuple[str, str]:
    """Return a command as a person writes it, and the folder that it runs in."""
    shown = command if isinstance(command, str) else shlex.join(command)
    return shown, str(Path.cwd() / cwd if cwd is not None else Path.cwd())


def problem_with(
    command: str | Sequence[str], folder: Path, timeout: float | None
) -> str | None:
    """Return why a command cannot be started, None if nothing is known against it; folders in the words of seed 004."""
    words = (command,) if isinstance(command, str) else tuple(command)
    if not words or not words[0].strip():
        return "there is no command: name a program"
    if any("\0" in word for word in words):
        return "the command holds a NUL character, which no program accepts"
    if not folder.exists():
        return f"Working directory not found: {folder}"
    if not folder.is_dir():
        return f"Path is not a directory: {folder}"
    if timeout is not None and (not math.isfinite(timeout) or timeout <= 0):
        return f"the timeout must be more than 0 seconds, not {timeout:g}"
    return None
