"""`cli-guard shell`: run one command over a snapshot of the repository."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from cli_guard.cli.app import Command, flag, option
from cli_guard.cli.io import Io
from cli_guard.errors import UsageError
from cli_guard.runtime import user_file

if TYPE_CHECKING:
    from cli_guard.mcp.client.tools import ShellTools
    from cli_guard.repository.protocol import Repository


@contextmanager
def servers_of(repository: "Repository", io: Io) -> "Iterator[ShellTools | None]":
    """Yield the MCP servers of the user's own file, None if there are none. Raises ConfigError."""
    path = user_file(io.env)
    if not path or not path.exists():
        yield None
        return
    from cli_guard.policy.recorded import policy_at_head

    policy, _ = policy_at_head(repository, io.env)
    if not policy.servers:
        yield None
        return
    from cli_guard.mcp.client.tools import open_servers

    with open_servers(policy.servers, io.cwd, io.env) as servers:
        yield servers.in_the_shell


@click.pass_obj
def run(
    io: Io, /, command: str, rev: str | None, worktree: bool, raw: bool, diff: bool
) -> int:
    if raw and diff:
        raise UsageError("--raw and --diff exclude each other: give one of them")
    from cli_guard.assistant import sandbox as shell
    from cli_guard.assistant.asking import world_of

    repository = io.find_repository()
    snapshot = repository.snapshot(rev, worktree=worktree)
    stdin = b"" if io.stdin.isatty() else io.read_bytes()
    with servers_of(repository, io) as mcp:
        world = replace(world_of(repository, snapshot), mcp=mcp)
        ran = shell.run(command, world, stdin=stdin)
    if raw:
        io.write_bytes(ran.stdout, ran.stderr)
        return ran.exit_code
    # To a person the shell has said already that a command is unknown.
    said = ("[error] unknown command: ", "Available: ")
    lines = ran.shown.split("\n")
    io.say("\n".join(line for line in lines if not line.startswith(said)))
    if diff:
        from cli_guard.assistant.sandbox.presentation import as_patch

        patch = as_patch(ran, snapshot) or "no file would be changed\n"
        io.write_bytes(patch.encode("utf-8", "surrogateescape"), b"")
    return 1 if ran.exit_code else 0


command = Command(
    "shell",
    callback=run,
    help="Run one bash command over the files of the repository, in a sandboxed interpreter with pipes, redirections,"
    " loops, the usual text tools and extra commands (`cli-guard shell help`). No file is changed: what"
    " the command writes is discarded, or shown by --diff. Exit code 0 if the command succeeded, 1 if not; its own"
    " exit code is in the last line; --raw returns it instead. Requires the extra `shell`.",
    params=[
        click.Argument(["command"]),
        option(
            "--rev", "REV", "Use the files of a commit (default: the index).", rare=True
        ),
        flag("--worktree", "Use the files of the work tree."),
        flag(
            "--raw",
            "Print only the output, byte for byte, and return the exit code of the command.",
        ),
        flag(
            "--diff",
            "Also show the changes that the command would have made, as a patch.",
            rare=True,
        ),
    ],
)
