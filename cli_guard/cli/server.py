"""`cli-guard server`: show, start, stop, enable or disable the warm server of this installation."""

import datetime
import re
from pathlib import Path

import click

from cli_guard.cli.app import Group
from cli_guard.cli.io import Io
from cli_guard.errors import CliGuardError, ConfigError, ExitCode, UsageError
from cli_guard.policy.config import parse_config, parse_toml
from cli_guard.review.render.words import count
from cli_guard.runtime import user_file
from cli_guard.server import control
from cli_guard.state.files import explain_write_errors, make_folder, write_atomically

command = Group(
    "server",
    help="Show, start or stop the warm server: a process that keeps everything loaded, so that reviews start at once."
    " The first `git add` or review starts it; it exits after three idle hours.",
)


def describe_server(found: control.ServerStatus) -> str:
    since = datetime.datetime.fromtimestamp(found.since, datetime.UTC).isoformat(
        " ", "seconds"
    )
    return f"process {found.pid} since {since}, {count(found.runs, 'run')}, {found.memory >> 20} MB"


@command.command("status", help="Show whether the server is running; exit code 1 if not.")
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


@command.command("start", help="Start the server unless it is running.")
@click.pass_obj
def start(io: Io, /) -> int:
    """Start a server unless one is running, and wait until it answers."""
    if reason := control.why_not(io.env):
        raise CliGuardError(f"the server is disabled: {reason}")
    io.say(f"cli-guard: server: {describe_server(control.start_and_wait())}")
    return ExitCode.OK


@command.command("stop", help="Stop the server once the reviews that it runs have ended.")
@click.pass_obj
def stop(io: Io, /) -> int:
    """Stop the server after its current runs have ended."""
    io.say(f"cli-guard: {'server: stopped' if control.stop() else 'server: not running'}")
    return ExitCode.OK


@command.command("enable", help="Use the server again.")
@click.pass_obj
def enable(io: Io, /) -> int:
    """Use the server again."""
    return switch(io, enabled=True)


@command.command("disable", help="Stop the server, and use none from now on.")
@click.pass_obj
def disable(io: Io, /) -> int:
    """Stop the server, and use none from now on."""
    code = switch(io, enabled=False)
    control.stop()
    return code


def switch(io: Io, *, enabled: bool) -> int:
    """Write `[server] enabled` to the user's own file, unless it says so already. Raises CliGuardError."""
    path = user_file(io.env)
    if path is None:
        raise UsageError("it cannot be saved: set HOME or XDG_CONFIG_HOME")
    if control.is_enabled(io.env) is not enabled:
        with explain_write_errors():
            set_enabled(path, enabled)
    io.say(f"cli-guard: server: {'enabled' if enabled else 'disabled'} in {path}")
    return ExitCode.OK


def set_enabled(path: Path, enabled: bool) -> None:
    """Set `[server] enabled` in the user's own file, and keep all else. Raises ConfigError, OSError."""
    before = path.read_text("utf-8-sig") if path.exists() else ""
    line = f"enabled = {'true' if enabled else 'false'}"
    # The table up to the key, or to its first line alone.
    after, found = re.subn(
        r"(?m)^(\[server\]\n(?:(?!\[).*\n)*?)enabled[ \t]*=.*$",
        rf"\1{line}",
        before,
        count=1,
    )
    if not found:
        after, found = re.subn(r"(?m)^\[server\]$", f"[server]\n{line}", before, count=1)
    if not found:
        after = f"{before.rstrip()}\n\n[server]\n{line}\n".lstrip()
    try:
        is_kept = parse_config(parse_toml(after.encode(), ""), "").server.enabled is enabled
    except ConfigError:
        is_kept = False
    if not is_kept:
        raise ConfigError(f"{path}: write it there by hand: [server] {line}")
    if not path.parent.exists():
        make_folder(path.parent)
    write_atomically(path, after)
