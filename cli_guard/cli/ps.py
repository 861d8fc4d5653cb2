"""`cli-guard exec ps`: list the background processes that were started from here."""

import datetime

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
ROW = "{:>7}  {:<9}  {:>5}  {:>15}  {}"
HEAD = ROW.format("PID", "STATE", "PORT", "TIME", "COMMAND")


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
    io.say("\n".join((HEAD, *map(row, (*running, *ended[:ENDED])))))
    if len(ended) > ENDED:
        io.say(f"({len(ended) - ENDED} more ended earlier: --format json)")
    return 0


def row(process: Process) -> str:
    port = "-" if process.port is None else process.port
    runtime = datetime.timedelta(seconds=int(process.runtime_seconds))
    command = clip(one_line(process.command), COMMAND)
    return ROW.format(process.pid, state_of(process), port, str(runtime), command)


def state_of(process: Process) -> str:
    """Describe whether it is running or how it ended."""
    if process.running:
        return "running"
    code = process.return_code
    if code is None:
        return "ended"
    return f"exit {code}" if code >= 0 else signal_name(-code)


command = Command(
    "ps",
    callback=run,
    help="List the background processes of this repository, running and recently ended.",
    params=[FORMAT],
)
