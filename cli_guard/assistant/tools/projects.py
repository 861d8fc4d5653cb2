"""Tools about what a repository can run: the command for a wish, the tests for a path, tests acted out."""

import re
from collections.abc import Iterable

from pydantic import Field

from cli_guard.graph.tools.tool import Arguments, Tool, ToolOutput, World, plain_data
from cli_guard.model import Decision

COMMAND_CHARS = 4_000
PLACEHOLDER = re.compile(r"<([a-z]{1,30})>")


class Wish(Arguments):
    """A developer's request, in their own words."""

    request: str = Field(min_length=1, max_length=20_000)


class Tested(Arguments):
    """What tests are looked for."""

    paths: tuple[str, ...] | list[str] = ()
    symbols: tuple[str, ...] | list[str] = ()


class CommandText(Arguments):
    """A command for the developer to run."""

    command: str = Field(min_length=1, max_length=COMMAND_CHARS)


def advise_command(world: World, arguments: Arguments) -> ToolOutput:
    """The command of this repository for a wish, with what each part of it means."""
    from cli_guard.assistant.projects import advise

    assert isinstance(arguments, Wish)  # noqa: S101 - validated against this schema
    return ToolOutput(plain_data(advise(arguments.request, world.snapshot)))


def suggest_command(world: World, arguments: Arguments) -> ToolOutput:
    """The command as text, with what it would do; nothing runs it."""
    from cli_guard.commands import judge

    assert isinstance(arguments, CommandText)  # noqa: S101 - validated against this schema
    # What a person has to fill in is a word to the shell that will read it.
    verdict = judge(PLACEHOLDER.sub(r"\1", arguments.command), world.commands)
    return ToolOutput(
        {
            "command": arguments.command,
            "verdict": str(verdict.verdict),
            "reason": "" if verdict.verdict is Decision.ALLOW and not verdict.reason else verdict.reason,
        }
    )


def find_tests(world: World, arguments: Arguments) -> ToolOutput:
    """The tests that cover some paths or symbols, and the command that runs exactly those."""
    from cli_guard.assistant.projects import tests_for

    assert isinstance(arguments, Tested)  # noqa: S101 - validated against this schema
    return ToolOutput(plain_data(tests_for(arguments.paths, arguments.symbols, world.snapshot)))


def simulate_tests(world: World, arguments: Arguments) -> ToolOutput:
    """The tests that a command would run, with the results that the fixture has recorded; nothing runs."""
    from cli_guard.assistant.projects import simulate

    assert isinstance(arguments, CommandText)  # noqa: S101 - validated against this schema
    return ToolOutput(plain_data(simulate(arguments.command, world.snapshot, world.recorded)))


def helping_tools() -> Iterable[Tool]:
    """The tools that answer with a command, and never run one."""
    return (
        Tool("advise_command", "the command for a wish", "read_only", Wish, advise_command),
        Tool(
            "suggest_command",
            "a command as text, with its verdict, not run",
            "read_only",
            CommandText,
            suggest_command,
            shows_command=True,
        ),
        Tool("find_tests", "the tests that cover a path or name", "read_only", Tested, find_tests),
        Tool(
            "simulate_tests",
            "the recorded results of tests, nothing is run",
            "read_only",
            CommandText,
            simulate_tests,
            shows_command=True,
        ),
    )
