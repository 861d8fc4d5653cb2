"""`cli-guard uninstall`: remove the hooks, Git's or a coding agent's, and restore what was there before."""

import click

from cli_guard.agents.registry import AGENTS
from cli_guard.cli.app import Command
from cli_guard.cli.install import agent_option, check_where, where_option
from cli_guard.cli.io import Io
from cli_guard.git.configured import remove_configured
from cli_guard.git.hooks import uninstall
from cli_guard.hooks import GIT_HOOKS
from cli_guard.state.files import explain_write_errors


@click.pass_obj
def run(io: Io, /, agent: str | None, where: str | None) -> int:
    check_where(agent, where)
    repository = io.find_repository()
    if agent:
        uninstall_agent = AGENTS[agent].load().uninstall
        done = [
            uninstall_agent(repository, where) if where else uninstall_agent(repository)
        ]
    else:
        with explain_write_errors("the hooks"):
            done = [
                *remove_configured(repository, (each.name for each in GIT_HOOKS)),
                *uninstall(repository),
            ]
    io.say(
        "\n".join(f"cli-guard: {line}" for line in done if line)
        or "cli-guard: no cli-guard hook is installed here"
    )
    return 0


command = Command(
    "uninstall",
    callback=run,
    help="Remove the Git hooks, or the hook of a coding agent, and restore what was there before.",
    params=[agent_option("Remove"), where_option("those of the repository by default")],
)
