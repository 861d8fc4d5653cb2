"""`cli-guard uninstall`: remove the hooks and restore what was there before."""

import click

from cli_guard.agents.registry import AGENTS
from cli_guard.cli.app import Command
from cli_guard.cli.install import agent_option
from cli_guard.cli.io import Io
from cli_guard.git.hooks import uninstall
from cli_guard.git.repository import Repository


@click.pass_obj
def run(io: Io, /, agent: str | None) -> int:
    repository = Repository.discover(io.cwd, io.env)
    done = [AGENTS[agent].load().uninstall(repository)] if agent else uninstall(repository)
    io.say(
        "\n".join(f"cli-guard: {line}" for line in done if line)
        or "cli-guard: no cli-guard hook is installed here"
    )
    return 0


command = Command(
    "uninstall",
    callback=run,
    help="Remove the Git hooks and restore what was there before.",
    params=[agent_option("Remove")],
)
