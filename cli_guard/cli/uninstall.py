"""`cli-guard uninstall`: remove the hooks, Git's or a coding agent's, and restore what was there before."""

import click

from cli_guard.agents.registry import AGENTS
from cli_guard.cli.app import Command
from cli_guard.cli.install import agent_option, check_where, where_option
from cli_guard.cli.io import Io
from cli_guard.git.configured import remove_configured
from cli_guard.git.hooks import uninstall
from cli_guard.git.notes import MERGE
from cli_guard.hooks import GIT_HOOKS
from cli_guard.repository.protocol import Repository
from cli_guard.runtime import user_state
from cli_guard.secrets.printable import printable
from cli_guard.server import control
from cli_guard.state.files import explain_write_errors


def unset_merge(repository: Repository) -> None:
    """Take what `install` set for Git's notes out of the configuration, unless somebody set it to something else."""
    name, value = MERGE
    # Git removes the section with its last key.
    repository.git.attempt("config", "--local", "--unset", name, f"^{value}$")


def what_stays(repository: Repository) -> list[str]:
    """Say which folders of ours are still there, and what is in them; and that the server runs."""
    folders = {
        repository.state_folder: "the audit log, approvals and reports of this repository",
        user_state(repository.git.env): "what you trust, in all your repositories",
    }
    lines = [
        f"kept: {printable(str(folder))}, {what}; delete it if nobody needs it any more"
        for folder, what in folders.items()
        if folder and folder.is_dir()
    ]
    server = control.status()
    if server:
        lines.append(
            f"kept: the server, process {server.pid}; your other repositories may use it: `cli-guard server stop`"
            " ends it"
        )
    return lines


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
        unset_merge(repository)
    lines = [*filter(None, done)] or ["no cli-guard hook is installed here"]
    if not agent:
        lines += what_stays(repository)
    io.say("\n".join(f"cli-guard: {line}" for line in lines))
    return 0


command = Command(
    "uninstall",
    callback=run,
    help="Remove the Git hooks, or the hook of a coding agent, and restore what was there before.",
    params=[agent_option("Remove"), where_option("those of the repository by default")],
)
