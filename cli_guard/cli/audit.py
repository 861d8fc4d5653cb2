"""`cli-guard audit`: the log of what was reviewed, approved and run."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import click

from cli_guard.cli.app import Command, Group
from cli_guard.cli.io import Io
from cli_guard.errors import CliGuardError, NotARepository
from cli_guard.git.repository import Repository
from cli_guard.review.render.words import count
from cli_guard.secrets.printable import clip, printable
from cli_guard.state.audit import AuditLog
from cli_guard.state.records import Records, state_folder

SHOWN = 20
COMMAND = 80


def open_log(io: Io) -> AuditLog:
    """Open the log of the repository here, or the user's own outside of any. Raises NotARepository, GitError."""
    try:
        return AuditLog(Repository.discover(io.cwd, io.env).state_folder)
    except NotARepository:
        own = AuditLog(state_folder(io.cwd, io.env))
        if not own.path.exists():
            raise
        return own


@contextmanager
def readable() -> Iterator[None]:
    """Raise CliGuardError, with the reason in one line, if the log cannot be read."""
    try:
        yield
    except OSError as error:
        raise CliGuardError(f"the audit log cannot be read: {error.strerror} ({error.filename})") from error


def line_of(entry: dict[str, object]) -> str:
    """Format one entry in one line."""
    if "unreadable" in entry:
        return "(not an audit entry: see `cli-guard audit verify`)"
    if "run" in entry:
        return line_of_run(entry)
    what = next((entry[key] for key in ("skipped", "decision", "reason", "command") if entry.get(key)), "")
    rules = entry.get("rules")
    hits = ", ".join(f"{rule} x{number}" for rule, number in rules.items()) if isinstance(rules, dict) else ""
    parts = (entry.get("at"), entry.get("user"), entry.get("event"), what, entry.get("review_id") or "", hits)
    return printable("  ".join(str(part) for part in parts if part))


def line_of_run(entry: dict[str, object]) -> str:
    """Format the entry of a command in one line: whether it was allowed, how it started, ended or was stopped."""
    more = [
        f"{name} {entry[name]}" for name in ("pid", "state", "return_code") if entry.get(name) is not None
    ]
    said = f"{entry.get('verdict')} ({entry.get('answer')})" if "verdict" in entry else entry.get("ended")
    command = clip(str(entry.get("command", "")), COMMAND)
    parts = (entry.get("at"), entry.get("user"), entry.get("event"), entry.get("run"), said, *more, command)
    return printable("  ".join(str(part) for part in parts if part))


@click.pass_obj
def show(io: Io, /, all_: bool, format_: str) -> int:
    """Print the last entries, oldest first."""
    with readable():
        entries = list(open_log(io).entries())
    chosen = entries if all_ else entries[-SHOWN:]
    if format_ == "json":
        io.say("\n".join(json.dumps(entry) for entry in chosen))
        return 0
    if not chosen:
        io.say("cli-guard: the audit log is empty")
    if len(chosen) < len(entries):
        io.say(f"({len(entries) - len(chosen)} earlier entries: --all)")
    io.say("\n".join(line_of(entry) for entry in chosen))
    return 0


@click.pass_obj
def verify(io: Io, /) -> int:
    """Check the hash chain, and that each approval has its entry."""
    with readable():
        log = open_log(io)
        result = log.verify()
    records = Records(log.path.parent)
    given = records.approvals()
    lost = [each for each in records.approvals(confirmed=False) if each not in given]
    if lost:
        ids = printable(", ".join(each.id for each in lost))
        io.warn(
            f"cli-guard: no entry in the audit log for {count(len(lost), 'approval')}, not counted: {ids}"
        )
    if result.problem:
        io.warn(
            f"cli-guard: the audit log was changed: {result.problem}; the {result.entries} entries before it are valid"
        )
        return 1
    io.say(f"cli-guard: audit log: {result}")
    return 1 if lost else 0


FORMAT = click.Option(
    ["--format", "format_"],
    type=click.Choice(["text", "json"]),
    default="text",
    help="json: the entries unchanged.",
)
command = Group("audit", help="Show or verify the audit log.", invoke_without_command=True)


@click.pass_context
def by_default(ctx: click.Context, /) -> int:
    """Show the log if no sub-command is given."""
    return ctx.invoke(show, all_=False, format_="text") if ctx.invoked_subcommand is None else 0


command.callback = by_default
command.add_command(
    Command(
        "show",
        callback=show,
        help="Show the last entries.",
        params=[click.Option(["--all", "all_"], is_flag=True, help="Show every entry."), FORMAT],
    )
)
command.add_command(Command("verify", callback=verify, help="Check that no line was changed or removed."))
