"""The options of `cli-guard exec`, and the kinds of value that they take."""

import math
import re
from dataclasses import dataclass

import click

from cli_guard.cli.app import FORMAT
from cli_guard.errors import UsageError
from cli_guard.execution.processes.model import STARTUP_TIMEOUT, TIMEOUT

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
WANTED = "give a number of seconds above 0"


@dataclass(frozen=True)
class Asked:
    """What the options say."""

    background: bool
    timeout: float | None
    startup_timeout: float | None
    port: int | None
    cwd: str | None
    env: tuple[str, ...]
    respond: str | None
    tty: bool
    cpu_seconds: int | None
    memory: int | None
    sandbox: bool
    yes: bool
    raw: bool
    format: str

    def check(self) -> None:
        """Raises UsageError for options that do not go together."""
        for given, name in (
            (self.startup_timeout is not None, "startup-timeout"),
            (self.port is not None, "port"),
        ):
            if given and not self.background:
                raise UsageError(f"--{name} is for a command in the background: add --background")
        for given, name in ((self.timeout is not None, "timeout"), (self.raw, "raw")):
            if given and self.background:
                raise UsageError(f"--{name} is for a command in the foreground: leave it or --background out")
        if self.raw and self.format == "json":
            raise UsageError("--raw is the output alone and --format json is none of it: give one")


def seconds(value: str, *, wanted: str = WANTED) -> float:
    """A time above 0. Raises click.BadParameter."""
    try:
        given = float(value)
    except ValueError:
        given = math.nan
    if not (math.isfinite(given) and given > 0):
        raise click.BadParameter(f"{value!r} is no time: {wanted}")
    return given


def start_time(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    """The value of --startup-timeout."""
    return None if value is None else seconds(value)


def time_limit(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    """The value of --timeout; `none` is no limit, as infinity."""
    if value is None or value.lower() == "none":
        return None if value is None else math.inf
    return seconds(value, wanted=f"{WANTED}, or none")


def names(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """The values of --env: names of variables. Raises click.BadParameter."""
    for each in value:
        name, equals, _value = each.partition("=")
        if equals:
            raise click.BadParameter(
                f"it takes a name: for a value, write {name}=... in front of the command"
            )
        if not NAME.match(each):
            raise click.BadParameter(f"{each!r} is no name of a variable")
    return value


def flag(*names: str, help: str) -> click.Option:
    """An option without a value."""
    return click.Option(list(names), is_flag=True, help=help)


OPTIONS: list[click.Parameter] = [
    click.Argument(["words"], nargs=-1, required=True, metavar="COMMAND..."),
    flag("--background", "-b", help="Start it, and leave it running: see `ps`, `logs` and `stop`."),
    click.Option(
        ["--timeout"],
        callback=time_limit,
        metavar="SECONDS",
        help=f"End it with its whole family after so long; none: never.  [default: {TIMEOUT:g}]",
    ),
    click.Option(
        ["--startup-timeout"],
        callback=start_time,
        metavar="SECONDS",
        help="In the background: how long to look whether it starts, or answers on its port."
        f"  [default: {STARTUP_TIMEOUT:g}]",
    ),
    click.Option(
        ["--port"],
        type=click.IntRange(1, 65_535),
        metavar="N",
        help="In the background: the port where it will listen (of known servers it is read from the command).",
    ),
    click.Option(["--cwd"], metavar="DIR", help="The folder that it runs in."),
    click.Option(
        ["--env"],
        multiple=True,
        callback=names,
        metavar="NAME",
        help="Pass this variable on; may be given again. Others are passed only where every program needs them"
        " (PATH, HOME, LANG ...), what looks like a secret never.",
    ),
    click.Option(
        ["--respond"],
        metavar="TEXT",
        help="Its standard input: this text. Without it a command in the foreground reads ours.",
    ),
    flag("--tty", help="Give it a terminal of its own."),
    click.Option(
        ["--cpu-seconds"], type=click.IntRange(min=1), metavar="N", help="CPU time of each process."
    ),
    click.Option(
        ["--memory"], type=click.IntRange(min=1), metavar="MB", help="Address space of each process."
    ),
    flag("--sandbox", help="Without network, the repository read-only (Linux, needs bubblewrap)."),
    flag(
        "--yes",
        "-y",
        help="Answer the question with yes. Only a person at a terminal can; nothing lifts a deny.",
    ),
    flag("--raw", help="Its bytes as they are, secrets too; to a terminal, nothing that acts on it."),
    FORMAT,
]
