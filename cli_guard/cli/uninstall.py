"""`cli-guard uninstall`: the hooks out, and back what was there before."""

import click

from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.git.hooks import uninstall
from cli_guard.git.repository import Repository


@click.pass_obj
def run(io: Io, /) -> int:
    """Takes the hooks out."""
    done = uninstall(Repository.discover(io.cwd, io.env))
    io.say("\n".join(f"cli-guard: {line}" for line in done) or "cli-guard: no hook of ours is installed here")
    return 0


command = Command(
    "uninstall", callback=run, help="Take the Git hooks out and put back what was there before."
)
