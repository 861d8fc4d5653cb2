"""Changes for tests, made from the texts before and after."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from cli_guard.model import (
    ChangeSet,
    FileChange,
    Finding,
    Hunk,
    Report,
    Status,
    split_lines,
)
from cli_guard.reviewers.docs import review
from cli_guard.reviewers.review_input import Limits, ReviewInput


@dataclass(frozen=True)
class Sides:
    """Contents held in memory."""

    before: Mapping[str, str]
    after: Mapping[str, str]

    def new(self, change: FileChange) -> str | None:
        return self.after.get(change.path)

    def old(self, change: FileChange) -> str | None:
        return self.before.get(change.path)


def changed(path: str, before: str, after: str) -> FileChange:
    """The change from one text to the other; an empty text before means a new file."""
    old = split_lines(before)
    new = split_lines(after)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    hunks = tuple(
        Hunk(i + 1, k + 1, tuple(old[i:j]), tuple(new[k:m]))
        for tag, i, j, k, m in matcher.get_opcodes()
        if tag != "equal"
    )
    return FileChange(path, Status.MODIFIED if before else Status.ADDED, hunks=hunks)


def subject_of(
    before: Mapping[str, str], after: Mapping[str, str], limits: Limits | None = None
) -> ReviewInput:
    """A subject over the files after the change; those in `before` alone stay out."""
    changes = tuple(
        changed(p, before.get(p, ""), t) for p, t in after.items() if before.get(p) != t
    )
    return ReviewInput(
        "test", ChangeSet(changes), Sides(before, after), limits=limits or Limits()
    )


def reviewed(path: str, after: str, before: str = "") -> Report:
    """The report on one file."""
    return review(subject_of({path: before} if before else {}, {path: after}))


def found(path: str, after: str, before: str = "") -> list[Finding]:
    """The findings on one file."""
    return list(reviewed(path, after, before).findings)
