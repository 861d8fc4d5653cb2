"""Refactoring plans: functions that a change makes too complex or too long, blocks that it adds twice."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cli_guard.model import FileChange, Finding, Kind, Report, Skipped, Status
from cli_guard.reviewers.refactor.duplicates import is_code, review_duplicates
from cli_guard.reviewers.refactor.growth import Grown, Growth
from cli_guard.reviewers.subject import Subject
from cli_guard.reviewers.symbols import LANGUAGES, is_test, unreadable
from cli_guard.rules import catalog
from cli_guard.syntax import language_of

PLANS = 10


def review(subject: Subject) -> Report:
    """Measure what the change touches, before against after; findings by path, line and rule."""
    concerned = [change for change in subject.changes if _concerned(change)]
    if not concerned:
        return Report()
    concerned.sort(key=lambda change: change.path)
    rules = {rule.id: rule for rule in catalog.load("refactor")}
    growth = Growth(rules, subject)
    grown: list[Grown] = []
    skipped: list[Skipped] = []
    readable: list[FileChange] = []
    for change in concerned:
        text = subject.contents.new(change)
        reason = unreadable(change.path, text, subject.limits.file_chars) if text is not None else None
        if reason is None:
            readable.append(change)
        language = language_of(change.path)
        if reason is None and language in LANGUAGES:
            reason = _grown(subject, growth, change, language, text, grown)
        if reason is not None:
            skipped.append(Skipped(change.path, f"refactor: {reason}"))
    repeated, unlisted = review_duplicates(rules["refactor-duplicate-block"], readable)
    found = [*_planned(grown), *repeated]
    skipped += unlisted
    return Report(tuple(sorted(found, key=lambda f: (f.path, f.line or 0, f.rule))), tuple(skipped))


def _concerned(change: FileChange) -> bool:
    if change.kind is not Kind.TEXT or change.status in (Status.DELETED, Status.UNMERGED):
        return False
    return bool(change.added) and is_code(change.path) and not is_test(change.path)


def _grown(
    subject: Subject,
    growth: Growth,
    change: FileChange,
    language: str,
    text: str | None,
    grown: list[Grown],
) -> str | None:
    """Add the findings of one file; the reason why it was not, or not wholly, reviewed."""
    if text is None:
        return "whole text not available"
    old = "" if change.status is Status.ADDED else subject.contents.old(change)
    if old is None:
        return "text before the change not available"
    if len(old) > subject.limits.file_chars:
        return f"before the change longer than {subject.limits.file_chars} characters"
    try:
        for finding in growth.review(change, language, text, old):
            grown.append(finding)
    except TimeoutError:
        return f"stopped after {subject.limits.seconds} seconds"
    return f"{growth.unmeasured} functions could not be measured" if growth.unmeasured else None


def _planned(grown: Sequence[Grown]) -> Iterator[Finding]:
    """The findings with their plans. Nobody carries out more than a few: only the worst functions get one."""
    worst = sorted((g for g in grown if g.plan is not None), key=lambda g: (-g.over, g.finding.path))[:PLANS]
    chosen = {id(g) for g in worst}
    for found in grown:
        if found.plan is None or id(found) not in chosen:
            yield found.finding
        else:
            yield replace(found.finding, suggestion=found.plan())
