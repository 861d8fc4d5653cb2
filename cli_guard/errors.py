"""The error tree, and what each branch means to the shell.

    CliGuardError            the base: one clear line, exit 1
    +-- UsageError           wrong options or arguments, exit 2
    +-- ConfigError          a configuration file that does not hold, exit 2
    +-- GitError             Git refused, or gave what we cannot use, exit 2
    |   +-- NotARepository   there is no repository here, exit 2
    |   +-- MissingObject    an object that Git should have is not there, exit 2
    +-- Interrupted          somebody pressed Ctrl-C after something had begun, exit 130
    +-- InternalError        a bug of ours, exit 4

Anything else that reaches the front door is an internal error too: it blocks, and it leaves a report.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """What `cli-guard` answers its caller; a hook passes it on, and Git blocks on any but 0."""

    OK = 0
    DENIED = 1
    USAGE = 2
    NEEDS_REVIEW = 3
    INTERNAL = 4
    INTERRUPTED = 130


class CliGuardError(Exception):
    """A failure the user can act on. `str(error)` is one line: what is wrong and what to do."""

    exit_code: ExitCode = ExitCode.DENIED


class UsageError(CliGuardError):
    """The command line does not hold."""

    exit_code = ExitCode.USAGE


class ConfigError(CliGuardError):
    """A configuration file does not hold; the line names the file and the key."""

    exit_code = ExitCode.USAGE


class GitError(CliGuardError):
    """Git refused; the line carries Git's own words."""

    exit_code = ExitCode.USAGE


class NotARepository(GitError):
    """There is no Git repository at or above the folder."""


class MissingObject(GitError):
    """The repository names an object that its object store does not hold."""


class Interrupted(CliGuardError):
    """Somebody pressed Ctrl-C after something had begun; the line says what became of it."""

    exit_code: ExitCode = ExitCode.INTERRUPTED


class InternalError(CliGuardError):
    """Our own fault, put in one line."""

    exit_code = ExitCode.INTERNAL
