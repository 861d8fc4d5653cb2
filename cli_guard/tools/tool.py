"""What a tool of the graph is: a name, a schema for its arguments, a risk class, and what it runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, ValidationError

from cli_guard.model import Finding, Skipped
from cli_guard.reviewers.subject import Subject


class Arguments(BaseModel):
    """The arguments of a tool: nothing unknown, nothing coerced."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


@dataclass(frozen=True)
class World:
    """What a tool may look at: the change under review, and files by path (a snapshot)."""

    subject: Subject | None = None
    snapshot: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ToolOutput:
    """What a tool gave back: plain data, and what it found if it is a reviewer."""

    data: dict[str, object] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True)
class Tool:
    """One tool. `risk` is `read_only`, or the class of effect that needs a decision (`git`, `write`, ...).

    `shows_command`: a command in its arguments is shown to a person, and never run.
    """

    name: str
    summary: str
    risk: str
    schema: type[Arguments]
    run: Callable[[World, Arguments], ToolOutput]
    shows_command: bool = False

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
