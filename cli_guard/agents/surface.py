"""Judge a write to a file that agents or editors obey or start, as the review of its commit would.

Such a file counts as soon as it is written: it may start something before it is ever recorded.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cli_guard.agents.uses import Write
from cli_guard.agents.wording import HookAnswer
from cli_guard.model import Decision, Disposition, FileChange, Finding, Need
from cli_guard.policy.decisions import Policy
from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.reviewers.agents import review
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.runtime import read_plain

MOST_BYTES = 1_000_000


class WorkTreeContents(SnapshotContents):
    """One file as a write leaves it, in a work tree whose other files are as they are."""

    def __init__(self, root: Path, path: str, old: str | None, new: str) -> None:
        super().__init__({} if old is None else {path: old}, {path: new})
        self._root = root
        self._path = path

    def object_name(self, path: str) -> str:
        return path

    def new(self, change: FileChange) -> str | None:
        if change.path == self._path:
            return super().new(change)
        return read_inside(self._root, change.path)


def read_inside(root: Path, path: str) -> str | None:
    """Return the text of a file below a folder, None if there is none; no link leads out of it."""
    place = (root / path).resolve()
    if not place.is_relative_to(root.resolve()):
        return None
    with suppress(OSError):
        if place.stat().st_size <= MOST_BYTES:
            return read_plain(place).decode("utf-8", "replace")
    return None


def judge_surface(
    use: Write,
    names: tuple[str, ...],
    root: Path,
    policy: Policy,
    find_approved: Callable[[], frozenset[str]],
) -> HookAnswer | None:
    """Return what the reviewer of agents says of a write to a work tree; ALLOW if a person approved all that it asks.

    `names` are the path, and where links lead; `find_approved` gives the fingerprints that a person approved here.
    """
    path = os.path.relpath(names[-1], os.path.realpath(root))
    if path.startswith(".."):
        path = os.path.relpath(names[0], root)
    old = read_inside(root, path)
    new = use.apply(old or "")
    before = {} if old is None else {path: old}
    changes = changes_between(before, {path: new})
    subject = ReviewInput(
        "agent",
        changes,
        contents=WorkTreeContents(root, path, old, new),
        known_statements=policy.known_statements,
    )
    findings = review(subject).findings
    left = without_answered(findings, policy, find_approved)
    approved = HookAnswer(Decision.ALLOW, "") if len(left) < len(findings) else None
    return answer_of(left, policy, path) or approved


def without_answered(
    findings: tuple[Finding, ...],
    policy: Policy,
    find_approved: Callable[[], frozenset[str]],
) -> tuple[Finding, ...]:
    """Return the findings but those that a person approved in this repository: the same statement of the same file.

    One for which policy wants more than an answer at a terminal is asked about again.
    """
    asked = {
        each.fingerprint
        for each in findings
        if policy.disposition(each) is Disposition.REVIEW
        and policy.need_for(each) == Need()
    }
    if not asked:
        return findings
    answered = asked & find_approved()
    return tuple(each for each in findings if each.fingerprint not in answered)


def answer_of(
    findings: tuple[Finding, ...], policy: Policy, path: str
) -> HookAnswer | None:
    """Return the strictest decision about some findings, with the words of the first of them."""
    for wanted in (Disposition.DENY, Disposition.REVIEW):
        for finding in findings:
            if policy.disposition(finding) is wanted:
                return HookAnswer(
                    Decision(wanted), f"cli-guard: writes {path}: {finding.message}"
                )
    return None
