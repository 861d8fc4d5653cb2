"""`cli-guard server`: shows, starts and stops the warm server of this installation."""

import datetime

import click

from cli_guard.cli.app import Command, Group
from cli_guard.cli.io import Io
from cli_guard.errors import CliGuardError, ExitCode
from cli_guard.review.render.words import count
from cli_guard.server import control


def describe_server(found: control.Status) -> str:
    """A server in words."""
    since = datetime.datetime.fromtimestamp(found.since, datetime.UTC).isoformat(" ", "seconds")
    return f"process {found.pid} since {since}, {count(found.runs, 'run')}, {found.memory >> 20} MB"


@click.pass_obj
def status(io: Io, /) -> int:
    """Says whether one runs; 1 if not."""
    found = control.status()
    reason = control.why_not(io.env)
    if found is None:
        io.say(f"cli-guard: no server runs{f', and none is asked: {reason}' if reason else ''}")
        return ExitCode.DENIED
    io.say(f"cli-guard: {describe_server(found)}{f'; it is not asked: {reason}' if reason else ''}")
    return ExitCode.OK


@click.pass_obj
def start(io: Io, /) -> int:
    """Starts one, unless one runs, and waits until it answers."""
    reason = control.why_not(io.env)
    if reason:
        raise CliGuardError(f"no server is started: {reason}")
    io.say(f"cli-guard: {describe_server(control.start_and_wait())}")
    return ExitCode.OK


@click.pass_obj
def stop(io: Io, /) -> int:
    """Ends it, once the runs that it does have ended."""
    io.say(f"cli-guard: {'the server has ended' if control.stop() else 'no server runs'}")
    return ExitCode.OK


command = Group(
    "server",
    help="Show, start or stop the warm server: a process that has everything loaded and does reviews at once. The"
    " first review leaves one behind; it leaves by itself when nobody has asked it for ten minutes.",
)
command.add_command(Command("status", callback=status, help="Say whether one runs; exit code 1 if not."))
command.add_command(Command("start", callback=start, help="Start one, unless one runs."))
command.add_command(Command("stop", callback=stop, help="End it, once the runs that it does have ended."))
