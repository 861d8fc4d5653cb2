"""`cli-guard exec logs`: show the output of a background process."""

import click

from cli_guard.cli.app import Command, Number, flag, option
from cli_guard.cli.io import Io
from cli_guard.cli.processes import manager_of
from cli_guard.cli.streams import Streams

LINES = 50


@click.pass_obj
def run(io: Io, /, pid: int, lines: int, follow: bool) -> int:
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
            return 130
    return 0


command = Command(
    "logs",
    callback=run,
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
    ],
)
