"""`cli-guard exec stop`: stop background processes with their process trees."""

import click

from cli_guard.cli.app import FORMAT, Command, Number, flag
from cli_guard.cli.io import Io
from cli_guard.cli.processes import manager_of, one_line, say_json
from cli_guard.errors import UsageError
from cli_guard.execution.command import RunRecord
from cli_guard.execution.processes.model import stopped_as_dict
from cli_guard.state.records import state_folder


@click.pass_obj
def run(io: Io, /, pid: int | None, all_: bool, force: bool, format: str) -> int:
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


command = Command(
    "stop",
    callback=run,
    help="Stop a background process with its process tree: SIGINT, then SIGTERM, then SIGKILL. Exit code 1 if one"
    " could not be stopped.",
    params=[
        click.Argument(["pid"], type=Number(min=1), required=False, metavar="[PID]"),
        flag("--all all_", "Stop all of them."),
        flag("--force", "Send SIGKILL at once."),
        FORMAT,
    ],
)
