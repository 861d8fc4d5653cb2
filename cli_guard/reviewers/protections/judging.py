"""Compare the two states of a change, and judge what went."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cli_guard.code.changes.difference import (
    ChangeDifference,
    FileDifference,
    compare_file,
)
from cli_guard.code.classify import unreadable
from cli_guard.model import FileChange, Report, Skipped
from cli_guard.reviewers.protections.findings import Found, findings_of
from cli_guard.reviewers.protections.losses import Losses
from cli_guard.reviewers.protections.warnings import warned_losses
from cli_guard.reviewers.protections.weakenings import find_weakenings
from cli_guard.reviewers.review_input import ReviewInput

Excuses = Mapping[str, Sequence[FileChange]]


@dataclass(frozen=True)
class Judged:
    """The findings of one step, each with the fact that went and its file; and what was not compared."""

    found: tuple[Found, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    @property
    def report(self) -> Report:
        return Report(tuple(each.finding for each in self.found), self.skipped)


def judge(
    subject: ReviewInput,
    losing: Sequence[FileChange],
    gaining: Sequence[FileChange],
    excuses: Excuses,
) -> Judged:
    """Judge the files that lose lines; those that only gain are read if any of them lost a fact.

    `excuses` are by path the changes of the other parents of a merge: what they took away was judged as theirs.
    """
    files = [excuse(subject, compare(subject, each), excuses) for each in losing]
    if any(file.went for file in files):
        files += [compare(subject, change) for change in gaining]
    difference = ChangeDifference(tuple(files))
    losses = Losses(difference, subject.contents, subject.own_guards).find()
    weakenings = list(find_weakenings(difference))
    warned = list(warned_losses(files))
    found = findings_of(subject, difference, losses, weakenings, warned)
    skipped = (
        Skipped(file.change.path, f"protections: {side.unread}")
        for file in files
        for side in (file.old, file.new)
        if side.unread
    )
    return Judged(tuple(found), tuple(dict.fromkeys(skipped)))


def excuse(subject: ReviewInput, file: FileDifference, excuses: Excuses) -> FileDifference:
    """Return a comparison in which that may go which other parents had taken away."""
    others = excuses.get(file.change.path, ()) if file.went else ()
    gone = tuple(fact for other in others for fact in compare(subject, other).went)
    return replace(file, excused=gone) if gone else file


def compare(subject: ReviewInput, change: FileChange) -> FileDifference:
    """Compare the two states of a file; one that a program wrote has no facts."""
    old = subject.contents.old(change)
    new = subject.contents.new(change)
    if new is not None and unreadable(change.path, new, subject.limits.file_chars):
        old = new = None
    return compare_file(subject.trees, change, old, new)
