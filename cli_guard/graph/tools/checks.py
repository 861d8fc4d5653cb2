"""The checks of a repository as a tool: the one that runs something before Git records, because its user trusts it."""

from pydantic import Field

from cli_guard.errors import CliGuardError
from cli_guard.graph.tools.tool import Arguments, Tool, ToolOutput, World
from cli_guard.model import Verdict
from cli_guard.policy.gate import RUN_CHECKS


class Check(Arguments):
    """One check, with the commands that it runs: what the gate judges is what runs."""

    id: str = Field(min_length=1, max_length=200)
    commands: tuple[str, ...] | list[str]


class WantedChecks(Arguments):
    """The checks that are to run."""

    checks: tuple[Check, ...] | list[Check]


def run(world: World, arguments: Arguments) -> ToolOutput:
    """Runs checks in scratch checkouts of what is recorded or sent."""
    assert isinstance(arguments, WantedChecks) and world.checker is not None  # noqa: S101 - the gate's work
    try:
        return world.checker.run({check.id: tuple(check.commands) for check in arguments.checks})
    except CliGuardError as error:
        # A check of which nothing came is a finding, and a person may go on without it.
        return ToolOutput({"error": str(error)})


def checking_tool(verdict: Verdict) -> Tool:
    """`run_checks`, under what is decided about the checks of this run."""
    summary = "runs the checks of the repository over what is recorded or sent"
    return Tool(RUN_CHECKS, summary, "execute", WantedChecks, run, decided=verdict)
