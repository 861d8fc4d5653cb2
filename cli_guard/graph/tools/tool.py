"""The type of a tool of the graph: a name, a schema for its arguments, a risk class, and a function."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field, fields, is_dataclass
from typing import TYPE_CHECKING, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from cli_guard.lazy import frozen
from cli_guard.model import Finding, Skipped, Verdict
from cli_guard.reviewers.review_input import ReviewInput

if TYPE_CHECKING:
    from cli_guard.commands import Context as CommandContext


# The time-out of an approved command, unless its caller gives another.
RUN_SECONDS = 600.0


class Arguments(BaseModel):
    """The arguments of a tool; unknown ones are refused, and no value is converted to another type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class OpenArguments(Arguments):
    """Arguments of an MCP server's tool, which the server's own schema checks before the call."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Writer(Protocol):
    """The interface that writes a patch; see `cli_guard.assistant.applying`."""

    def bases(self, paths: Iterable[str]) -> dict[str, str | None]:
        """Return the contents that a patch to these paths applies to. Raises UsageError if one cannot be written."""

    def apply(self, patch: str, bases: Mapping[str, str | None]) -> dict[str, str | None]:
        """Apply a patch, all of it or nothing. Raises CliGuardError."""


class Checker(Protocol):
    """The interface that runs the checks of a repository; see `cli_guard.execution.checks.running`."""

    def run(self, wanted: Mapping[str, Collection[str]]) -> "ToolOutput":
        """Run checks, given as id -> the commands that were judged. Raises CliGuardError."""


class Runner(Protocol):
    """The interface that runs an approved command in the foreground; see `cli_guard.execution.approved`."""

    @property
    def folder(self) -> str:
        """Return the folder to run in: the top of a work tree."""

    def run(self, command: str, folder: str) -> Mapping[str, object]:
        """Run a command that was approved for a folder to its end; return its result as plain data that may be shown.

        A command that fails is no error. Raises CliGuardError if the command must not be started.
        """


ErrorReporter = Callable[[Exception], str]


def name_error(error: Exception) -> str:
    """Return the kind of an internal error; its text may hold a secret."""
    return f"internal error: {type(error).__name__}"


@frozen
class World:
    """What a tool may read: the change under review, and the allowed files of the snapshot by path.

    `writer` writes an approved patch; without one a write stays in memory. `runner` runs an approved command; without
    one nothing runs. `recorded` are the test results of a fixture (test -> outcome). `commands` is where a command in
    the arguments of a tool would run; `checker` runs checks. `allowed` are the paths that the caller named, None if
    everything may be read. `report_error` reports a bug in a reviewer, and returns one line about it.
    """

    subject: ReviewInput | None = None
    snapshot: Mapping[str, str] = field(default_factory=dict)
    writer: Writer | None = None
    recorded: Mapping[str, object] = field(default_factory=dict)
    commands: "CommandContext | None" = None
    runner: Runner | None = None
    checker: Checker | None = None
    allowed: frozenset[str] | None = None
    report_error: ErrorReporter = name_error


@frozen
class ToolOutput:
    """The result of a tool: plain data that may be shown, and the findings of a reviewer.

    `proposal` is a patch that it proposes, unmasked, so it must not be shown. `written` are the files in memory that
    it changed (path -> text, None for a removed file). `failed`: it ran, without success.
    """

    data: dict[str, object] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    proposal: Mapping[str, object] = field(default_factory=dict)
    written: Mapping[str, str | None] = field(default_factory=dict)
    failed: bool = False


@frozen
class Tool:
    """One tool. `risk` is `read_only`, or the class of effect that needs a decision (`git`, `write`, ...).

    `shows_command`: a command in its arguments is only shown, or run in the run tool's sandbox. `decided` is the
    configuration's verdict on the tool itself, if it has one. `approvable`: an approval runs the tool.
    """

    name: str
    summary: str
    risk: str
    schema: type[Arguments]
    run: Callable[[World, Arguments], ToolOutput]
    shows_command: bool = False
    decided: Verdict | None = None
    approvable: bool = False

    def problem_with(self, arguments: Mapping[str, object]) -> str | None:
        """Return what is wrong with these arguments by the schema, None if nothing."""
        try:
            self.schema.model_validate(dict(arguments))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            return f"{self.name}: {place}: {first['msg']}"
        return None

    def call(self, world: World, arguments: Mapping[str, object]) -> ToolOutput:
        """Run the tool on arguments that the gate has allowed."""
        return self.run(world, self.schema.model_validate(dict(arguments)))


def plain(value: object) -> object:
    """Convert a result to plain data for a checkpoint or JSON: no tuples, no types of ours."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return str(value) if isinstance(value, str) else value


def plain_data(value: object) -> dict[str, object]:
    """Convert the fields of a dataclass to plain data."""
    made = plain(value)
    assert isinstance(made, dict)  # noqa: S101 - a dataclass gives one
    return made
