"""The tools of the assistant: they read, and answer with text, a command or a patch; none of them writes or runs."""

import base64
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from cli_guard.errors import CliGuardError
from cli_guard.graph.tools.tool import Arguments, Tool, ToolOutput, World, plain_data
from cli_guard.model import Decision
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    from cli_guard.assistant.documenting import Documentation
    from cli_guard.assistant.editing import EditPlan
    from cli_guard.assistant.local import LocalAssistant

LINE_CHARS = 160
LONG_LINE = 500
PLACEHOLDER = re.compile(r"<([a-z]{1,30})>")


class QueryArguments(Arguments):
    """Words to look for, in some files or in all that may be looked at."""

    query: str = Field(min_length=1, max_length=2_000)
    paths: tuple[str, ...] | list[str] = ()


class OneFile(Arguments):
    """One file of the snapshot."""

    path: str
    max_chars: int = Field(default=20_000, ge=1, le=200_000)


class Wish(Arguments):
    """A developer's request, in their own words."""

    request: str = Field(min_length=1, max_length=20_000)


class Tested(Arguments):
    """What tests are looked for."""

    paths: tuple[str, ...] | list[str] = ()
    symbols: tuple[str, ...] | list[str] = ()


class NamedArguments(Arguments):
    """A path, a folder or a name of code; `near` are words of the path that is meant."""

    name: str = Field(min_length=1, max_length=500)
    near: tuple[str, ...] | list[str] = ()


class CommandArguments(Arguments):
    """A command for the developer to run."""

    command: str = Field(min_length=1, max_length=4_000)


class RunArguments(Arguments):
    """A command of the sandboxed shell, and what it reads on standard input."""

    command: str = Field(min_length=1, max_length=100_000)
    stdin: str = Field(default="", max_length=1_000_000)


def read_file(world: World, arguments: OneFile) -> ToolOutput:
    """Read a file, up to a number of characters, without its secrets."""
    text = redact(world.snapshot.get(arguments.path, ""), arguments.path)
    shown = text[: arguments.max_chars]
    return ToolOutput(
        {"path": arguments.path, "text": shown, "truncated": len(shown) < len(text)}
    )


def explain(world: World, arguments: NamedArguments) -> ToolOutput:
    """Explain a file, a folder or a definition from its own words and from what uses it."""
    from cli_guard.assistant import explaining

    lines = explaining.explain(world.snapshot, arguments.name, arguments.near)
    return ToolOutput({"lines": tuple(redact(line)[:LONG_LINE] for line in lines)})


def advise_command(world: World, arguments: Wish) -> ToolOutput:
    """Find the command of this repository for a wish, and what each part of it means."""
    from cli_guard.assistant.projects import advise

    return ToolOutput(plain_data(advise(arguments.request, world.snapshot)))


def find_versions(world: World, arguments: Wish) -> ToolOutput:
    """Find the versions that manifests and lock files state of what a question names."""
    from cli_guard.assistant.projects.versions import describe_versions

    return ToolOutput({"lines": describe_versions(arguments.request, world.snapshot)})


def suggest_command(world: World, arguments: CommandArguments) -> ToolOutput:
    """Show a command as text, with what it would do."""
    from cli_guard.commands import judge

    # What a person has to fill in is a word to the shell that will read it.
    verdict = judge(PLACEHOLDER.sub(r"\1", arguments.command), world.commands)
    reason = (
        "" if verdict.verdict is Decision.ALLOW and not verdict.reason else verdict.reason
    )
    return ToolOutput(
        {"command": arguments.command, "verdict": str(verdict.verdict), "reason": reason}
    )


def find_tests(world: World, arguments: Tested) -> ToolOutput:
    """Find the tests that cover some paths or symbols, and the command that runs exactly those."""
    from cli_guard.assistant.projects import advise, tests_for

    found = tests_for(arguments.paths, arguments.symbols, world.snapshot)
    whole = "" if found.tests else advise("run all tests", world.snapshot).command
    return ToolOutput({**plain_data(found), "whole": whole})


def simulate_tests(world: World, arguments: CommandArguments) -> ToolOutput:
    """Name the tests that a command would run, with the results that the fixture has recorded."""
    from cli_guard.assistant.projects import simulate

    return ToolOutput(
        plain_data(simulate(arguments.command, world.snapshot, world.recorded))
    )


