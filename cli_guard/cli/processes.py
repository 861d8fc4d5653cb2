"""`cli-guard exec ps`, `logs` and `stop`: list background processes, show their output, end them."""

import json

import click

from cli_guard.cli.app import FORMAT, Command, Number, flag, option
from cli_guard.cli.io import Io
from cli_guard.cli.streams import Streams
from cli_guard.errors import UsageError
from cli_guard.execution.command import RunRecord
from cli_guard.execution.processes.manager import ProcessManager
from cli_guard.execution.processes.model import Process, list_as_dict, stopped_as_dict
from cli_guard.execution.shell import signal_name
from cli_guard.secrets.printable import clip, json_value, printable
from cli_guard.secrets.redact import redact
from cli_guard.state.records import state_folder

# How many ended processes are shown.
ENDED = 10
COMMAND = 120
HEAD = ("PID", "STATE", "PORT", "TIME", "COMMAND")
LINES = 50


def manager_of(io: Io) -> ProcessManager:
    """Return the manager of the background processes started from here. Raises CliGuardError."""
    return ProcessManager(state_folder(io.cwd, io.env) / "processes", keep=True)


def one_line(text: str) -> str:
    """Format a text about a command on one line, without secrets."""
    return printable(redact(text))


def redact_data(value: object) -> object:
    """Mask the secrets in every text of plain data."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: redact_data(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [redact_data(each) for each in value]
    return value


def say_json(io: Io, data: object) -> None:
    """Print data as JSON, without secrets."""
    io.say(json.dumps(json_value(redact_data(data)), indent=2, allow_nan=False))


@click.pass_obj
def list_processes(io: Io, /, format: str) -> int:
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


PS = Command(
    "ps",
    callback=list_processes,
    help="List the background processes of this repository, running and recently ended.",
    params=[FORMAT],
)


@click.pass_obj
def show_log(io: Io, /, pid: int, lines: int, follow: bool, raw: bool) -> int:
    """Print the end of a log, and follow it on request."""
    with manager_of(io) as manager, Streams(io, raw=raw) as streams:
        if not follow:
            streams("stdout", manager.log_bytes(pid, lines))
            return 0
        try:
            for data in manager.follow(pid, lines):
                streams("stdout", data)
        except KeyboardInterrupt:
            # Ctrl-C ends the following, not the process.
            return 130
    return 0


LOGS = Command(
    "logs",
    callback=show_log,
    help="Show the last lines that a background process printed, running or ended.",
    params=[
        click.Argument(["pid"], type=Number(min=1), metavar="PID"),
        option(
            "--lines -n",
            "LINES",
            "Number of lines.",
            type=Number(min=0),
            default=LINES,
            show_default=True,
        ),
        flag("--follow -f", "Follow the output until the process ends or Ctrl-C."),
        flag(
            "--raw",
            "Print the bytes unchanged, secrets included; control characters never reach a terminal.",
        ),
    ],
)


@click.pass_obj
def stop_processes(io: Io, /, pid: int | None, all_: bool, force: bool, format: str) -> int:
    if (pid is None) == (not all_):
        raise UsageError("give the PID of one process (see `cli-guard exec ps`), or --all")
    with manager_of(io) as manager:
        running = {each.pid for each in manager.processes() if each.running}
        stopped = (
            manager.stop_all(force=force)
            if pid is None
            else (manager.stop(pid, force=force),)
        )
    trail = RunRecord(state_folder(io.cwd, io.env), lambda: io.invocation, io.warn)
    for each in stopped:
        if each.pid in running:
            trail.note(
                "stop",
                pid=each.pid,
                method=each.method,
                stopped=each.success,
                return_code=each.return_code,
            )
    failed = [each for each in stopped if not each.success]
    if format == "json":
        say_json(
            io,
            stopped[0].as_dict()
            if pid is not None
            else {"error": None, **stopped_as_dict(stopped)},
        )
        return 1 if failed else 0
    for each in stopped:
        if each.error:
            io.warn(f"cli-guard: {one_line(each.error)}")
        else:
            io.say(f"cli-guard: {one_line(each.message)}")
    if not stopped:
        io.say("cli-guard: no background process is running")
    return 1 if failed else 0


STOP = Command(
    "stop",
    callback=stop_processes,
    help="Stop a background process with its process tree: SIGINT, then SIGTERM, then SIGKILL. Exit code 1 if one"
    " could not be stopped.",
    params=[
        click.Argument(["pid"], type=Number(min=1), required=False, metavar="[PID]"),
        flag("--all all_", "Stop all of them."),
        flag("--force", "Send SIGKILL at once."),
        FORMAT,
    ],
)
