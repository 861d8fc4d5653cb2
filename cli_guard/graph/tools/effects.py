"""Tools with an effect.

What Git records is planned and judged here, never run. Checks run where their user trusts them, a patch is written and
a command run after an approval; the rest is left to a person.
"""

from collections.abc import Iterable

from pydantic import Field

from cli_guard.errors import CliGuardError
from cli_guard.graph.tools.tool import Arguments, Tool, ToolOutput, World
from cli_guard.model import Verdict
from cli_guard.policy.gate import RUN_CHECKS


class RecordedEffect(Arguments):
    """What is recorded: the identity of the content, and the number of its findings."""

    content: str
    findings: int


class Check(Arguments):
    """One check, with the commands that it runs: what the gate judges is what runs."""

    id: str = Field(min_length=1, max_length=200)
    commands: tuple[str, ...] | list[str]


class WantedChecks(Arguments):
    """The checks that are to run."""

    checks: tuple[Check, ...] | list[Check]


class PatchArguments(Arguments):
    """A patch, and the files it changes; the patch is "" if the change must be made by hand.

    `bases` are the contents that the patch applies to (path -> blob id, None for no file); empty for files in memory.
    """

    paths: tuple[str, ...] | list[str]
    patch: str = ""
    bases: dict[str, str | None] = Field(default_factory=dict)


class Purpose(Arguments):
    """What a person is asked to do."""

    purpose: str = Field(min_length=1, max_length=20_000)


class CommandLine(Arguments):
    """A command, and the folder for which a person is asked to approve it; "" before that."""

    command: str = Field(min_length=1, max_length=4_000)
    folder: str = Field(default="", max_length=4_096)


class OutsideEffect(Purpose):
    """What a person is asked to do outside the repository, and the command of the project for it, "" if unknown."""

    command: str = Field(default="", max_length=4_000)


def write_file(world: World, arguments: Arguments) -> ToolOutput:
    """Write an approved patch to the work tree, or to the files in memory."""
    assert isinstance(arguments, PatchArguments)  # noqa: S101 - validated against this schema
    if world.writer is not None:
        left = world.writer.apply(arguments.patch, arguments.bases)
        return ToolOutput({"paths": sorted(left), "left": left})
    from cli_guard.repository.unified import apply_in_memory

    try:
        written = apply_in_memory(arguments.patch, world.snapshot)
    except ValueError as error:
        return ToolOutput({"error": f"the patch does not fit: {error}"})
    return ToolOutput({"paths": sorted(written)}, written=written)


def run_command(world: World, arguments: Arguments) -> ToolOutput:
    """Run an approved command to its end; without a work tree, leave it to a person."""
    assert isinstance(arguments, CommandLine)  # noqa: S101 - validated against this schema
    if world.runner is None:
        return leave_to_you(world, arguments)
    done = dict(world.runner.run(arguments.command, arguments.folder))
    return ToolOutput(done, failed=bool(done["problem"]))


def leave_to_you(world: World, arguments: Arguments) -> ToolOutput:
    """Return that a person has to do it, approved or not."""
    return ToolOutput({"left_to": "you"})


def leave_to_git(world: World, arguments: Arguments) -> ToolOutput:
    """Return that Git does it by itself when the hook exits with 0."""
    return ToolOutput({"left_to": "git"})


def run_checks(world: World, arguments: Arguments) -> ToolOutput:
    """Run checks in scratch checkouts of what is recorded or sent."""
    assert isinstance(arguments, WantedChecks) and world.checker is not None  # noqa: S101 - the gate's work
    try:
        return world.checker.run(
            {check.id: tuple(check.commands) for check in arguments.checks}
        )
    except CliGuardError as error:
        # A check without a result becomes a finding, which a person may approve.
        return ToolOutput({"error": str(error)})


def checking_tool(verdict: Verdict) -> Tool:
    """Return `run_checks` with the decision on the checks of this run."""
    summary = "runs the checks of the repository over what is recorded or sent"
    return Tool(RUN_CHECKS, summary, "execute", WantedChecks, run_checks, decided=verdict)


def recording_tools() -> Iterable[Tool]:
    """Return `git_commit` and `git_push`."""
    return (
        Tool("git_commit", "Git records the commit", "git", RecordedEffect, leave_to_git),
        Tool("git_push", "Git sends the commits", "git", RecordedEffect, leave_to_git),
    )


def acting_tools() -> Iterable[Tool]:
    """Return the tools with an effect."""
    return (
        Tool(
            "write_file",
            "writes files, all of a patch or nothing",
            "write",
            PatchArguments,
            write_file,
            approvable=True,
        ),
        Tool(
            "run_command",
            "runs a command",
            "execute",
            CommandLine,
            run_command,
            approvable=True,
        ),
        Tool(
            "open_pull_request", "opens a pull request", "external", Purpose, leave_to_you
        ),
        Tool("deploy", "deploys the project", "external", OutsideEffect, leave_to_you),
        Tool("publish", "publishes a release", "external", OutsideEffect, leave_to_you),
    )
