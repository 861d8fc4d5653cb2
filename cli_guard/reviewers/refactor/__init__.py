"""Refactoring plans: functions that a change makes too complex or too long, blocks that it adds twice."""

from operator import attrgetter

from cli_guard.code.test_files import is_test_or_example
from cli_guard.model import FileChange, Finding, Report, Skipped, Status
from cli_guard.reviewers.per_file import NOTHING, Examiner, FileResult
from cli_guard.reviewers.refactor.duplicates import is_code, review_duplicates
from cli_guard.reviewers.refactor.growth import Growth
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules import catalog


def review(subject: ReviewInput) -> Report:
    """Compare what the change touches before and after; return findings by path, line and rule."""
    reviewed = list_reviewed(subject)
    if not reviewed:
        return Report()
    growth = Growth(subject)
    found: list[Finding] = []
    skipped: list[Skipped] = []
    readable: list[FileChange] = []
    for change in reviewed:
        result = subject.file_result("refactor", change)
        if result is None:
            result = growth.measure(change)
        found += result.findings
        skipped += result.skipped
        if result.again:
            readable.append(change)
    rule = catalog.by_id("refactor")["refactor-duplicate-block"]
    repeated, unlisted = review_duplicates(rule, readable, subject.changes)
    found += repeated
    skipped += unlisted
    return Report(tuple(sorted(found, key=attrgetter("order"))), tuple(skipped))


def list_reviewed(subject: ReviewInput) -> list[FileChange]:
    found = [change for change in subject.changes if _is_reviewed(change)]
    return sorted(found, key=lambda change: change.path)


def examiner(subject: ReviewInput) -> Examiner:
    """Return the function that measures how the functions of a file grow.

    `review` reads files with `again` for duplicates.
    """
    growth = Growth(subject)

    def examine(change: FileChange) -> FileResult:
        return growth.measure(change) if _is_reviewed(change) else NOTHING

    return examine


def _is_reviewed(change: FileChange) -> bool:
    if not change.is_text or change.status in (Status.DELETED, Status.UNMERGED):
        return False
    # A file in another role is the same file once more.
    if change.read_as:
        return False
    return (
        any(hunk.added for hunk in change.hunks)
        and is_code(change.path)
        and not is_test_or_example(change.path)
    )
