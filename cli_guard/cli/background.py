"""`cli-guard exec ps`, `logs` and `stop`: what was started in the background from here."""

import datetime

import click

from cli_guard.cli.app import FORMAT, Command, Number, flag, option
from cli_guard.cli.io import Io
from cli_guard.cli.streams import Streams, one_line, say_json
from cli_guard.errors import ExitCode, UsageError
from cli_guard.execution.command import RunRecord
from cli_guard.execution.processes.manager import ProcessManager
from cli_guard.execution.processes.model import Process, list_as_dict, stopped_as_dict
from cli_guard.execution.shell import signal_name
from cli_guard.secrets.printable import clip
from cli_guard.state.records import state_folder

# How many ended processes are shown.
ENDED = 10
COMMAND = 120
ROW = "{:>7}  {:<9}  {:>5}  {:>15}  {}"
HEAD = ROW.format("PID", "STATE", "PORT", "TIME", "COMMAND")
LINES = 50


def manager_of(io: Io) -> ProcessManager:
    """Return the manager of the background processes started from here. Raises CliGuardError."""
    return ProcessManager(state_folder(io.cwd, io.env) / "processes", keep=True)


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


@click.pass_obj
def show_log(io: Io, /, pid: int, lines: int, follow: bool) -> int:
    """Print the end of a log, and follow it on request."""
    with manager_of(io) as manager, Streams(io) as streams:
        if not follow:
            streams("stdout", manager.log_bytes(pid, lines))
            return 0
        try:
            for data in manager.follow(pid, lines):
                streams("stdout", data)
        except KeyboardInterrupt:
            # Ctrl-C ends the following, not the process.
            return ExitCode.INTERRUPTED
    return 0


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
    code = ExitCode.OK if all(each.success for each in stopped) else ExitCode.DENIED
    if format == "json":
        several = {"error": None, **stopped_as_dict(stopped)}
        say_json(io, several if pid is None else stopped[0].as_dict())
        return code
    for each in stopped:
        if each.error:
            io.warn(f"cli-guard: {one_line(each.error)}")
        else:
            io.say(f"cli-guard: {one_line(each.message)}")
    if not stopped:
        io.say("cli-guard: no background process is running")
    return code


PID = Number(min=1)
COMMANDS = (
    Command(
        "ps",
        callback=list_processes,
        help="List the background processes of this repository, running and recently ended.",
        params=[FORMAT],
    ),
    Command(
        "logs",
        callback=show_log,
        help="Show the last lines that a background process printed, running or ended.",
        params=[
            click.Argument(["pid"], type=PID, metavar="PID"),
            option(
                "--lines -n",
                "LINES",
                "Number of lines.",
                type=Number(min=0),
                default=LINES,
                show_default=True,
            ),
            flag("--follow -f", "Follow the output until the process ends or Ctrl-C."),
        ],
    ),
    Command(
        "stop",
        callback=stop_processes,
        help="Stop a background process with its process tree: SIGINT, then SIGTERM, then SIGKILL. Exit code 1 if one"
        " could not be stopped.",
        params=[
            click.Argument(["pid"], type=PID, required=False, metavar="[PID]"),
            flag("--all all_", "Stop all of them."),
            flag("--force", "Send SIGKILL at once."),
            FORMAT,
        ],
    ),
)
