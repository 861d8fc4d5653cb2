"""Tools that propose: documentation, a refactoring, a change. They read, and answer with a patch not yet written."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from pydantic import Field

from cli_guard.graph.tools.tool import Arguments, Tool, ToolOutput, World, plain_data
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    from cli_guard.assistant.documenting import Documentation
    from cli_guard.assistant.editing import Plan


class Wanted(Arguments):
    """What is wanted, in the developer's own words."""

    request: str = Field(min_length=1, max_length=20_000)


def proposed(world: World, made: "Documentation | Plan", paths: Collection[str], exact: str) -> ToolOutput:
    """What a tool proposes to do to some files: its `exact` patch is kept, and shown without secrets."""
    from cli_guard.git.proposals import mask_patch

    data = {key: value for key, value in plain_data(made).items() if key not in ("changes", "skipped")}
    old = {path: world.snapshot[path] for path in paths if path in world.snapshot}
    # Line for line: a patch made of both sides without their secrets would hide that a secret is changed.
    data["patch"] = mask_patch(exact, redact, old)
    proposal = {"patch": exact, "paths": sorted(paths)}
    return ToolOutput(data, skipped=made.skipped, proposal=proposal if exact else {})


def propose_documentation(world: World, arguments: Arguments) -> ToolOutput:
    """Docstring skeletons and repairs for what a request names, in the style of its file."""
    from cli_guard.assistant.documenting import document

    assert isinstance(arguments, Wanted)  # noqa: S101 - validated against this schema
    made = document(arguments.request, world.snapshot)
    return proposed(world, made, made.changes, made.patch)


def plan_refactoring(world: World, arguments: Arguments) -> ToolOutput:
    """The usages, steps and risks of a refactoring, and its patch where that can be computed."""
    from cli_guard.assistant.editing import plan_refactor

    assert isinstance(arguments, Wanted)  # noqa: S101 - validated against this schema
    return planned(world, plan_refactor(arguments.request, world.snapshot))


def plan_change(world: World, arguments: Arguments) -> ToolOutput:
    """The steps of a change, and its patch where it is mechanical."""
    from cli_guard.assistant.editing import propose_change

    assert isinstance(arguments, Wanted)  # noqa: S101 - validated against this schema
    return planned(world, propose_change(arguments.request, world.snapshot))


def planned(world: World, made: "Plan") -> ToolOutput:
    """A plan with its patch; files that it takes away are changes too."""
    return proposed(world, made, (*made.changes, *made.removed), made.patch)


def proposing_tools() -> Iterable[Tool]:
    """The tools that answer with a patch, and write nothing."""
    return (
        Tool(
            "propose_documentation",
            "docstring skeletons and repairs as a patch, not written",
            "read_only",
            Wanted,
            propose_documentation,
        ),
        Tool(
            "plan_refactoring",
            "usages, steps, risks and the patch of a refactoring",
            "read_only",
            Wanted,
            plan_refactoring,
        ),
        Tool(
            "plan_change",
            "the steps of a change, and its patch if mechanical",
            "read_only",
            Wanted,
            plan_change,
        ),
    )
