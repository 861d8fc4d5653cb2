"""The tools that a coding agent is offered: what each takes, and what it answers. All of them only read."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, cast

from cli_guard.errors import UsageError
from cli_guard.execution.context import command_context
from cli_guard.lazy import dataclass
from cli_guard.policy.globs import nearest
from cli_guard.review.request import Commit, Patch, Request, Staged, Worktree, parse_range
from cli_guard.runtime import Invocation

PATCH_CHARS = 5_000_000
COMMAND_CHARS = 200_000
NAME_CHARS = 4_000
REQUEST_CHARS = 100_000
LIST_ITEMS = 100
ROWS = 200

Arguments = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool answers: a text to read, and data where there is some."""

    text: str
    data: Mapping[str, object] | None = None
    # (media type, base64)
    images: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the tools work with: where the server was started, and what the rooms above lend it.

    `explain` gives the page of a rule and raises UsageError; `report_bug` turns a bug of ours into one line.
    """

    invocation: Callable[[], Invocation]
    explain: Callable[[str], str]
    report_bug: Callable[[Exception], str]


@dataclass(frozen=True, slots=True)
class ToolParameter:
    """One argument of a tool. `longest` is in characters, of each text where there may be several (`strings`)."""

    name: str
    description: str
    kind: Literal["string", "strings", "boolean"] = "string"
    longest: int = NAME_CHARS
    required: bool = False

    @property
    def schema(self) -> dict[str, object]:
        """The parameter in JSON schema."""
        if self.kind == "boolean":
            return {"type": "boolean", "description": self.description}
        text: dict[str, object] = {"type": "string", "maxLength": self.longest}
        if self.kind == "string":
            return {**text, "description": self.description}
        return {
            "type": "array",
            "items": text,
            "maxItems": LIST_ITEMS,
            "description": self.description,
        }

    def check(self, value: object) -> None:
        """Raise UsageError for a value of another type or beyond its limits."""
        if self.kind == "boolean":
            if not isinstance(value, bool):
                raise UsageError(f"{self.name} must be true or false")
        elif self.kind == "string":
            self.check_text(value)
        elif not isinstance(value, list) or len(value) > LIST_ITEMS:
            raise UsageError(f"{self.name} is not a list of at most {LIST_ITEMS} texts")
        else:
            for each in value:
                self.check_text(each)

    def check_text(self, value: object) -> None:
        """Raise UsageError for what is no text, is too long or is not UTF-8."""
        if not isinstance(value, str):
            raise UsageError(f"{self.name} is not text")
        if len(value) > self.longest:
            raise UsageError(f"{self.name} is longer than {self.longest:,} characters")
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise UsageError(
                f"{self.name} is not UTF-8 at character {error.start}"
            ) from error


CWD = ToolParameter(
    "cwd", "The folder to work in: the one where the server was started, or one below it."
)


@dataclass(frozen=True, slots=True)
class ServedTool:
    """One tool: its name and words for the agent, its parameters, and what it does."""

    name: str
    title: str
    description: str
    parameters: tuple[ToolParameter, ...]
    answer: Callable[[Surroundings, Arguments], ToolAnswer]

    @property
    def schema(self) -> dict[str, object]:
        """The parameters in JSON schema."""
        return {
            "type": "object",
            "properties": {each.name: each.schema for each in self.parameters},
            "required": [each.name for each in self.parameters if each.required],
            "additionalProperties": False,
        }

    def check(self, arguments: Arguments) -> Arguments:
        """Return the arguments if they are valid. Raises UsageError."""
        known = {each.name: each for each in self.parameters}
        for name, value in arguments.items():
            if name not in known:
                raise UsageError(f"{self.name} takes no {name!r}{nearest(name, known)}")
            known[name].check(value)
        missing = next(
            (each for each in known if known[each].required and each not in arguments), None
        )
        if missing:
            raise UsageError(f"{self.name} needs {missing}")
        return arguments


def review(around: Surroundings, arguments: Arguments) -> ToolAnswer:
    """Review a change as `cli-guard review` does. Raises CliGuardError."""
    from cli_guard.review.render import as_json, text
    from cli_guard.review.run import review_request
    from cli_guard.secrets.printable import json_value

    done = review_request(request_in(arguments), resolve_folder(around, arguments))
    data = cast(dict[str, object], json_value(as_json.as_dict(done)))
    return ToolAnswer(text.render(done, color=False), bound_report(data))


def request_in(arguments: Arguments) -> Request:
    """Return the change that the arguments name. Raises UsageError for more than one."""
    chosen = [
        name for name in ("worktree", "range", "commit", "patch") if arguments.get(name)
    ]
    if len(chosen) > 1:
        raise UsageError(
            f"{chosen[0]} and {chosen[1]} exclude each other: give one of them"
        )
    if not chosen:
        return Staged()
    value = str(arguments[chosen[0]])
    if chosen[0] == "worktree":
        return Worktree()
    if chosen[0] == "range":
        return parse_range(value)
    return (
        Commit(value)
        if chosen[0] == "commit"
        else Patch(value.encode("utf-8"), "the patch")
    )


def bound_report(data: dict[str, object]) -> dict[str, object]:
    """Cut the long lists of a report, with a note on each: an agent pays for every row."""
    notes = [str(each) for each in cast(list[object], data["notes"])]
    for key in ("findings", "suppressed", "action_log", "tool_results"):
        rows = cast(list[object], data[key])
        if len(rows) > ROWS:
            data[key] = rows[:ROWS]
            notes.append(
                f"the first {ROWS} of {len(rows)} {key} are shown; cli-guard review shows all"
            )
    coverage = cast(dict[str, object], data["coverage"])
    skipped = cast(list[object], coverage["skipped"])
    if len(skipped) > ROWS:
        coverage["skipped"] = skipped[:ROWS]
        notes.append(
            f"the first {ROWS} of {len(skipped)} skipped files are shown; cli-guard review shows all"
        )
    return data | {"notes": notes}


def check_command(around: Surroundings, arguments: Arguments) -> ToolAnswer:
    """Judge a shell command as `cli-guard check-command` does; nothing is run. Raises CliGuardError."""
    from cli_guard.commands import judge
    from cli_guard.execution.verdicts import as_dict, render

    invocation = resolve_folder(around, arguments)
    verdict = judge(
        str(arguments["command"]), command_context(invocation.cwd, invocation.env)
    )
    return ToolAnswer(render(verdict, color=False), as_dict(verdict))


def ask(around: Surroundings, arguments: Arguments) -> ToolAnswer:
    """Answer a request as `cli-guard ask` does; a change is proposed, never made. Raises CliGuardError."""
    from cli_guard.assistant.ask import ask_request
    from cli_guard.secrets.printable import json_value

    done = ask_request(
        str(arguments["request"]),
        resolve_folder(around, arguments),
        paths=tuple(cast(list[str], arguments.get("paths", []))),
        revision=str(arguments["rev"]) if arguments.get("rev") else None,
        # No MCP servers: the tool is described as read-only, and a server of the user's may do more.
        worktree=bool(arguments.get("worktree")),
    )
    return ToolAnswer(done.text, cast(dict[str, object], json_value(done.data)))


def run(around: Surroundings, arguments: Arguments) -> ToolAnswer:
    """Run a bash command in the sandbox, as `cli-guard shell` does. Raises CliGuardError."""
    from cli_guard.assistant import sandbox
    from cli_guard.assistant.ask import open_world

    world = open_world(
        resolve_folder(around, arguments),
        str(arguments["rev"]) if arguments.get("rev") else None,
        worktree=bool(arguments.get("worktree")),
    )
    stdin = str(arguments.get("stdin", "")).encode("utf-8")
    ran = sandbox.run(str(arguments["command"]), world, stdin=stdin)
    images = tuple(
        (f"image/{each.kind}", base64.b64encode(each.data).decode("ascii"))
        for each in ran.images
    )
    return ToolAnswer(ran.shown, {"exit_code": ran.exit_code}, images)


def explain(around: Surroundings, arguments: Arguments) -> ToolAnswer:
    """Return the page of a rule. Raises UsageError."""
    return ToolAnswer(around.explain(str(arguments["rule"])))


def resolve_folder(around: Surroundings, arguments: Arguments) -> Invocation:
    """Return where a tool works. Raises UsageError for a folder that is not below the one of the start."""
    invocation = around.invocation()
    given = str(arguments.get("cwd", ""))
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


REV = ToolParameter("rev", "Look at this revision instead of the index.")
WORKTREE = ToolParameter(
    "worktree", "Look at the work tree instead of the index.", "boolean"
)


def run_tool() -> ServedTool:
    """Return the run tool, with the list of its commands in its description."""
    from cli_guard.assistant.sandbox import description

    return ServedTool(
        "run",
        "Read with a sandboxed shell",
        description("the files of the repository"),
        (
            ToolParameter("command", "The text.", longest=COMMAND_CHARS, required=True),
            ToolParameter("stdin", "Its standard input.", longest=PATCH_CHARS),
            REV,
            WORKTREE,
            CWD,
        ),
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
        (
            ToolParameter(
                "worktree",
                "Review all that differs from HEAD, untracked files included.",
                "boolean",
            ),
            ToolParameter(
                "range", "Review commits one by one: A..B, those in B that are not in A."
            ),
            ToolParameter("commit", "Review one commit."),
            ToolParameter("patch", "Review this unified diff.", longest=PATCH_CHARS),
            CWD,
        ),
        review,
    ),
    ServedTool(
        "check_command",
        "Judge a shell command",
        "Judge a shell command by what it would do, without running it. The verdict is allow, review (ask a person"
        " first) or deny (do not run it); often there is an alternative.",
        (
            ToolParameter(
                "command",
                "The command as a shell would get it.",
                longest=COMMAND_CHARS,
                required=True,
            ),
            CWD,
        ),
        check_command,
    ),
    ServedTool(
        "ask",
        "Ask about the repository",
        "Ask about this repository: where something is defined, which command or tests fit, a plan or a patch for a"
        " change, documentation for a piece of code. The answer names its sources. Nothing is run or written: a patch"
        " or a command to run is a proposal that a person approves at a terminal.",
        (
            ToolParameter(
                "request",
                "What is wanted, in plain words.",
                longest=REQUEST_CHARS,
                required=True,
            ),
            ToolParameter(
                "paths",
                "Look at these files and folders only, seen from the top.",
                "strings",
            ),
            REV,
            WORKTREE,
            CWD,
        ),
        ask,
    ),
    ServedTool(
        "explain",
        "Explain a rule",
        "Explain a rule that a review named: why it matters, what to do, examples, how to answer a finding.",
        (ToolParameter("rule", "The id of the rule.", required=True),),
        explain,
    ),
)
