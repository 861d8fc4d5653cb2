"""What the reviews of a repository found, what became of it, their time, who approved, and the model's questions."""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, cast

from cli_guard.approvals.listing import every_signed, list_approvals
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.lazy import frozen
from cli_guard.model import SCALE
from cli_guard.policy.decisions import default_disposition
from cli_guard.report.lives import (
    ANSWERED,
    COMMITS,
    ENDS,
    FIXED,
    OPEN,
    Life,
    RecordedCommits,
    person,
    read_lives,
    seconds,
)
from cli_guard.report.unallowed import describe, find_unallowed
from cli_guard.repository.protocol import Repository
from cli_guard.review.policy import every_rule
from cli_guard.review.render.words import count
from cli_guard.runtime import Invocation
from cli_guard.secrets.printable import printable
from cli_guard.state.advice import AdviceStore, read_version
from cli_guard.state.audit import AuditLog, Entry, readable, text
from cli_guard.state.files import read_lines, write_atomically

# Nobody heeds a rule of which this many findings are known, and less than this part fixed or answered.
FINDINGS = 20
HEEDED = 0.1
# Any program of the user can write a line of the log.
MOST_MS = 86_400_000
COLUMNS = ("found", *ENDS[1:], OPEN)


@frozen
class Stats:
    """The counts; `times` are in ms.

    `rules` has the ends of the findings of each rule, `people` who approved and rejected, `unheeded` the rules that
    are always ignored, with their findings.
    """

    reviews: dict[str, int]
    findings: Counter[str]
    rules: dict[str, dict[str, int]]
    times: Sequence[int]
    approved: int
    commits: int
    people: dict[str, dict[str, Any]]
    unallowed: Sequence[str]
    unheeded: dict[str, int]
    questions: dict[str, int]

    def as_dict(self) -> dict[str, object]:
        """Return them for JSON."""
        return {
            "reviews": self.reviews,
            "findings": dict(self.findings.most_common()),
            "rules": self.rules,
            "time_ms": {
                "reviews": len(self.times),
                "total": sum(self.times),
                "median": statistics.median(self.times or [0]),
            },
            "approvals": {"commits": self.commits, "people": self.people},
            "unallowed": self.unallowed,
            "unheeded": self.unheeded,
            "questions": self.questions,
        }

    def lines(self) -> list[str]:
        """Return them for people."""
        reviews = {SCALE.get(name, name): number for name, number in self.reviews.items()}
        lines = [table("reviews", reviews)]
        rows: list[tuple[str, tuple[str, ...]]] = [("findings:", COLUMNS)]
        rows += [
            (rule, tuple(map(str, ends.values()))) for rule, ends in self.rules.items()
        ]
        for name, cells in rows:
            lines.append(f"{printable(name):<34}" + "".join(f"{e:>10}" for e in cells))
        total = sum(self.times) / 1000
        median = statistics.median(self.times or [0])
        lines.append(
            f"time: {count(len(self.times), 'review')}, {total:.1f} s in all, median {median:.0f} ms"
        )
        lines.append(f"approvals: {self.approved} in {count(self.commits, 'commit')}")
        for who, counts in self.people.items():
            number, rejected, rate = counts.values()
            lines.append(
                f"  {printable(who):<32} {number:>6}, {rate} per 100 commits; rejected: {rejected}"
            )
        if self.unallowed:
            lines.append(describe(self.unallowed))
        lines.append(table("questions", self.questions if self.questions["asked"] else {}))
        return lines


def table(name: str, numbers: dict[str, int]) -> str:
    """Format counts, one a line, under their name."""
    rows = (f"  {printable(key):<32} {number:>6}" for key, number in numbers.items())
    return "\n".join((f"{name}:" if numbers else f"{name}: none", *rows))


