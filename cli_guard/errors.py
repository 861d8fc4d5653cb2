"""The error tree, and the exit code of each branch.

    CliGuardError            the base: it could not be done; one clear line, exit 2
    +-- UsageError           wrong options or arguments
    +-- ConfigError          an invalid configuration file
    +-- GitError             Git refused, or printed what we cannot use
    |   +-- NotARepository   there is no repository here
    |   +-- MissingObject    an object that Git should have is missing
    +-- Denied               policy denies it, and no answer changes that, exit 1
    +-- Interrupted          Ctrl-C after something had begun, exit 130
    +-- InternalError        a bug in cli-guard, exit 4

Any other exception that reaches `cli_guard.__main__` is an internal error too: it blocks, and writes a report.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of `cli-guard`; a hook passes them on, and Git blocks on any but 0.

    DENIED is also a check whose answer is no (`doctor`, `audit verify`, `server status`), a person who says no, and a
    command that was run and failed. USAGE is whatever could not be done: wrong options, a configuration, a file.
    """

    OK = 0
    DENIED = 1
    USAGE = 2
    NEEDS_REVIEW = 3
    INTERNAL = 4
    INTERRUPTED = 130


class CliGuardError(Exception):
    """A failure that the user can fix. `str(error)` is one line: what is wrong and what to do."""

    exit_code: ExitCode = ExitCode.USAGE


class UsageError(CliGuardError):
    """The command line is invalid."""


class ConfigError(CliGuardError):
    """A configuration file is invalid; the message names the file and the key."""


class GitError(CliGuardError):
    """Git refused; the message contains Git's own words."""


class NotARepository(GitError):
    """There is no Git repository at or above the folder."""


class MissingObject(GitError):
    """The repository refers to an object that its object store does not have."""


class Denied(CliGuardError):
    """Policy denies what was asked for, and no approval changes that."""

    exit_code = ExitCode.DENIED


class Interrupted(CliGuardError):
    """Ctrl-C was pressed after something had begun; the message says what happened to it."""

    exit_code: ExitCode = ExitCode.INTERRUPTED


class InternalError(CliGuardError):
    """A bug in cli-guard, in one line."""

    exit_code = ExitCode.INTERNAL
