"""Refactoring plans: functions that a change makes too complex or too long, blocks that it adds twice."""

from operator import attrgetter

from cli_guard.code.languages import language_for
from cli_guard.code.symbols import LANGUAGES, unreadable
from cli_guard.code.test_files import is_test_code
from cli_guard.model import FileChange, Finding, Report, Skipped, Status
from cli_guard.reviewers.per_file import NOTHING, Examiner, FileResult
from cli_guard.reviewers.refactor.duplicates import is_code, review_duplicates
from cli_guard.reviewers.refactor.growth import MOST_COMPARED, Growth
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules import catalog


def review(subject: ReviewInput) -> Report:
    """Compare what the change touches before and after; return findings by path, line and rule."""
    reviewed = list_reviewed(subject)
    if not reviewed:
        return Report()
    files = Files(subject)
    found: list[Finding] = []
    skipped: list[Skipped] = []
    readable: list[FileChange] = []
    for change in reviewed:
        result = subject.file_result("refactor", change)
        if result is None:
            result = files.measure(change)
        found += result.findings
        skipped += result.skipped
        if result.again:
            readable.append(change)
    rule = catalog.by_id("refactor")["refactor-duplicate-block"]
    repeated, unlisted = review_duplicates(rule, readable)
    found += repeated
    skipped += unlisted
    return Report(tuple(sorted(found, key=attrgetter("order"))), tuple(skipped))


def paths_with_room(subject: ReviewInput) -> frozenset[str]:
    """Return the paths of the files that a hook has room for."""
    files = Files(subject)
    reviewed = list_reviewed(subject)
    return frozenset(each.path for each in reviewed if files.has_room(each))


def list_reviewed(subject: ReviewInput) -> list[FileChange]:
    found = [change for change in subject.changes if _is_reviewed(change)]
    return sorted(found, key=lambda change: change.path)


def examiner(subject: ReviewInput) -> Examiner:
    """Return the function that measures how the functions of a file grow.

    `review` reads files with `again` for duplicates.
    """
    files = Files(subject)

    def examine(change: FileChange) -> FileResult:
        return files.measure(change) if _is_reviewed(change) else NOTHING

    return examine


class Files:
    """Measures the files of a change one by one."""

    def __init__(self, subject: ReviewInput) -> None:
        self._subject = subject
        self._growth = Growth(catalog.by_id("refactor"), subject)

    def has_room(self, change: FileChange) -> bool:
        text = self._subject.contents.new(change) or ""
        return self._subject.advice.has_room("refactor", change.path, len(text))

    def measure(self, change: FileChange) -> FileResult:
        """Return the findings on the functions of one file; a later review asks other files again if this one did."""
        if not self.has_room(change):
            return NOTHING
        text = self._subject.contents.new(change)
        most = self._subject.limits.file_chars
        reason = unreadable(change.path, text, most) if text is not None else None
        readable = reason is None
        found: list[Finding] = []
        language = language_for(change.path)
        if reason is None and language in LANGUAGES:
            reason = self._find_grown(change, language, text, found)
        skipped = () if reason is None else (Skipped(change.path, f"refactor: {reason}"),)
        is_alone = not self._growth.asked_others
        return FileResult(tuple(found), skipped, readable, cacheable=is_alone)

    def _find_grown(
        self, change: FileChange, language: str, text: str | None, found: list[Finding]
    ) -> str | None:
        """Add the findings of one file; return why it was skipped in part or as a whole."""
        if text is None:
            return "whole text not available"
        old = "" if change.status is Status.ADDED else self._subject.contents.old(change)
        if old is None:
            return "text before the change not available"
        most = self._subject.limits.file_chars
        if len(old) > most:
            return f"before the change longer than {most} characters"
        found += self._growth.review(change, language, text, old)
        if self._growth.compared > MOST_COMPARED:
            return f"only the first {MOST_COMPARED} functions over a limit are compared"
        return None


def _is_reviewed(change: FileChange) -> bool:
    if not change.is_text or change.status in (Status.DELETED, Status.UNMERGED):
        return False
    return (
        any(hunk.added for hunk in change.hunks)
        and is_code(change.path)
        and not is_test_code(change.path)
    )
