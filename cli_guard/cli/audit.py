"""`cli-guard audit`: the trail of what was reviewed and approved."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import click

from cli_guard.cli.app import Command, Group
from cli_guard.cli.io import Io
from cli_guard.errors import CliGuardError, NotARepository
from cli_guard.git.repository import Repository
from cli_guard.secrets.printable import clip, printable
from cli_guard.state.audit import AuditLog
from cli_guard.state.records import state_folder

SHOWN = 20
COMMAND = 80


def trail(io: Io) -> AuditLog:
    """The trail of the repository here, or that of what was run outside of any. Raises NotARepository, GitError."""
    try:
        return AuditLog(Repository.discover(io.cwd, io.env).state_folder)
    except NotARepository:
        own = AuditLog(state_folder(io.cwd, io.env))
        if not own.path.exists():
            raise
        return own


@contextmanager
def readable() -> Iterator[None]:
    """Says in one line why a trail cannot be read. Raises CliGuardError."""
    try:
        yield
    except OSError as error:
        raise CliGuardError(f"the audit trail cannot be read: {error.strerror} ({error.filename})") from error


def line_of(entry: dict[str, object]) -> str:
    """One run in one line."""
    if "unreadable" in entry:
        return "(a line that is not an entry: see `cli-guard audit verify`)"
    if "run" in entry:
        return line_of_run(entry)
    what = next((entry[key] for key in ("skipped", "decision", "reason", "command") if entry.get(key)), "")
    rules = entry.get("rules")
    told = ", ".join(f"{rule} x{number}" for rule, number in rules.items()) if isinstance(rules, dict) else ""
    parts = (entry.get("at"), entry.get("user"), entry.get("event"), what, entry.get("review_id") or "", told)
    return printable("  ".join(str(part) for part in parts if part))


def line_of_run(entry: dict[str, object]) -> str:
    """What became of a command, in one line: whether it might run, how it started, ended or was stopped."""
    told = [
        f"{name} {entry[name]}" for name in ("pid", "state", "return_code") if entry.get(name) is not None
    ]
    said = f"{entry.get('verdict')} ({entry.get('answer')})" if "verdict" in entry else entry.get("ended")
    command = clip(str(entry.get("command", "")), COMMAND)
    parts = (entry.get("at"), entry.get("user"), entry.get("event"), entry.get("run"), said, *told, command)
    return printable("  ".join(str(part) for part in parts if part))


@click.pass_obj
def show(io: Io, /, all_: bool, format_: str) -> int:
    """Prints the last runs, oldest first."""
    with readable():
        entries = list(trail(io).entries())
    chosen = entries if all_ else entries[-SHOWN:]
    if format_ == "json":
        io.say("\n".join(json.dumps(entry) for entry in chosen))
        return 0
    if not chosen:
        io.say("cli-guard: the audit trail is empty")
    if len(chosen) < len(entries):
        io.say(f"({len(entries) - len(chosen)} earlier runs: --all)")
    io.say("\n".join(line_of(entry) for entry in chosen))
    return 0


@click.pass_obj
def verify(io: Io, /) -> int:
    """Goes along the chain of hashes."""
    with readable():
        result = trail(io).verify()
    if result.problem:
        io.warn(
            f"cli-guard: the audit trail was changed: {result.problem}; {result.entries} entries before it hold"
        )
        return 1
    io.say(f"cli-guard: the audit trail holds, {result.entries} entries")
    return 0


FORMAT = click.Option(
    ["--format", "format_"],
    type=click.Choice(["text", "json"]),
    default="text",
    help="json: the lines as they are.",
)
command = Group("audit", help="Show or verify the audit trail.", invoke_without_command=True)


@click.pass_context
def by_default(ctx: click.Context, /) -> int:
    """Without a sub-command the trail is shown."""
    return ctx.invoke(show, all_=False, format_="text") if ctx.invoked_subcommand is None else 0


command.callback = by_default
command.add_command(
    Command(
        "show",
        callback=show,
        help="Show the last runs.",
        params=[click.Option(["--all", "all_"], is_flag=True, help="Show every run."), FORMAT],
    )
)
command.add_command(Command("verify", callback=verify, help="Check that no line was changed or taken out."))
