"""`cli-guard exec ps`: list the background processes that were started from here."""

import click

from cli_guard.cli.app import FORMAT, Command
from cli_guard.cli.io import Io
from cli_guard.cli.processes import manager_of, one_line, say_json
from cli_guard.execution.processes.model import Process, list_as_dict
from cli_guard.execution.shell import signal_name
from cli_guard.secrets.printable import clip

# How many ended processes are shown.
ENDED = 10
COMMAND = 120
HEAD = ("PID", "STATE", "PORT", "TIME", "COMMAND")


@click.pass_obj
def run(io: Io, /, format: str) -> int:
    """List running and recently ended processes."""
    with manager_of(io) as manager:
        found = manager.processes()
    running = [each for each in found if each.running]
    ended = [each for each in reversed(found) if not each.running]
    if format == "json":
        say_json(io, list_as_dict((*running, *ended)))
        return 0
    if not found:
        io.say(
            "cli-guard: no background processes; start one with `cli-guard exec --background -- COMMAND`"
        )
        return 0
    io.say("\n".join(table([HEAD, *map(row, running), *map(row, ended[:ENDED])])))
    if len(ended) > ENDED:
        io.say(f"({len(ended) - ENDED} more ended earlier: --format json)")
    return 0


def row(process: Process) -> tuple[str, ...]:
    port = str(process.port) if process.port is not None else "-"
    command = clip(one_line(process.command), COMMAND)
    return (
        str(process.pid),
        state_of(process),
        port,
        format_seconds(process.runtime_seconds),
        command,
    )


def state_of(process: Process) -> str:
    """Describe whether it is running or how it ended."""
    if process.running:
        return "running"
    code = process.return_code
    if code is None:
        return "ended"
    return f"exit {code}" if code >= 0 else signal_name(-code)


def format_seconds(seconds: float) -> str:
    """Format a time: `7s`, `2m 05s`, `3h 10m`, `2d 04h`."""
    whole = int(seconds)
    for size, above, below in ((86_400, "d", "h"), (3_600, "h", "m"), (60, "m", "s")):
        if whole >= size:
            part = whole % size // (size // {"h": 24, "m": 60, "s": 60}[below])
            return f"{whole // size}{above} {part:02}{below}"
    return f"{whole}s"


def table(rows: list[tuple[str, ...]]) -> list[str]:
    """Align the columns of rows; the last column is not padded."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(HEAD) - 1)]
    return [
        "  ".join(
            [
                *(cell.ljust(width) for cell, width in zip(row, widths, strict=False)),
                row[-1],
            ]
        )
        for row in rows
    ]


command = Command(
    "ps",
    callback=run,
    help="List the background processes of this repository, running and recently ended.",
    params=[FORMAT],
)
