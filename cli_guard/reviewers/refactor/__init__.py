"""Refactoring plans: functions that a change makes too complex or too long, blocks that it adds twice."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter

from cli_guard.code.languages import language_for
from cli_guard.code.symbols import LANGUAGES, unreadable
from cli_guard.code.test_files import is_test_code
from cli_guard.lazy import dataclass
from cli_guard.model import FileChange, Finding, Report, Skipped, Status
from cli_guard.reviewers.per_file import NOTHING, Examiner, FileResult
from cli_guard.reviewers.refactor.duplicates import is_code, review_duplicates
from cli_guard.reviewers.refactor.growth import MOST_COMPARED, Growth, GrowthFinding
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules import catalog

PLANS = 10
FAR = 3.0


def review(subject: ReviewInput) -> Report:
    """Compare what the change touches before and after; return findings by path, line and rule."""
    reviewed = list_reviewed(subject)
    if not reviewed:
        return Report()
    rules = catalog.by_id("refactor")
    files = Files(subject)
    grown: list[GrowthFinding] = []
    skipped: list[Skipped] = []
    readable: list[FileChange] = []
    for change in reviewed:
        result = subject.file_result("refactor", change)
        growth = files.measure(change) if result is None else files.restore(change, result)
        grown += growth.grown
        skipped += growth.skipped
        if growth.readable:
            readable.append(change)
    repeated, unlisted = review_duplicates(rules["refactor-duplicate-block"], readable)
    found = [*_add_plans(grown), *repeated]
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
        if not _is_reviewed(change):
            return NOTHING
        growth = files.measure(change)
        weights = tuple(each.over for each in growth.grown)
        findings = tuple(each.finding for each in growth.grown)
        return FileResult(
            findings, growth.skipped, growth.readable, weights, not growth.asked_others
        )

    return examine


@dataclass(frozen=True, slots=True)
class FileGrowth:
    """How one file grows; `asked_others`: other files were searched for a function's origin."""

    grown: tuple[GrowthFinding, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    readable: bool = False
    asked_others: bool = False


class Files:
    """Measures the files of a change one by one."""

    def __init__(self, subject: ReviewInput) -> None:
        self._subject = subject
        self._growth = Growth(catalog.by_id("refactor"), subject)

    def has_room(self, change: FileChange) -> bool:
        text = self._subject.contents.new(change) or ""
        return self._subject.advice.has_room("refactor", change.path, len(text))

    def measure(self, change: FileChange) -> FileGrowth:
        """Return the findings of one file, with the functions that make their plans."""
        if not self.has_room(change):
            return FileGrowth()
        text = self._subject.contents.new(change)
        most = self._subject.limits.file_chars
        reason = unreadable(change.path, text, most) if text is not None else None
        readable = reason is None
        grown: list[GrowthFinding] = []
        language = language_for(change.path)
        if reason is None and language in LANGUAGES:
            reason = _grown(self._subject, self._growth, change, language, text, grown)
        skipped = () if reason is None else (Skipped(change.path, f"refactor: {reason}"),)
        return FileGrowth(tuple(grown), skipped, readable, self._growth.asked_others)

    def restore(self, change: FileChange, result: FileResult) -> FileGrowth:
        """Restore the growth from an earlier result; plans are made again on demand."""
        grown = tuple(
            GrowthFinding(finding, weight, partial(self._plan, change, number))
            for number, (finding, weight) in enumerate(
                zip(result.findings, result.weights, strict=True)
            )
        )
        return FileGrowth(grown, result.skipped, result.again)

    def _plan(self, change: FileChange, number: int) -> str | None:
        grown = self.measure(change).grown
        return grown[number].plan() if number < len(grown) else None


def _is_reviewed(change: FileChange) -> bool:
    if not change.is_text or change.status in (Status.DELETED, Status.UNMERGED):
        return False
    return (
        any(hunk.added for hunk in change.hunks)
        and is_code(change.path)
        and not is_test_code(change.path)
    )


def _grown(
    subject: ReviewInput,
    growth: Growth,
    change: FileChange,
    language: str,
    text: str | None,
    grown: list[GrowthFinding],
) -> str | None:
    """Add the findings of one file; return why it was skipped in part or as a whole."""
    if text is None:
        return "whole text not available"
    old = "" if change.status is Status.ADDED else subject.contents.old(change)
    if old is None:
        return "text before the change not available"
    if len(old) > subject.limits.file_chars:
        return f"before the change longer than {subject.limits.file_chars} characters"
    grown += growth.review(change, language, text, old)
    if growth.compared > MOST_COMPARED:
        return f"only the first {MOST_COMPARED} functions over a limit are compared"
    return None


def _add_plans(grown: Sequence[GrowthFinding]) -> Iterator[Finding]:
    """Add plans to the findings of the worst functions; one without a plan is for a function far over a limit."""
    for number, each in enumerate(sorted(grown, key=lambda g: (-g.over, g.finding.path))):
        suggestion = each.plan() if number < PLANS else None
        if suggestion or each.over >= FAR:
            yield replace(each.finding, suggestion=suggestion)
