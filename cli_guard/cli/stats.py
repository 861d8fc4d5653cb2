"""`cli-guard stats`: what the reviews of this repository found, and what people made of it."""

import json
import statistics
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

import click

from cli_guard.cli.app import FORMAT, Command
from cli_guard.cli.audit import readable
from cli_guard.cli.io import Io
from cli_guard.cli.last import read_text
from cli_guard.cli.rules import default_disposition, every_rule
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.report.lives import (
    ANSWERED,
    COMMITS,
    ENDS,
    FIXED,
    OPEN,
    Life,
    Recorded,
    read_lives,
    seconds,
    text,
)
from cli_guard.repository.protocol import Repository
from cli_guard.review.render.words import count
from cli_guard.secrets.printable import printable
from cli_guard.state.advice import AdviceStore
from cli_guard.state.audit import AuditLog, Entry
from cli_guard.state.files import read_lines, write_atomically

# Nobody heeds a rule of which this many findings are known, and less than this part fixed or answered.
FINDINGS = 20
HEEDED = 0.1
# Any program of the user can write a line of the log.
MOST_MS = 86_400_000
COLUMNS = ("found", *ENDS[1:], OPEN)


@click.pass_obj
def run(io: Io, /, format: str, since: str) -> int:
    from cli_guard.answering.auditing import find_approvals
    from cli_guard.review.unallowed import describe, find_unallowed

    repository = io.find_repository(through_gitpython=True)
    start = find_start(repository, since)
    log = AuditLog(repository.state_folder)
    with readable():
        problem = log.verify().problem
        entries = list(log.entries())
    if problem:
        raise CliGuardError(
            f"the audit log was changed: {problem}; see `cli-guard audit verify`"
        )
    if not entries and not AdviceStore(repository.state_folder).every():
        raise CliGuardError(
            "nothing was reviewed here yet: commit something, or run `cli-guard review`"
        )
    approvals = find_approvals(repository, io.invocation, "")[1]
    lives = [
        each
        for each in read_lives(repository, entries, approvals)
        if seconds(each.at) >= start
    ]
    unallowed = find_unallowed(repository, entries)
    entries = [each for each in entries if seconds(text(each, "at")) >= start]
    given = [
        each
        for each in approvals
        if "refused" not in each and seconds(text(each, "at")) >= start
    ]
    # A change that was reviewed again counts once, as it ended.
    ended = {
        str(each.get("content")): each
        for each in entries
        if isinstance(each.get("rules"), dict)
    }
    found = Counter[str]()
    older = Counter[str]()
    for each in ended.values():
        rules = cast("dict[str, object]", each["rules"]).items()
        numbers = {rule: number for rule, number in rules if isinstance(number, int)}
        found.update(numbers)
        older.update({} if "found" in each else numbers)
    times = [
        ms
        for each in entries
        if isinstance(ms := each.get("ms"), int) and 0 <= ms < MOST_MS
    ]
    unheeded = list_unheeded(io, repository, lives)
    counts: dict[str, Any] = {
        "reviews": dict(
            sorted(Counter(text(each, "decision") for each in ended.values()).items())
        ),
        "findings": dict(found.most_common()),
        "rules": count_ends(lives),
        "time_ms": {
            "reviews": len(times),
            "total": sum(times),
            "median": statistics.median(times or [0]),
        },
        "approvals": count_approvals(repository, given, entries),
        "unallowed": unallowed,
        "unheeded": unheeded,
        "questions": count_questions(repository),
    }
    if format == "json":
        io.say(json.dumps(counts, indent=2))
        return 0
    rows = [
        ("findings:", *COLUMNS),
        *((rule, *ends.values()) for rule, ends in counts["rules"].items()),
    ]
    cells = (
        f"{printable(rule):<34}" + "".join(f"{each:>10}" for each in row)
        for rule, *row in rows
    )
    median, (commits, people) = counts["time_ms"]["median"], counts["approvals"].values()
    io.say(table("reviews", counts["reviews"]) + "\n" + "\n".join(cells))
    if older:
        io.say(
            f"  and {older.total()} in entries of an older version, which do not say what became of them"
        )
    io.say(
        f"time: {count(len(times), 'review')}, {sum(times) / 1000:.1f} s in all, median {median:.0f} ms"
    )
    io.say(f"approvals: {len(given)} in {count(commits, 'commit')}")
    for who, (number, rejected, rate) in (
        (who, each.values()) for who, each in people.items()
    ):
        io.say(
            f"  {printable(who):<32} {number:>6}, {rate} per 100 commits; rejected: {rejected}"
        )
    if unallowed:
        io.say(describe(unallowed))
    io.say(table("questions", counts["questions"] if counts["questions"]["asked"] else {}))
    offer_off(io, repository, unheeded)
    return 0


def table(name: str, numbers: dict[str, int]) -> str:
    """Format counts, one a line, under their name."""
    rows = (f"  {printable(key):<32} {number:>6}" for key, number in numbers.items())
    return "\n".join((f"{name}:" if numbers else f"{name}: none", *rows))


