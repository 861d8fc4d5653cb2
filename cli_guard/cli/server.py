"""`cli-guard server`: show, start or stop the warm server of this installation."""

import datetime

import click

from cli_guard.cli.app import Command, Group
from cli_guard.cli.io import Io
from cli_guard.errors import CliGuardError, ExitCode
from cli_guard.review.render.words import count
from cli_guard.server import activation, control


def describe_server(found: control.Status) -> str:
    since = datetime.datetime.fromtimestamp(found.since, datetime.UTC).isoformat(
        " ", "seconds"
    )
    return f"process {found.pid} since {since}, {count(found.runs, 'run')}, {found.memory >> 20} MB"


@click.pass_obj
def status(io: Io, /) -> int:
    """Print whether a server is running; return 1 if not."""
    found = control.status()
    reason = control.why_not(io.env)
    if found is None:
        io.say(f"cli-guard: server: {f'disabled ({reason})' if reason else 'not running'}")
        return ExitCode.DENIED
    io.say(
        f"cli-guard: server: {describe_server(found)}{f'; not used: {reason}' if reason else ''}"
    )
    return ExitCode.OK


def check_enabled(io: Io) -> None:
    """Raise CliGuardError if no server is used in this environment."""
    if reason := control.why_not(io.env):
        raise CliGuardError(f"the server is disabled: {reason}")


@click.pass_obj
def start(io: Io, /) -> int:
    """Start a server unless one is running, and wait until it answers."""
    check_enabled(io)
    io.say(f"cli-guard: server: {describe_server(control.start_and_wait())}")
    return ExitCode.OK


@click.pass_obj
def stop(io: Io, /) -> int:
    """Stop the server after its current runs have ended."""
    io.say(f"cli-guard: {'server: stopped' if control.stop() else 'server: not running'}")
    return ExitCode.OK


@click.pass_obj
def enable(io: Io, /) -> int:
    """Let systemd's user instance start the server at the first request."""
    check_enabled(io)
    io.say(
        f"cli-guard: server: systemd starts it at the first request ({control.enable()})"
    )
    return ExitCode.OK


@click.pass_obj
def disable(io: Io, /) -> int:
    """Remove what `enable` has set up."""
    was_enabled = activation.disable(io.env)
    io.say(
        f"cli-guard: server: {'not enabled any more' if was_enabled else 'was not enabled'}"
    )
    return ExitCode.OK


command = Group(
    "server",
    help="Show, start or stop the warm server: a process that keeps everything loaded, so that reviews start at once."
    " The first `git add` or review starts it; it exits after three idle hours.",
)
command.add_command(
    Command(
        "status",
        callback=status,
        help="Show whether the server is running; exit code 1 if not.",
    )
)
command.add_command(
    Command("start", callback=start, help="Start the server unless it is running.")
)
command.add_command(
    Command(
        "enable",
        callback=enable,
        help="Let systemd start the server. Its user instance listens, and starts it at the first request after each"
        " login. Run this again after an upgrade.",
    )
)
command.add_command(
    Command("disable", callback=disable, help="Remove what `enable` has set up.")
)
command.add_command(
    Command(
        "stop", callback=stop, help="Stop accepting connections; wait for running children."
    )
)
