"""What a tool of the graph is: a name, a schema for its arguments, a risk class, and what it runs."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from cli_guard.model import Finding, Skipped, Verdict
from cli_guard.reviewers.review_input import ReviewInput

if TYPE_CHECKING:
    from cli_guard.assistant.retrieval import SearchResult
    from cli_guard.assistant.sandbox import Shell
    from cli_guard.commands import Context as CommandContext


class Arguments(BaseModel):
    """The arguments of a tool: nothing unknown, nothing coerced."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Writer(Protocol):
    """What writes a patch, and says on what it rests; see `cli_guard.git.applying`."""

    def bases(self, paths: Iterable[str]) -> dict[str, str | None]:
        """What a patch to these paths rests on. Raises UsageError where one cannot be written."""

    def apply(self, patch: str, bases: Mapping[str, str | None]) -> dict[str, str | None]:
        """Applies a patch, all of it or nothing. Raises CliGuardError."""


class Checker(Protocol):
    """What runs the checks of a repository; see `cli_guard.execution.checks.running`."""

    def run(self, wanted: Mapping[str, Collection[str]]) -> "ToolOutput":
        """Runs checks: their ids, and the commands that were judged. Raises CliGuardError."""


class Runner(Protocol):
    """What runs an approved command in the foreground, to its end; see `cli_guard.graph.tools.commands`."""

    @property
    def folder(self) -> str:
        """Where it runs: the top folder of a work tree."""

    def run(self, command: str, folder: str) -> Mapping[str, object]:
        """Runs a command that was approved for a folder, and says what came of it: plain data that may be shown.

        A command that fails is no error. Raises CliGuardError where it is not to be started.
        """


@dataclass(frozen=True)
class World:
    """What a tool may look at: the change under review, and files by path (a snapshot, the allowed paths alone).

    `writer` writes an approved patch; without one a write stays in memory. `runner` runs an approved command; without
    one nothing runs. `recorded` are the results of tests that a fixture brings along (test -> outcome). `commands` is
    where a command that a tool carries would run, `sandbox` the world of the run tool, `checker` what runs checks.
    """

    subject: ReviewInput | None = None
    snapshot: Mapping[str, str] = field(default_factory=dict)
    writer: Writer | None = None
    recorded: Mapping[str, object] = field(default_factory=dict)
    commands: "CommandContext | None" = None
    sandbox: "Shell | None" = None
    found: "dict[str, SearchResult]" = field(default_factory=dict)
    runner: Runner | None = None
    checker: Checker | None = None

    def find(self, question: str, paths: Sequence[str] = ()) -> "SearchResult":
        """Where the words of a question stand, in some files or in all; the same question is looked up once."""
        key = "\0".join((question, *paths))
        if key not in self.found:
            from cli_guard.assistant.retrieval import find

            self.found[key] = find(question, self.snapshot, allowed=paths or None)
        return self.found[key]


@dataclass(frozen=True)
class ToolOutput:
    """What a tool gave back: plain data that may be shown, and what it found if it is a reviewer.

    `proposal` is a patch that it proposes, exact and not for showing; `written` what it has made of the files that
    are held in memory (path -> text, None for no file). `failed`: it was done, and has not ended well.
    """

    data: dict[str, object] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    proposal: Mapping[str, object] = field(default_factory=dict)
    written: Mapping[str, str | None] = field(default_factory=dict)
    failed: bool = False


@dataclass(frozen=True)
class Tool:
    """One tool. `risk` is `read_only`, or the class of effect that needs a decision (`git`, `write`, ...).

    `shows_command`: a command in its arguments is shown to a person, or acted out in a sandbox, and never run.
    `decided` is what the configuration says of the tool itself, if it does. `approvable`: an approval has it done here.
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
        """What the schema has against these arguments, None if nothing."""
        try:
            self.schema.model_validate(dict(arguments))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            return f"{self.name}: {place}: {first['msg']}"
        return None

    def call(self, world: World, arguments: Mapping[str, object]) -> ToolOutput:
        """Runs the tool on arguments that the gate has let through."""
        return self.run(world, self.schema.model_validate(dict(arguments)))


def plain(value: object) -> object:
    """A result as plain data, which a checkpoint keeps and JSON can say: no tuples, no types of ours."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return str(value) if isinstance(value, str) else value


def plain_data(value: object) -> dict[str, object]:
    """The fields of a result as plain data."""
    made = plain(value)
    assert isinstance(made, dict)  # noqa: S101 - a dataclass gives one
    return made
