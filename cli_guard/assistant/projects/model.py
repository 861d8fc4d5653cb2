"""What this room answers with: commands of a project, advice, the tests that cover something, a simulated run."""

from typing import Literal, get_args

from cli_guard.assistant.request_command import CommandPurpose
from cli_guard.lazy import frozen

# What says that the command is one: a document, a task that is written down, a tool that is set up, what is run in
# continuous integration, or what is usual in such a project.
CommandOrigin = Literal["docs", "task", "configured", "ci", "convention"]
ORIGINS: tuple[CommandOrigin, ...] = get_args(CommandOrigin)

CoverStrength = Literal["strong", "medium", "weak"]
TestOutcome = Literal["passed", "failed", "not recorded"]


@frozen
class FoundCommand:
    """A command as a file of the repository gives it, before it is classified, masked and clipped.

    `body` is what it runs. `purpose` is given where the file says it by what it is; else name and body say it.
    `rank` orders commands of one purpose and origin: less is better.
    """

    command: str
    path: str
    line: int
    body: str = ""
    name: str = ""
    origin: CommandOrigin = "task"
    purpose: CommandPurpose | None = None
    rank: int = 0


@frozen
class ProjectCommand:
    """A command that the files of a repository offer.

    `command` can be pasted at the root of the repository. `path` and `line` (from 1) are where it is defined,
    `detail` what it runs, on one line, redacted and clipped. `name` is the name of the target, script or task, empty
    for a command that has none. `documented` is the place where a document for contributors tells people to run it.
    """

    purpose: CommandPurpose
    command: str
    path: str
    line: int
    detail: str = ""
    name: str = ""
    origin: CommandOrigin = "task"
    documented: tuple[str, int] | None = None


@frozen
class CommandPart:
    """A part of a command, and what it does."""

    text: str
    meaning: str


@frozen
class CommandAdvice:
    """The command that a request asks for, as text: nothing has been run.

    `command` is None if the files name none; `looked_at` names the files that were read, whatever the answer.
    `setup` is what has to be run once before, if the repository says so. `assumed` says what the request left open.
    `note` is a word on what the command does that a name alone does not say (a Git recipe has one).
    """

    command: str | None
    source: tuple[str, int] | None
    purpose: CommandPurpose
    parts: tuple[CommandPart, ...] = ()
    alternatives: tuple[ProjectCommand, ...] = ()
    setup: str | None = None
    assumed: str | None = None
    looked_at: tuple[str, ...] = ()
    note: str | None = None


@frozen
class CoveringTest:
    """A test file, the names of those of its tests that matter (all that it has if none is singled out), and why."""

    path: str
    names: tuple[str, ...]
    reason: str
    strength: CoverStrength


@frozen
class Covering:
    """The tests for some paths and symbols, strongest first.

    `command` runs exactly these, None if there are none or no known program runs them. `uncovered` are the paths no
    test was found for, `looked_at` is the number of files that were searched, `left_out` the number of weaker tests
    beyond the bound. `note` names what a bound cut, empty if nothing.
    """

    tests: tuple[CoveringTest, ...]
    command: str | None
    uncovered: tuple[str, ...]
    looked_at: int
    left_out: int = 0
    note: str = ""


@frozen
class Simulated:
    """What a test command would select, and what was recorded of it; nothing was run.

    `status` is "passed" only if an outcome is recorded for every selected test and none of them failed.
    """

    command: str
    status: TestOutcome
    selected: int = 0
    text: str = ""