def propose_documentation(world: World, arguments: Wish) -> ToolOutput:
    """Find what a request names that lacks documentation, and propose repairs of what is stale."""
    from cli_guard.assistant.documenting import document

    made = document(arguments.request, world.snapshot)
    return proposal_output(world, made)


def plan_change(world: World, arguments: Wish) -> ToolOutput:
    """Plan a change or a refactoring: usages, steps, risks, and its patch where that can be computed."""
    from cli_guard.assistant.editing import plan_refactor

    return proposal_output(world, plan_refactor(arguments.request, world.snapshot))


def proposal_output(world: World, made: "Documentation | EditPlan") -> ToolOutput:
    """Return what a tool proposes to do to some files: its exact patch is kept, and shown without secrets."""
    from cli_guard.assistant.proposals import mask_patch

    data = {
        key: value
        for key, value in plain_data(made).items()
        if key not in ("changes", "skipped")
    }
    paths = sorted(made.changes)
    old = {path: world.snapshot[path] for path in paths if path in world.snapshot}
    # Line for line: a patch made of both sides without their secrets would hide that a secret is changed.
    data["patch"] = mask_patch(made.patch, redact, old)
    proposal = {"patch": made.patch, "paths": paths}
    return ToolOutput(data, skipped=made.skipped, proposal=proposal if made.patch else {})


def tools_of(assistant: "LocalAssistant") -> Mapping[str, Tool]:
    """Return the tools of an assistant by name: that of their function, whose docstring is the summary."""

    def search_repository(world: World, arguments: QueryArguments) -> ToolOutput:
        """Find the words of a question, best place first."""
        found = assistant.find(world, arguments.query, arguments.paths)
        return ToolOutput({**plain_data(found), "skipped": []}, skipped=found.skipped)

    def run(world: World, arguments: RunArguments) -> ToolOutput:
        """Run a command in a sandboxed shell over the files of the snapshot; nothing leaves it."""
        from cli_guard.assistant.sandbox import run as run_in

        stdin = arguments.stdin.encode("utf-8", "surrogateescape")
        ran = run_in(arguments.command, assistant.shell_for(world), stdin=stdin)
        images = [
            {
                "path": image.path,
                "mime": f"image/{image.kind}",
                "base64": base64.b64encode(image.data).decode("ascii"),
            }
            for image in ran.images
        ]
        answer = {
            "command": arguments.command,
            "output": ran.shown,
            "exit_code": ran.exit_code,
        }
        optional = {"images": images, "not_kept": sorted(ran.changes)}
        return ToolOutput(
            {**answer, **{key: each for key, each in optional.items() if each}}
        )

    def read_history(world: World, arguments: Wish) -> ToolOutput:
        """Answer from the commits of the repository: who, when, why, and what changed."""
        from cli_guard.assistant.history import answer_history
        from cli_guard.assistant.history_request import read_history_request
        from cli_guard.assistant.request_names import find_names

        names = find_names(arguments.request, world.snapshot)
        asked = read_history_request(arguments.request, names)
        shell = assistant.shell
        if not asked:
            return ToolOutput({"lines": ()})
        repository = shell.repository if shell else None
        revision = shell.snapshot.name if shell else ""
        tip = "HEAD" if revision in ("the index", "the work tree", "memory") else revision
        try:
            lines = answer_history(asked, repository, world.snapshot, tip, world.allowed)
        except CliGuardError as error:
            lines = (str(error),)
        return ToolOutput(
            {"lines": tuple(redact(line)[: 2 * LINE_CHARS] for line in lines)}
        )

    functions: tuple[Callable[[World, Any], ToolOutput], ...] = (
        search_repository,
        read_file,
        advise_command,
        suggest_command,
        find_tests,
        find_versions,
        read_history,
        explain,
        simulate_tests,
        propose_documentation,
        plan_change,
        run,
    )
    made = {}
    for function in functions:
        schema = function.__annotations__["arguments"]
        shows_command = schema in (CommandArguments, RunArguments)
        name = function.__name__
        summary = function.__doc__ or ""
        made[name] = Tool(
            name, summary, "read_only", schema, function, shows_command=shows_command
        )
    return made
