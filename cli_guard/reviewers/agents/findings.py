"""Findings of the reviewer of agents: one place, one rule, the words that say what happens now."""

import json
from collections.abc import Iterator
from typing import get_args

from cli_guard.lazy import frozen
from cli_guard.model import FileChange, Finding, Severity
from cli_guard.policy.config import SURFACE_KINDS
from cli_guard.reviewers.agents.statements import SurfaceStatement
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules import catalog
from cli_guard.rules.catalog import read_patterns
from cli_guard.secrets.printable import clip

GROUP = "agents"
EVIDENCE_CHARS = 160
# Each commit of a range is read for its paths.
MOST_COMMITS = 50
LONGEST_SUBJECT = 60
FOR_ALL = (
    "For the whole team: kind, name, digest and a reason under [[surface.known]] in cli-guard.toml, from the next"
    " commit on."
)


@frozen
class SurfaceRemark:
    """What is to be said about one statement: a rule without the prefix of all, and the words.

    `is_gone`: the change takes it away. `beneath` is what it reaches: an answer holds as long as that is the same.
    Where another statement is the `cause`, its lines are named.
    """

    rule: str
    statement: SurfaceStatement
    words: str
    is_gone: bool = False
    beneath: str = ""
    cause: SurfaceStatement | None = None


def word_finding(change: FileChange, remark: SurfaceRemark) -> Finding:
    """Return the finding about a statement; one that is gone stands where the change took it away."""
    statement = remark.statement
    value = " ".join(statement.value.split())
    # The name of a server says it: its value is its whole table.
    shown = f": {value}" if statement.kind != "server" else ""
    lines_of = gone_lines if remark.is_gone else changed_lines
    name = json.dumps(statement.name)
    is_knowable = statement.kind in get_args(SURFACE_KINDS)
    known = f'kind = "{statement.kind}"\nname = {name}\ndigest = "{statement.digest}"'
    return at_line(
        remark.rule,
        change,
        lines_of(change, remark.cause or statement),
        f"{statement.tool}: {remark.words}",
        evidence=f"{statement.name}{shown}"[:EVIDENCE_CHARS],
        identity="\0".join((*statement.identity, remark.beneath)),
        known=known if is_knowable else "",
    )


def is_critical(rule_id: str) -> bool:
    """Return whether a rule stops a change whatever a policy knows."""
    return catalog.one(GROUP, f"agent-{rule_id}").severity is Severity.CRITICAL


def at_line(
    rule_id: str,
    change: FileChange,
    lines: tuple[int, int],
    message: str,
    *,
    evidence: str = "",
    identity: str = "",
    known: str = "",
) -> Finding:
    rule = catalog.one(GROUP, f"agent-{rule_id}")
    remedy = rule.remedy
    if known and rule.severity is Severity.HIGH:
        evidence = f"{evidence}\n{known}"
        remedy = f"{remedy} {FOR_ALL}"
    return rule.finding(
        path=change.path,
        line=lines[0],
        end_line=lines[1],
        message=message,
        remedy=remedy,
        evidence=evidence,
        content=identity or message,
    )


def changed_lines(change: FileChange, statement: SurfaceStatement) -> tuple[int, int]:
    """Return the lines of a statement, or the next added one if none of them changed."""
    first, last = statement.span
    if not change.added or change.touches(first, last):
        return first, last
    nearest = min(change.added, key=lambda each: (abs(each - first), each))
    return nearest, nearest


def gone_lines(change: FileChange, statement: SurfaceStatement) -> tuple[int, int]:
    """Return the lines that stand where a change took a statement away."""
    line = statement.span[0]
    hunks = [hunk for hunk in change.hunks if hunk.removed]
    held = [each for each in hunks if 0 <= line - each.old_start < len(each.removed)]
    if not hunks:
        return 1, 1
    hunk = (held or hunks)[0]
    first = max(hunk.new_start, 1)
    return first, first + max(len(hunk.added), 1) - 1


def other_matter(subject: ReviewInput, path: str) -> str:
    """Return a sentence on the subject of the commit that changes a path if it is about something else, else ""."""
    patterns = read_patterns("agents/programs.toml", "subjects")
    for said in subjects_of(subject, path):
        if patterns["elsewhere"].search(said) and not patterns["here"].search(said):
            return f'; the commit says "{clip(said, LONGEST_SUBJECT)}", which is another matter'
    return ""


def subjects_of(subject: ReviewInput, path: str) -> Iterator[str]:
    """Yield the first lines of the messages that a change of a path comes with, as far as they are known."""
    if subject.commit_subject:
        yield subject.commit_subject
    if subject.message is not None:
        yield subject.message.subject
    if len(subject.history) > MOST_COMMITS:
        return
    for commit in subject.history:
        if commit.message and any(each.path == path for each in commit):
            yield commit.message.partition("\n")[0]
