"""Compare the two states of a change, and judge what went."""

from collections.abc import Sequence

from cli_guard.code.changes.difference import (
    ChangeDifference,
    FileDifference,
    compare_file,
)
from cli_guard.code.classify import unreadable
from cli_guard.model import FileChange, Report, Skipped
from cli_guard.reviewers.protections.findings import findings_of
from cli_guard.reviewers.protections.losses import Losses
from cli_guard.reviewers.protections.orders import find_late_checks
from cli_guard.reviewers.protections.warnings import warned_losses
from cli_guard.reviewers.protections.weakenings import find_weakenings
from cli_guard.reviewers.review_input import ReviewInput


def judge(
    subject: ReviewInput, losing: Sequence[FileChange], gaining: Sequence[FileChange]
) -> Report:
    """Return the report on the files that lose lines; those that only gain are read if any of them lost a fact."""
    files = [compare(subject, change) for change in losing]
    if any(file.went for file in files):
        files += [compare(subject, change) for change in gaining]
    difference = ChangeDifference(tuple(files))
    losses = Losses(difference, subject.contents, subject.own_guards).find()
    weakenings = list(find_weakenings(difference))
    weakenings += find_late_checks(subject, difference)
    warned = list(warned_losses(files))
    findings = findings_of(subject, difference, losses, weakenings, warned)
    skipped = (
        Skipped(file.change.path, f"protections: {side.unread}")
        for file in files
        for side in (file.old, file.new)
        if side.unread
    )
    return Report(tuple(findings), tuple(dict.fromkeys(skipped)))


def compare(subject: ReviewInput, change: FileChange) -> FileDifference:
    """Compare the two states of a file; one that a program wrote has no facts."""
    old = subject.contents.old(change)
    new = subject.contents.new(change)
    if new is not None and unreadable(change.path, new, subject.limits.file_chars):
        old = new = None
    return compare_file(subject.trees, change, old, new)
