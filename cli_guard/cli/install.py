"""`cli-guard install`: the native hooks, or the hook of a coding agent."""

import compileall
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from cli_guard.agents.dialects import describe_allow
from cli_guard.agents.registry import AGENTS, Agent
from cli_guard.cli.app import Command, choice, flag
from cli_guard.cli.io import Io
from cli_guard.errors import ExitCode, UsageError
from cli_guard.git.configured import configure, remove_configured
from cli_guard.git.hooks import install, usual_hooks
from cli_guard.git.managers import FRAMEWORKS, Manager, find_managers
from cli_guard.git.notes import MERGE
from cli_guard.hooks import GIT_HOOKS
from cli_guard.secrets.printable import printable
from cli_guard.server.control import why_not
from cli_guard.state.files import explain_write_errors

AHEAD = (
    "`git add` starts a process that reviews ahead and makes commits quick: it ends three hours after its last use, and"
    " takes 115 MB, later 70; `cli-guard server status` shows it, `cli-guard server disable` keeps it away"
)


def agent_option(verb: str) -> click.Option:
    said = f"{verb} the hook of this coding agent instead of Git's hooks."
    return choice("--agent", AGENTS, said)


def where_option(note: str) -> click.Option:
    return choice(
        "--where",
        ("project", "local", "user"),
        f"With --agent: the agent's settings of the project (shared), local (not shared) or of the user; {note}.",
        rare=True,
    )


def check_where(agent: str | None, where: str | None) -> None:
    """Raise UsageError for --where without --agent."""
    if where and not agent:
        raise UsageError(
            "--where is about the settings of a coding agent: name it with --agent"
        )


def describe_installed(agent: Agent, where: str) -> Iterator[str]:
    """Say what a person should know of the hook of an agent that was installed."""
    if where == "project":
        yield (
            "whoever clones this repository without cli-guard goes by the agent's own rules; recommended for yourself:"
            f" `cli-guard install --agent {agent.name} --where user`, for every repository, which blocks where"
            " cli-guard is missing"
        )
    yield f"in a work tree that you trust (`cli-guard trust --agents`) {describe_allow(agent)}"


def offer_lines(io: Io, manager: Manager) -> int:
    """Print what adds cli-guard to another hook manager; return 0 if nothing is missing."""
    lines = [f"cli-guard: nothing was changed, because {manager.name} runs the hooks here"]
    if manager.stages:
        lines.append(
            f"it runs cli-guard already, a script would be second: {', '.join(sorted(manager.stages))}"
        )
    if missing := "\n".join(manager.missing_lines()):
        lines += [f"to add it to {manager.place}:", *missing.split("\n")]
    if not manager.active:
        lines.append(f"Git does not run {manager.name} yet: run `{manager.setup}`")
    io.say("\n  ".join(map(printable, lines)))
    return ExitCode.USAGE if missing or not manager.active else ExitCode.OK


@click.pass_obj
def run(
    io: Io,
    /,
    hook_type: tuple[str, ...],
    force: bool,
    config: bool,
    agent: str | None,
    where: str | None,
) -> int:
    """Install the given hooks, by default all of Git's."""
    check_where(agent, where)
    repository = io.find_repository()
    if agent:
        if hook_type or force or config:
            raise UsageError(
                "--agent excludes --hook-type, --config and --force: install Git's hooks separately"
            )
        module = AGENTS[agent].load()
        done = module.install(repository, where) if where else module.install(repository)
        io.say(f"cli-guard: {done}")
        from cli_guard.agents.allow_lists import describe_allow_lists

        lines = [
            *describe_installed(AGENTS[agent], where or "project"),
            *describe_allow_lists(module, repository),
        ]
        io.say("\n".join(f"cli-guard: {printable(line)}" for line in lines))
        return 0
    wanted = hook_type or tuple(each.name for each in usual_hooks(repository))
    managers = [each for each in find_managers(repository) if each.place not in FRAMEWORKS]
    if managers and not (force or config):
        return offer_lines(io, managers[0])
    with explain_write_errors("the hooks"):
        if config:
            done = list(configure(repository, wanted, sys.executable, force=force))
        else:
            done = install(repository, wanted, sys.executable, force=force)
            done += remove_configured(repository, wanted)
    repository.git.run("config", *MERGE)
    if "post-index-change" in wanted and not why_not(io.env):
        done.append(AHEAD)
    if not hook_type and "pre-commit" not in wanted:
        done.append(
            "Git commits nothing in a bare repository; after `git worktree add`, install in the work tree"
        )
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
        choice(
            "--hook-type -t",
            (each.name for each in GIT_HOOKS),
            "Install only this hook; may be repeated.",
            multiple=True,
        ),
        flag("--force -f", "Replace an existing hook instead of keeping it.", rare=True),
        flag(
            "--config",
            "Write the hooks into Git's configuration instead of scripts (Git 2.54 or later).",
        ),
        agent_option("Install"),
        where_option("project by default"),
    ],
)
