"""The run tool: one command of the sandboxed shell over the snapshot, for a planner that works with text."""

import base64
from collections.abc import Iterable

from pydantic import Field

from cli_guard.graph.tools.tool import Arguments, Tool, ToolOutput, World


class Run(Arguments):
    """A command of the sandboxed shell, and what it reads on standard input."""

    command: str = Field(min_length=1, max_length=100_000)
    stdin: str = Field(default="", max_length=1_000_000)


def run(world: World, arguments: Arguments) -> ToolOutput:
    """What the command prints over the files of the snapshot; nothing leaves the sandbox."""
    from cli_guard.assistant.sandbox import Shell
    from cli_guard.assistant.sandbox import run as run_in
    from cli_guard.git.snapshot import Snapshot

    assert isinstance(arguments, Run)  # noqa: S101 - validated against this schema
    shell = world.sandbox or Shell(Snapshot.of(world.snapshot))
    ran = run_in(arguments.command, shell, stdin=arguments.stdin.encode("utf-8", "surrogateescape"))
    images = [
        {
            "path": image.path,
            "mime": f"image/{image.kind}",
            "width": image.width,
            "height": image.height,
            "base64": base64.b64encode(image.data).decode("ascii"),
        }
        for image in ran.images
    ]
    answer = {"command": arguments.command, "output": ran.shown, "exit_code": ran.exit_code}
    return ToolOutput({**answer, "images": images} if images else {**answer})


def sandbox_tools() -> Iterable[Tool]:
    """`run`."""
    return (
        Tool(
            "run", "a command in a sandboxed shell over the files", "read_only", Run, run, shows_command=True
        ),
    )
