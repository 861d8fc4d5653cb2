"""The reviewer of protections: what a change takes away, and what it weakens.

`code.changes` says what went and what came; `families` which of it are protections; `losses` which of them are really
gone; `weakenings` which became weaker; `findings` shows both states.
"""

from cli_guard.code.changes.difference import ChangeDifference, FileDifference, compare_file
from cli_guard.code.classify import unreadable
from cli_guard.code.test_files import has_test_words, is_test_or_example
from cli_guard.model import FileChange, Kind, Report, Skipped, Status
from cli_guard.reviewers.protections.findings import findings_of
from cli_guard.reviewers.protections.losses import Losses
from cli_guard.reviewers.protections.warnings import warned_losses
from cli_guard.reviewers.protections.weakenings import find_weakenings
from cli_guard.reviewers.review_input import ReviewInput

__all__ = ["review"]


def review(subject: ReviewInput) -> Report:
    """Return a finding for each protection that the change removes or weakens."""
    losing = [change for change in subject.changes if may_lose(change)]
    if not losing:
        return Report()
    differences = [compare(subject, change) for change in losing]
    others = [c for c in subject.changes if c not in losing and may_gain(c)]
    if any(file.went for file in differences):
        differences += [compare(subject, change) for change in others]
    difference = ChangeDifference(tuple(differences))
    losses = Losses(difference, subject.contents).find()
    weakenings = list(find_weakenings(difference))
    warned = list(warned_losses(differences))
    findings = findings_of(losses, weakenings, warned, subject.contents)
    skipped = tuple(
        Skipped(file.change.path, f"protections: {side.unread}")
        for file in differences
        for side in (file.old, file.new)
        if side.unread
    )
    return Report(tuple(findings), skipped)


def is_judged(change: FileChange) -> bool:
    """Return whether a file is the program itself: no test, example, generated or foreign file."""
    path = change.path
    return (
        change.kind is Kind.TEXT
        and not is_test_or_example(path)
        and not has_test_words(path)
    )


def may_lose(change: FileChange) -> bool:
    """Return whether a change removes or alters lines of a file that goes on."""
    gone = change.status in (Status.DELETED, Status.ADDED)
    return not gone and is_judged(change) and any(h.removed for h in change.hunks)


def may_gain(change: FileChange) -> bool:
    return change.status is not Status.DELETED and is_judged(change) and bool(change.hunks)


def compare(subject: ReviewInput, change: FileChange) -> FileDifference:
    old = subject.contents.old(change)
    new = subject.contents.new(change)
    most = subject.limits.file_chars
    if new is not None and unreadable(change.path, new, most):
        old = new = None
    return compare_file(subject.trees, change, old, new)
