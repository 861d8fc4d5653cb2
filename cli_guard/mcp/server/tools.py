"""The tools that a coding agent is offered: what each takes, and what it answers. All of them only read."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import Field, ValidationError

from cli_guard.errors import UsageError
from cli_guard.execution.context import command_context
from cli_guard.graph.tools.tool import Arguments
from cli_guard.lazy import frozen
from cli_guard.policy.globs import nearest
from cli_guard.review.request import Commit, Patch, Request, Staged, Worktree, parse_range
from cli_guard.runtime import Invocation

PATCH_CHARS = 5_000_000
COMMAND_CHARS = 200_000
NAME_CHARS = 4_000
REQUEST_CHARS = 100_000
LIST_ITEMS = 100


@frozen
class ToolAnswer:
    """What a tool answers: a text to read, and data where there is some."""

    text: str
    data: Mapping[str, object] | None = None
    # (media type, base64)
    images: tuple[tuple[str, str], ...] = ()


@frozen
class Surroundings:
    """What the tools work with: where the server was started, and what the rooms above lend it.

    `explain` gives the page of a rule and raises UsageError; `report_bug` turns a bug of ours into one line.
    """

    invocation: Callable[[], Invocation]
    explain: Callable[[str], str]
    report_bug: Callable[[Exception], str]


Name = Annotated[str, Field(max_length=NAME_CHARS)]
Command = Annotated[str, Field(max_length=COMMAND_CHARS)]


class InFolder(Arguments):
    """The folder to work in."""

    cwd: Name = Field(
        "",
        description="The folder to work in: the one where the server was started, or one below it.",
    )


class AtState(InFolder):
    """A state of the files."""

    rev: Name = Field("", description="Look at this revision instead of the index.")
    worktree: bool = Field(False, description="Look at the work tree instead of the index.")


class SandboxCommand(AtState):
    """A command of the sandboxed shell."""

    command: Command = Field(description="The text.")
    stdin: str = Field("", max_length=PATCH_CHARS, description="Its standard input.")


class ReviewArguments(InFolder):
    """The change to review: what is staged, unless one of these names another."""

    worktree: bool = Field(
        False, description="Review all that differs from HEAD, untracked files included."
    )
    range: Name = Field(
        "", description="Review commits one by one: A..B, those in B that are not in A."
    )
    commit: Name = Field("", description="Review one commit.")
    patch: str = Field("", max_length=PATCH_CHARS, description="Review this unified diff.")


class JudgedCommand(InFolder):
    """A command to judge."""

    command: Command = Field(description="The command as a shell would get it.")


class AskArguments(AtState):
    """A request about the repository."""

    request: str = Field(
        max_length=REQUEST_CHARS, description="What is wanted, in plain words."
    )
    paths: Annotated[list[Name], Field(max_length=LIST_ITEMS)] = Field(
        [], description="Look at these files and folders only, seen from the top."
    )


class RuleArguments(Arguments):
    """A rule."""

    rule: Name = Field(description="The id of the rule.")


@frozen
class ServedTool:
    """One tool: its name and words for the agent, its parameters, and what it does with them."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Surroundings, Any], ToolAnswer]

    def answer(self, around: Surroundings, arguments: Mapping[str, object]) -> ToolAnswer:
        """Return the answer to some arguments. Raises UsageError for invalid ones, CliGuardError."""
        try:
            given = self.arguments.model_validate(dict(arguments))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            name = str(first["loc"][0])
            is_unknown = first["type"] == "extra_forbidden"
            hint = nearest(name, self.arguments.model_fields) if is_unknown else ""
            said = first["msg"].replace("Input should be", "must be")
            raise UsageError(f"{self.name}: {name!r}: {said}{hint}") from None
        return self.run(around, given)


def review(around: Surroundings, arguments: ReviewArguments) -> ToolAnswer:
    """Review a change as `cli-guard review` does. Raises CliGuardError."""
    from cli_guard.review.render import as_json, text
    from cli_guard.review.run import review_request
    from cli_guard.secrets.printable import json_value

    done = review_request(request_in(arguments), resolve_folder(around, arguments))
    data = cast(dict[str, object], json_value(as_json.as_dict(done)))
    return ToolAnswer(text.render(done, color=False), data)


def request_in(arguments: ReviewArguments) -> Request:
    """Return the change that the arguments name. Raises UsageError for more than one."""
    found: Sequence[tuple[str, Callable[[], Request]]] = [
        ("worktree", Worktree),
        ("range", lambda: parse_range(arguments.range)),
        ("commit", lambda: Commit(arguments.commit)),
        ("patch", lambda: Patch(arguments.patch.encode("utf-8"), "the patch")),
    ]
    chosen = [each for each in found if getattr(arguments, each[0])]
    if len(chosen) > 1:
        raise UsageError(
            f"{chosen[0][0]} and {chosen[1][0]} exclude each other: give one of them"
        )
    return chosen[0][1]() if chosen else Staged()


