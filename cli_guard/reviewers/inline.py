"""Find the inline suppression for a finding in the reviewed lines."""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Protocol, runtime_checkable

from cli_guard.model import ChangeSet, FileChange, Finding, split_lines
from cli_guard.policy.suppressions import Suppression, answer_for, answer_in
from cli_guard.repository.between import line_now
from cli_guard.reviewers.lapsed import lapsed_lines
from cli_guard.reviewers.review_input import ReviewInput

FILES_HELD = 20
REMOVED = "protection-"
# As long as a key may be, and longer than most names that an edit brings.
LONG_WORD = re.compile(r"[\w+/-]{12,}")


@runtime_checkable
class Readable(Protocol):
    """A history that can return one of its commits without reading all of them."""

    def one(self, commit: str) -> ChangeSet:
        """Return the commit of this id."""


class InlineAnswers:
    """Called with a finding: returns its suppression and whether this change adds it, or None."""

    def __init__(self, subject: ReviewInput) -> None:
        self._subject = subject
        self._lines: dict[tuple[str | None, str, str | None], dict[int, str]] = {}
        self._lapsed: dict[tuple[str | None, str, str | None], frozenset[int]] = {}
        self._commits: dict[str, ChangeSet] = {}

    def __call__(self, finding: Finding) -> tuple[Suppression, bool] | None:
        if finding.line is None or not finding.path:
            return None
        changed = [
            change for change in self._changes(finding) if change.path == finding.path
        ]
        for change in changed or self._find_unchanged(finding):
            lines = self._lines_of(finding.commit, change)
            for number in dict.fromkeys((finding.line, finding.end_line or finding.line)):
                own = lines.get(number, "")
                above = lines.get(number - 1, "")
                answer = answer_for(finding.rule, own, above)
                if answer:
                    at = number if answer == answer_in(own) else number - 1
                    new = at in change.added or _is_other_content(change, finding)
                    lapsed = not new and self._has_lapsed(change, finding)
                    found = replace(answer, lapsed=lapsed, line=at)
                    return self._look_at_place(finding, found), new or lapsed
        if finding.commit and finding.rule.startswith(REMOVED):
            # What a commit took away leaves a place where a later one can answer.
            at_tip = self._at_tip(finding)
            return self(at_tip) if at_tip else None
        return None

    def _look_at_place(self, finding: Finding, answer: Suppression) -> Suppression:
        """Return an answer with the place that it names for a check that went, and whether the check is there."""
        if not finding.rule.startswith(REMOVED):
            return answer
        from cli_guard.reviewers.protections.answers import has_check, place_in

        place = place_in(finding.rule, answer.reason)
        if place is None:
            return answer
        is_checked = has_check(self._subject, finding.rule, place)
        return replace(answer, place=str(place), is_checked=is_checked)

    def _at_tip(self, finding: Finding) -> Finding | None:
        """Return a finding in a commit at the place that it has after the change, None if its file is gone."""
        now = self._subject.text_at(finding.path)
        own = (each for each in self._changes(finding) if each.path == finding.path)
        was = next(map(self._subject.contents.new, own), None)
        if now is None or was is None:
            return None
        line = line_now(was, now, finding.line or 1)
        return replace(finding, commit=None, line=line, end_line=None)

    def _changes(self, finding: Finding) -> ChangeSet:
        commit = finding.commit
        if commit is None:
            return self._subject.changes
        if commit not in self._commits:
            subject = self._subject
            places = (subject.history, subject.vouched, subject.elsewhere)
            found = (in_history(each, commit) for each in places)
            self._commits[commit] = next(
                (each for each in found if each.commit), ChangeSet(())
            )
        return self._commits[commit]

    def _find_unchanged(self, finding: Finding) -> list[FileChange]:
        """Return the file of a finding in a document that the change made false without touching it."""
        file = None if finding.commit else self._subject.file_at(finding.path)
        return [file] if file else []

    def _has_lapsed(self, change: FileChange, finding: Finding) -> bool:
        """Return whether the change makes the code of a finding run, or differ in what its answer rests on."""
        if finding.rule.startswith(REMOVED):
            # It was written before this change took anything away.
            return True
        if not finding.rule.startswith(("code-", "command-")):
            return False
        first = finding.line or 0
        last = finding.end_line or finding.line or 0
        if change.hunks and not change.touches(first, last):
            return True
        key = (finding.commit, change.path, change.new_blob)
        if key not in self._lapsed:
            self._lapsed[key] = lapsed_lines(change, self._subject.contents)
        return not self._lapsed[key].isdisjoint((first, last))

    def _lines_of(self, commit: str | None, change: FileChange) -> dict[int, str]:
        key = (commit, change.path, change.new_blob)
        if key not in self._lines:
            text = self._subject.contents.new(change)
            numbered = (
                dict(enumerate(split_lines(text), 1)) if text is not None else change.added
            )
            if len(self._lines) >= FILES_HELD:
                self._lines.pop(next(iter(self._lines)))
            self._lines[key] = numbered
        return self._lines[key]


def _is_other_content(change: FileChange, finding: Finding) -> bool:
    """Return whether the lines of a finding hold what no line that they replace held.

    A recorded suppression was written for the lines that were there: for the same key, and for the same code.
    """
    secret = finding.rule.startswith("secret-")
    first = finding.line or 0
    last = finding.end_line or finding.line or 0
    for hunk in change.hunks:
        removed = "\n".join(" ".join(line.split()) for line in hunk.removed)
        kept = set(removed.split("\n"))
        for number, line in enumerate(hunk.added, hunk.new_start):
            if not first <= number <= last:
                continue
            new = not removed or any(
                word not in removed for word in LONG_WORD.findall(line)
            )
            if new if secret else " ".join(line.split()) not in kept:
                return True
    return False


def in_history(history: Collection[ChangeSet], commit: str) -> ChangeSet:
    if isinstance(history, Readable):
        return history.one(commit)
    return next((each for each in history if each.commit == commit), ChangeSet(()))
