"""Finds the suppression that answers a finding in the very lines that were reviewed."""

from typing import Protocol, runtime_checkable

from cli_guard.model import ChangeSet, FileChange, Finding, split_lines
from cli_guard.policy.suppressions import Answer, answer_for, answer_in
from cli_guard.reviewers.review_input import ReviewInput

FILES_HELD = 20


@runtime_checkable
class Readable(Protocol):
    """A history that can give one of its commits without going through all of them."""

    def one(self, commit: str) -> ChangeSet:
        """The commit of that name."""


class InlineAnswers:
    """Called with a finding: the answer to it and whether this change adds the answer, or None."""

    def __init__(self, subject: ReviewInput) -> None:
        self._subject = subject
        self._lines: dict[tuple[str | None, str, str | None], dict[int, str]] = {}
        self._commits: dict[str, ChangeSet] = {}

    def __call__(self, finding: Finding) -> tuple[Answer, bool] | None:
        if finding.line is None or not finding.path:
            return None
        for change in self._changes(finding):
            if change.path != finding.path:
                continue
            lines = self._lines_of(finding.commit, change)
            for number in dict.fromkeys((finding.line, finding.end_line or finding.line)):
                own, above = lines.get(number, ""), lines.get(number - 1, "")
                answer = answer_for(finding.rule, own, above)
                if answer:
                    at = number if answer == answer_in(own) else number - 1
                    return answer, at in change.added
        return None

    def _changes(self, finding: Finding) -> ChangeSet:
        commit, history = finding.commit, self._subject.history
        if commit is None:
            return self._subject.changes
        if commit not in self._commits:
            if isinstance(history, Readable):
                self._commits[commit] = history.one(commit)
            else:
                found = (each for each in history if each.commit == commit)
                self._commits[commit] = next(found, ChangeSet(()))
        return self._commits[commit]

    def _lines_of(self, commit: str | None, change: FileChange) -> dict[int, str]:
        key = (commit, change.path, change.new_blob)
        if key not in self._lines:
            text = self._subject.contents.new(change)
            numbered = dict(enumerate(split_lines(text), 1)) if text is not None else change.added
            if len(self._lines) >= FILES_HELD:
                self._lines.pop(next(iter(self._lines)))
            self._lines[key] = numbered
        return self._lines[key]
