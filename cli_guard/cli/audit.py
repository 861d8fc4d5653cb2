"""`cli-guard audit`: the log of what was reviewed, approved and run."""

import json
from collections import Counter

import click

from cli_guard.cli.app import FORMAT, Group, flag, option
from cli_guard.cli.io import Io
from cli_guard.errors import NotARepository
from cli_guard.repository.protocol import Repository
from cli_guard.review.render.words import count
from cli_guard.secrets.printable import clip, printable
from cli_guard.state.audit import AuditLog, Entry, readable, texts
from cli_guard.state.records import state_folder

SHOWN = 20
COMMAND = 80
PROCESS = ("pid", "state", "return_code")
# How surely somebody approved, and why a signed approval does not count.
HOW = ("level", "principal", "refused")


command = Group("audit", help="Show or verify the audit log.", invoke_without_command=True)


def open_log(io: Io) -> tuple[AuditLog, Repository | None]:
    """Open the log of the repository here, or the user's own outside of any. Raises NotARepository, GitError."""
    try:
        repository = io.find_repository()
    except NotARepository:
        own = AuditLog(state_folder(io.cwd, io.env))
        if not own.path.exists():
            raise
        return own, None
    return AuditLog(repository.state_folder), repository


def line_of(entry: Entry) -> str:
    """Format one entry in one line; that of a command says if it was allowed, how it started, ended or was stopped."""
    if "unreadable" in entry:
        return "(not an audit entry: see `cli-guard audit verify`)"
    if "run" in entry:
        said = (
            f"{entry.get('verdict')} ({entry.get('answer')})"
            if "verdict" in entry
            else entry.get("ended")
        )
        more = [f"{name} {entry[name]}" for name in PROCESS if entry.get(name) is not None]
        words = [entry["run"], said, *more, clip(str(entry.get("command", "")), COMMAND)]
    else:
        what = next(
            (
                entry[key]
                for key in ("skipped", "decision", "reason", "command")
                if entry.get(key)
            ),
            "",
        )
        rules = entry.get("rules")
        hits = (
            [f"{rule} x{number}" for rule, number in rules.items()]
            if isinstance(rules, dict)
            else []
        )
        hits += texts(entry, "approved_rules")
        words = [*map(entry.get, HOW), what, entry.get("review_id"), ", ".join(hits)]
    parts = (entry.get("at"), entry.get("user"), entry.get("event"), *words)
    return printable("  ".join(str(part) for part in parts if part))


def show_approvals(io: Io, commit: str, finding: str, by: str, format: str) -> int:
    """Print the approvals that fit, and the number of all for 100 commits."""
    from cli_guard.answering.auditing import approvals_of_commit

    repository = io.find_repository()
    chosen, every = approvals_of_commit(repository, io.invocation, commit)
    if finding:
        names = ("approved_rules", "fingerprints")
        chosen = [
            e
            for e in chosen
            if any(each.startswith(finding) for name in names for each in texts(e, name))
        ]
    if by:
        chosen = [
            e
            for e in chosen
            if by.lower() in (str(e.get(n)).lower() for n in ("principal", "user"))
        ]
    every = [each for each in every if "refused" not in each]
    commits = (
        int(repository.git.text("rev-list", "--count", "HEAD")) if repository.head else 0
    )
    levels = dict(Counter(str(each["level"]) for each in every).most_common())
    if format == "json":
        io.say(
            json.dumps(
                {"approvals": chosen, "commits": commits, "levels": levels}, indent=1
            )
        )
        return 0
    io.say("\n".join(map(line_of, chosen)))
    rate = f"{100 * len(every) / max(commits, 1):.1f} per 100"
    tally = ", ".join(f"{number} {level}" for level, number in levels.items()) or "none"
    io.say(
        printable(
            f"{count(len(every), 'approval')} in {count(commits, 'commit')} ({rate}): {tally}"
        )
    )
    return 0


@command.command(
    "show",
    help="Show the last entries. With --approvals, --commit, --finding or --by: who approved which changes, and how"
    " many approvals there are for 100 commits.",
    params=[
        flag("--all all_", "Show every entry."),
        FORMAT,
        flag("--approvals", "Show every approval.", rare=True),
        option("--commit", "REV", "Show the approvals of a commit.", rare=True, default=""),
        option("--finding", "RULE", "Of a rule or a fingerprint.", rare=True, default=""),
        option("--by", "PERSON", "Of a user, or of a signer.", rare=True, default=""),
    ],
)
@click.pass_obj
def show(
    io: Io, /, all_: bool, format: str, approvals: bool, commit: str, finding: str, by: str
) -> int:
    """Print the last entries, oldest first."""
    if approvals or commit or finding or by:
        return show_approvals(io, commit, finding, by, format)
    with readable():
        entries = list(open_log(io)[0].entries())
    chosen = entries if all_ else entries[-SHOWN:]
    if format == "json":
        io.say("\n".join(json.dumps(entry) for entry in chosen))
        return 0
    if not chosen:
        io.say("cli-guard: the audit log is empty")
    if len(chosen) < len(entries):
        io.say(f"({len(entries) - len(chosen)} earlier entries: --all)")
    io.say("\n".join(line_of(entry) for entry in chosen))
    return 0


@command.command(
    "verify",
    help="Check the hash chain and its signatures. Name commits that no review allowed.",
)
@click.pass_obj
def verify(io: Io, /) -> int:
    """Check the hash chain and the signatures of its heads, and that the log and the state agree."""
    from cli_guard.approvals.heads import UNSIGNED, check_log
    from cli_guard.report.unallowed import describe, find_unallowed

    with readable():
        log, repository = open_log(io)
        result = log.verify()
    problems, signed = (
        check_log(result, repository, io.invocation) if repository else ([], UNSIGNED)
    )
    for each in problems:
        io.warn(printable(f"cli-guard: {each}"))
    if result.problem:
        io.warn(
            f"cli-guard: the audit log was changed: {result.problem}; the first {result.entries} entries are valid"
        )
        return 1
    io.say(printable(f"cli-guard: audit log: {result}; {signed}"))
    if repository and (
        unallowed := describe(find_unallowed(repository, list(log.entries())))
    ):
        io.say(f"cli-guard: {unallowed}")
    return 1 if problems else 0


@click.pass_context
def by_default(ctx: click.Context, /) -> int:
    """Show the log if no sub-command is given."""
    return ctx.invoke(command.commands["show"]) if ctx.invoked_subcommand is None else 0


command.callback = by_default
