"""The options of `cli-guard exec`, and the types of their values."""

import math
import re

import click

from cli_guard.cli.app import FORMAT, Number, RareOption, flag, option
from cli_guard.errors import UsageError
from cli_guard.execution.processes.model import STARTUP_TIMEOUT, TIMEOUT
from cli_guard.lazy import frozen

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
WANTED = "give a number of seconds above 0"


@frozen
class ExecOptions:
    """The values of the options."""

    background: bool
    timeout: float | None
    startup_timeout: float | None
    port: int | None
    cwd: str | None
    env: tuple[str, ...]
    stdin: str | None
    respond: str | None
    tty: bool | None
    cpu_seconds: int | None
    memory: int | None
    sandbox: bool
    yes: bool
    raw: bool
    format: str

    def check(self) -> None:
        """Raise UsageError for options that exclude each other."""
        for given, name in (
            (self.startup_timeout is not None, "startup-timeout"),
            (self.port is not None, "port"),
        ):
            if given and not self.background:
                raise UsageError(f"--{name} requires --background")
        for given, name in ((self.timeout is not None, "timeout"), (self.raw, "raw")):
            if given and self.background:
                raise UsageError(f"--{name} cannot be combined with --background")
        if self.raw and self.format == "json":
            raise UsageError("--raw and --format json exclude each other: give one of them")


def seconds(value: str, *, wanted: str = WANTED) -> float:
    """Parse a time above 0. Raises click.BadParameter."""
    try:
        given = float(value)
    except ValueError:
        given = math.nan
    if not (math.isfinite(given) and given > 0):
        raise click.BadParameter(f"{value!r} is not a time: {wanted}")
    return given


def start_time(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    return None if value is None else seconds(value)


def time_limit(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    """Parse the value of --timeout; `none` means no limit (infinity)."""
    if value is None or value.lower() == "none":
        return None if value is None else math.inf
    return seconds(value, wanted=f"{WANTED}, or none")


def names(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Check the values of --env: names of variables. Raises click.BadParameter."""
    for each in value:
        name, equals, _value = each.partition("=")
        if equals:
            raise click.BadParameter(
                f"give a name; to set a value, write {name}=... before the command"
            )
        if not NAME.match(each):
            raise click.BadParameter(f"{each!r} is not a variable name")
    return value


OPTIONS: list[click.Parameter] = [
    click.Argument(["words"], nargs=-1, required=True, metavar="COMMAND..."),
    flag(
        "--background -b",
        "Run in the background; see `exec ps`, `exec logs` and `exec stop`.",
    ),
    option(
        "--timeout",
        "SECONDS",
        f"Kill the process tree after SECONDS (none: no limit).  [default: {TIMEOUT:g}]",
        callback=time_limit,
    ),
    option(
        "--startup-timeout",
        "SECONDS",
        "In the background: seconds to wait until it has started or answers on its port."
        f"  [default: {STARTUP_TIMEOUT:g}]",
        rare=True,
        callback=start_time,
    ),
    option(
        "--port",
        "N",
        "In the background: the port it listens on (detected in the command for common servers).",
        rare=True,
        type=Number(1, 65_535),
    ),
    option("--cwd", "DIR", "The folder to run in."),
    option(
        "--env",
        "NAME",
        "Pass this environment variable; may be repeated. Only what every program needs is passed by default"
        " (PATH, HOME, LANG ...), and nothing that looks like a secret.",
        multiple=True,
        callback=names,
    ),
    option(
        "--stdin",
        "TEXT",
        "Text for the command's standard input. Default in the foreground: read the terminal or pipe.",
        rare=True,
    ),
    # The name in the previous release.
    click.Option(["--respond"], hidden=True),
    RareOption(
        ["--tty/--no-tty"],
        default=None,
        help="Run it in a pseudo-terminal, so that its output comes at once. Default: in the foreground, if"
        " standard input, output and error are terminals.",
    ),
    option(
        "--cpu-seconds",
        "N",
        "Limit the CPU time of each process.",
        rare=True,
        type=Number(min=1),
    ),
    option(
        "--memory",
        "MB",
        "Limit the address space of each process.",
        rare=True,
        type=Number(min=1),
    ),
    flag(
        "--sandbox",
        "Run without network, with the repository read-only (Linux, needs bubblewrap).",
    ),
    flag(
        "--yes -y",
        "Answer yes to the question. Only valid at a terminal; a denied command is never run.",
    ),
    flag(
        "--raw",
        "Pass its output through unchanged, secrets included; control characters never reach a terminal.",
        rare=True,
    ),
    FORMAT,
]
