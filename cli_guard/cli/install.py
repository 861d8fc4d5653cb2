"""`cli-guard install`: the native hooks."""

import sys

import click

from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.git.hooks import HOOKS, install
from cli_guard.git.repository import Repository


@click.pass_obj
def run(io: Io, /, hook_type: tuple[str, ...], force: bool) -> int:
    """Installs the hooks that were named, all of them by default."""
    repository = Repository.discover(io.cwd, io.env)
    done = install(repository, hook_type or HOOKS, sys.executable, force=force)
    io.say("\n".join(f"cli-guard: {line}" for line in done))
    return 0


command = Command(
    "install",
    callback=run,
    help="Install the Git hooks in this repository. A hook that is there already keeps running, before ours.",
    params=[
        click.Option(
            ["--hook-type", "-t"],
            multiple=True,
            type=click.Choice(HOOKS),
            help="Only this hook; may be given several times.",
        ),
        click.Option(
            ["--force", "-f"], is_flag=True, help="Replace a hook that is there instead of keeping it."
        ),
    ],
)