def check_command(around: Surroundings, arguments: JudgedCommand) -> ToolAnswer:
    """Judge a shell command as `cli-guard check-command` does; nothing is run. Raises CliGuardError."""
    from cli_guard.commands import judge
    from cli_guard.execution.verdicts import as_dict, render

    invocation = resolve_folder(around, arguments)
    verdict = judge(arguments.command, command_context(invocation.cwd, invocation.env))
    return ToolAnswer(render(verdict, color=False), as_dict(verdict))


def ask(around: Surroundings, arguments: AskArguments) -> ToolAnswer:
    """Answer a request as `cli-guard ask` does; a change is proposed, never made. Raises CliGuardError."""
    from cli_guard.assistant.ask import ask_request
    from cli_guard.secrets.printable import json_value

    done = ask_request(
        arguments.request,
        resolve_folder(around, arguments),
        paths=tuple(arguments.paths),
        revision=arguments.rev or None,
        # No MCP servers: the tool is described as read-only, and a server of the user's may do more.
        worktree=arguments.worktree,
    )
    return ToolAnswer(done.text, cast(dict[str, object], json_value(done.data)))


def run(around: Surroundings, arguments: SandboxCommand) -> ToolAnswer:
    """Run a bash command in the sandbox, as `cli-guard shell` does. Raises CliGuardError."""
    from cli_guard.assistant import sandbox
    from cli_guard.assistant.ask import open_world

    world = open_world(
        resolve_folder(around, arguments),
        arguments.rev or None,
        worktree=arguments.worktree,
    )
    ran = sandbox.run(arguments.command, world, stdin=arguments.stdin.encode("utf-8"))
    images = tuple(
        (f"image/{each.kind}", base64.b64encode(each.data).decode("ascii"))
        for each in ran.images
    )
    return ToolAnswer(ran.shown, {"exit_code": ran.exit_code}, images)


def explain(around: Surroundings, arguments: RuleArguments) -> ToolAnswer:
    """Return the page of a rule. Raises UsageError."""
    return ToolAnswer(around.explain(arguments.rule))


def resolve_folder(around: Surroundings, arguments: InFolder) -> Invocation:
    """Return where a tool works. Raises UsageError for a folder that is not below the one of the start."""
    invocation = around.invocation()
    given = arguments.cwd
    if "\0" in given:
        raise UsageError("cwd contains a NUL character")
    start = invocation.cwd.resolve()
    try:
        folder = (start / given).resolve()
        inside = folder.is_relative_to(start)
        there = folder.is_dir()
    except (OSError, RuntimeError) as error:  # a loop of links, a name that is too long
        raise UsageError(f"cwd cannot be read: {given[:100]}") from error
    if not inside:
        raise UsageError(
            "cwd is outside the folder in which the server was started: start another server there"
        )
    if not there:
        raise UsageError(f"cwd is not a folder: {given[:100]}")
    return replace(invocation, cwd=Path(folder))


def run_tool() -> ServedTool:
    """Return the run tool, with the list of its commands in its description."""
    from cli_guard.assistant.sandbox import description

    return ServedTool(
        "run",
        "Read with a sandboxed shell",
        description("the files of the repository"),
        SandboxCommand,
        run,
    )


def served_tools() -> tuple[ServedTool, ...]:
    """Return the tools that can be offered, the run tool first if its interpreter is installed."""
    return (run_tool(), *TOOLS) if find_spec("bashkit") else TOOLS


TOOLS = (
    ServedTool(
        "review",
        "Review a change",
        "Review a change before it is committed: secrets, risky code and commands, dependencies, docs, refactoring."
        " Reviews what is staged unless worktree, range, commit or patch names something else. The decision is allow,"
        " review (a person must approve it at a terminal) or deny (change the code).",
        ReviewArguments,
        review,
    ),
    ServedTool(
        "check_command",
        "Judge a shell command",
        "Judge a shell command by what it would do, without running it. The verdict is allow, review (ask a person"
        " first) or deny (do not run it); often there is an alternative.",
        JudgedCommand,
        check_command,
    ),
    ServedTool(
        "ask",
        "Ask about the repository",
        "Ask about this repository: where something is defined, which command or tests fit, a plan or a patch for a"
        " change, documentation for a piece of code. The answer names its sources. Nothing is run or written: a patch"
        " or a command to run is a proposal that a person approves at a terminal.",
        AskArguments,
        ask,
    ),
    ServedTool(
        "explain",
        "Explain a rule",
        "Explain a rule that a review named: why it matters, what to do, examples, how to answer a finding.",
        RuleArguments,
        explain,
    ),
)
