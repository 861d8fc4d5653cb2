"""`cli-guard install`: the native hooks, or the hook of a coding agent."""

import compileall
import sys
from pathlib import Path

import click

from cli_guard.agents.registry import AGENTS
from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.errors import UsageError
from cli_guard.git.hooks import HOOKS, SERVER_HOOKS, install
from cli_guard.git.notes import MERGE
from cli_guard.git.repository import Repository


def agent_option(verb: str) -> click.Option:
    return click.Option(
        ["--agent"],
        type=click.Choice(tuple(AGENTS)),
        help=f"{verb} the hook of this coding agent instead of Git's hooks.",
    )


def where_option(note: str) -> click.Option:
    return click.Option(
        ["--where"],
        type=click.Choice(("project", "local", "user")),
        help=f"With --agent: the agent's settings of the project (shared), local (not shared) or of the user; {note}.",
    )


def check_where(agent: str | None, where: str | None) -> None:
    """Raise UsageError for --where without --agent."""
    if where and not agent:
        raise UsageError("--where is about the settings of a coding agent: name it with --agent")


@click.pass_obj
def run(io: Io, /, hook_type: tuple[str, ...], force: bool, agent: str | None, where: str | None) -> int:
    """Install the given hooks, by default all of Git's."""
    check_where(agent, where)
    repository = Repository.discover(io.cwd, io.env)
    if agent:
        if hook_type or force:
            raise UsageError(
                "--agent excludes --hook-type and --force: install Git's hooks in a separate call"
            )
        install_agent = AGENTS[agent].load().install
        io.say(f"cli-guard: {install_agent(repository, where) if where else install_agent(repository)}")
        return 0
    # A bare repository may have work trees, and it may be pushed to.
    wanted = hook_type or (*HOOKS, *(SERVER_HOOKS if repository.bare else ()))
    done = install(repository, wanted, sys.executable, force=force)
    repository.git.run("config", *MERGE)
    io.say("\n".join(f"cli-guard: {line}" for line in done))
    compile_package()
    return 0


def compile_package() -> None:
    """Compile the package if the installer (uv, for example) has not: a commit should not wait for it."""
    if not sys.dont_write_bytecode:
        # If it cannot be written, only that time is lost.
        compileall.compile_dir(Path(__file__).parent.parent, quiet=2)


command = Command(
    "install",
    callback=run,
    help="Install the Git hooks in this repository, or the hook of a coding agent. An existing hook keeps running.",
    params=[
        click.Option(
            ["--hook-type", "-t"],
            multiple=True,
            type=click.Choice((*HOOKS, *SERVER_HOOKS)),
            help="Install only this hook; may be repeated.",
        ),
        click.Option(["--force", "-f"], is_flag=True, help="Replace an existing hook instead of keeping it."),
        agent_option("Install"),
        where_option("project by default"),
    ],
)