def collect_stats(repository: Repository, invocation: Invocation, since: str) -> Stats:
    """Count what was found since a date or a commit, "" for all. Raises CliGuardError, UsageError."""
    start = find_start(repository, since)
    every = read_log(repository)
    approvals = list_approvals(repository, invocation, every_signed(repository))
    lives = read_lives(repository, every, approvals)
    lives = [each for each in lives if not start or seconds(each.at) >= start]
    entries = since_then(every, start)
    given = since_then((each for each in approvals if "refused" not in each), start)
    # A change that was reviewed again counts once, as it ended.
    ended = {
        str(each.get("content")): each
        for each in entries
        if isinstance(each.get("rules"), dict) and "decision" in each
    }
    found = Counter[str]()
    for each in ended.values():
        numbers = cast("dict[str, object]", each["rules"])
        for rule, number in numbers.items():
            if isinstance(number, int):
                found[rule] += number
    times = (each.get("ms") for each in entries)
    commits, people = count_approvals(repository, given, entries)
    return Stats(
        reviews=dict(sorted(Counter(text(e, "decision") for e in ended.values()).items())),
        findings=found,
        rules=count_ends(lives),
        times=[ms for ms in times if isinstance(ms, int) and 0 <= ms < MOST_MS],
        approved=len(given),
        commits=commits,
        people=people,
        unallowed=find_unallowed(repository, every),
        unheeded=list_unheeded(repository, lives),
        questions=count_questions(repository),
    )


def read_log(repository: Repository) -> list[Entry]:
    """Return the entries of the audit log. Raises CliGuardError if it was changed, or there is nothing to count."""
    log = AuditLog(repository.state_folder)
    entries: list[Entry] = []
    with readable():
        problem = log.verify(entries.append).problem
    if problem:
        raise CliGuardError(
            f"the audit log was changed: {problem}; see `cli-guard audit verify`"
        )
    if not entries and not AdviceStore(repository.state_folder).every():
        raise CliGuardError(
            "nothing was reviewed here yet: commit something, or run `cli-guard review`"
        )
    return entries


def since_then(entries: Iterable[Entry], start: int) -> list[Entry]:
    return [each for each in entries if not start or seconds(text(each, "at")) >= start]


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
) -> tuple[int, dict[str, dict[str, Any]]]:
    """Return the commits since the first entry, and by person what was approved and rejected."""
    first = seconds(min((text(each, "at") for each in (*entries, *given)), default=""))
    asked = ("rev-list", "--count", f"--max-age={first}", "HEAD")
    commits = int(repository.git.text(*asked)) if repository.head else 0
    approved = Counter(person(each) for each in given)
    rejected = Counter(person(each) for each in entries if each.get("event") == "reject")
    people = {}
    for who in sorted({*approved, *rejected}, key=lambda each: (-approved[each], each)):
        rate = round(100 * approved[who] / max(commits, 1), 1)
        people[who] = {
            "approved": approved[who],
            "rejected": rejected[who],
            "per_100_commits": rate,
        }
    return commits, people


def list_unheeded(repository: Repository, lives: Sequence[Life]) -> dict[str, int]:
    """Return the rules whose findings are ignored, with their number; a finding has COMMITS commits to be fixed.

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
        and ends["found"] > FINDINGS
        and ends[FIXED] + ends[ANSWERED] < HEEDED * ends["found"]
    }
    rules = every_rule(repository) if number else {}
    return {
        rule: each
        for rule, each in number.items()
        if rule in rules and default_disposition(rules[rule]) != "deny"
    }


def offer_off(repository: Repository, unheeded: dict[str, int]) -> str:
    """Return the words that suggest an ignored rule for `off`, each rule once, "" without a new one."""
    path = repository.state_folder / "offered"
    before = tuple(read_lines(path))
    new = [rule for rule in unheeded if rule not in before]
    if not new:
        return ""
    # Where it cannot be written, it is offered again.
    with suppress(OSError, CliGuardError):
        write_atomically(path, "\n".join((*before, *new)) + "\n")
    listed = "".join(f'\n  "{rule}" = "off"  # {unheeded[rule]} found' for rule in new)
    return f"hardly anybody heeds these; to turn them off, in cli-guard.toml (said once):\n  [rules]{listed}"


def count_questions(repository: Repository) -> dict[str, int]:
    """Count the model's questions: all, shown by `last`, acted on after that, withdrawn before it."""
    counts = dict.fromkeys(("asked", "shown", "acted on", "withdrawn"), 0)
    every = AdviceStore(repository.state_folder).every()
    history = RecordedCommits(repository, min((each.at for each in every), default=""))
    for advice in every:
        number = len(advice.questions)
        counts["asked"] += number
        counts["shown"] += number if advice.shown else 0
        later = history.after(advice.commit)[-1]
        if number and later != advice.commit:

            def read(commit: str, path: str, later: str = later) -> str | None:
                return read_version(repository, commit or later, path)

            left = len(advice.open_questions(read))
            counts["acted on" if advice.shown else "withdrawn"] += number - left
    return counts
