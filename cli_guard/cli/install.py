"""`cli-guard install`: the native hooks, or the hook of a coding agent."""

import sys

import click

from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.errors import UsageError
from cli_guard.git.hooks import HOOKS, install
from cli_guard.git.repository import Repository

AGENTS = ("claude-code",)
AGENT = click.Option(
    ["--agent"], type=click.Choice(AGENTS), help="The hook of this coding agent, not Git's hooks."
)


@click.pass_obj
def run(io: Io, /, hook_type: tuple[str, ...], force: bool, agent: str | None) -> int:
    """Installs the hooks that were named, all of Git's by default."""
    repository = Repository.discover(io.cwd, io.env)
    if agent:
        if hook_type or force:
            raise UsageError("--agent stands alone: Git's hooks are installed by a call of their own")
        from cli_guard.cli import claude_settings

        io.say(f"cli-guard: {claude_settings.install(repository)}")
        return 0
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
        AGENT,
    ],
)