def find_start(repository: Repository, since: str) -> int:
    """Return the time of a date, or of a commit, 0 for "". Raises UsageError for anything else."""
    # A commit may be named by digits alone.
    if not since or ("-" in since and seconds(since)):
        return seconds(since)
    try:
        return int(
            repository.git.text(
                "rev-list", "--timestamp", "-1", repository.resolve(since)
            ).split()[0]
        )
    except CliGuardError:
        raise UsageError(
            f"--since {since!r} is neither a date (2026-01-31) nor a commit"
        ) from None


def count_ends(lives: Sequence[Life]) -> dict[str, dict[str, int]]:
    """Count by rule how the findings ended, most findings first."""
    ends = Counter((each.rule, each.ended) for each in lives)
    found = Counter(each.rule for each in lives).most_common()
    return {
        rule: {"found": number} | {end: ends[rule, end] for end in COLUMNS[1:]}
        for rule, number in found
    }


def count_approvals(
    repository: Repository, given: Sequence[Entry], entries: Sequence[Entry]
) -> dict[str, Any]:
    """Count by person what was approved and rejected, and the commits since the first entry."""
    first = min((seconds(text(each, "at")) for each in (*entries, *given)), default=0)
    asked = ("rev-list", "--count", f"--max-age={first}", "HEAD")
    commits = int(repository.git.text(*asked)) if repository.head else 0
    approved = Counter(text(each, "principal") or text(each, "user") for each in given)
    rejected = Counter(
        text(each, "user") for each in entries if each.get("event") == "reject"
    )
    people = {}
    for who in sorted({*approved, *rejected}, key=lambda each: (-approved[each], each)):
        rate = round(100 * approved[who] / max(commits, 1), 1)
        people[who] = {
            "approved": approved[who],
            "rejected": rejected[who],
            "per_100_commits": rate,
        }
    return {"commits": commits, "people": people}


def list_unheeded(io: Io, repository: Repository, lives: Sequence[Life]) -> dict[str, int]:
    """Return the rules that nobody heeds, with their findings; a finding has COMMITS commits to be heeded.

    None that denies by default, and none of secrets or of the policy. Raises ConfigError.
    """
    asked = (
        "rev-list",
        "--timestamp",
        "-1",
        f"--skip={COMMITS - 1}",
        "--first-parent",
        "HEAD",
    )
    fifth = int((repository.git.optional(*asked) or "0").split()[0])
    due = count_ends(
        [each for each in lives if each.ended != OPEN or seconds(each.at) <= fifth]
    )
    number = {
        rule: ends["found"]
        for rule, ends in due.items()
        if not rule.startswith(("secret-", "policy-"))
    }
    number = {rule: each for rule, each in number.items() if each > FINDINGS}
    rules = every_rule(io) if number else {}
    chosen = (
        rule
        for rule in number
        if rule in rules and default_disposition(rules[rule]) != "deny"
    )
    heeded = {rule: ends[FIXED] + ends[ANSWERED] for rule, ends in due.items()}
    return {rule: number[rule] for rule in chosen if heeded[rule] < HEEDED * number[rule]}


def offer_off(io: Io, repository: Repository, unheeded: dict[str, int]) -> None:
    """Offer the rules that nobody heeds for `off`, each once."""
    path = repository.state_folder / "offered"
    before = tuple(read_lines(path))
    if new := [rule for rule in unheeded if rule not in before]:
        listed = "".join(f'\n  "{rule}" = "off"  # {unheeded[rule]} found' for rule in new)
        io.say(
            f"hardly anybody heeds these; to turn them off, in cli-guard.toml (said once):\n  [rules]{listed}"
        )
        # Where it cannot be written, it is offered again.
        with suppress(OSError, CliGuardError):
            write_atomically(path, "\n".join((*before, *new)) + "\n")


def count_questions(repository: Repository) -> dict[str, int]:
    """Count the model's questions: all, shown by `last`, acted on after that, withdrawn before it."""
    counts = dict.fromkeys(("asked", "shown", "acted on", "withdrawn"), 0)
    every = AdviceStore(repository.state_folder).every()
    history = Recorded(repository, min((each.at for each in every), default=""))
    for advice in every:
        counts["asked"] += len(advice.questions)
        counts["shown"] += len(advice.questions) if advice.shown else 0
        if (
            advice.questions
            and (later := history.after(advice.commit)[-1]) != advice.commit
        ):

            def read(commit: str, path: str, later: str = later) -> str | None:
                return read_text(repository, commit or later, path)

            kept = advice.open_questions(read)
            counts["acted on" if advice.shown else "withdrawn"] += len(
                advice.questions
            ) - len(kept)
    return counts


command = Command(
    "stats",
    callback=run,
    help="Count the reviews of this repository, what became of their findings (fixed: gone before the commit, or the"
    f" line changed within {COMMITS} commits), their time, who approved, and the questions of the model: shown by"
    " `last`, acted on (the line changed), withdrawn before that.",
    params=[
        click.Option(
            ["--since"],
            default="",
            metavar="REV|DATE",
            help="Count what was found since then only.",
        ),
        FORMAT,
    ],
)
