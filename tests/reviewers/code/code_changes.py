"""Changes for tests, made from texts."""

from collections.abc import Mapping
from dataclasses import dataclass

from cli_guard.model import ChangeSet, FileChange, Hunk, Kind, Report, Status, split_lines
from cli_guard.reviewers.code import review
from cli_guard.reviewers.review_input import ReviewInput


@dataclass(frozen=True)
class Texts:
    """Contents held in memory: path -> text."""

    texts: Mapping[str, str]

    def new(self, change: FileChange) -> str | None:
        return self.texts.get(change.path)

    def old(self, change: FileChange) -> str | None:
        return None


def new_file(path: str, text: str, **fields: object) -> FileChange:
    """A change that adds a file with this text."""
    hunk = Hunk(0, 1, (), tuple(split_lines(text)))
    return FileChange(path, Status.ADDED, hunks=(hunk,), **fields)  # type: ignore[arg-type]


def edited(path: str, text: str, *added: int) -> FileChange:
    """A change that adds the given lines of this text."""
    lines = split_lines(text)
    hunks = tuple(Hunk(number, number, (), (lines[number - 1],)) for number in added)
    return FileChange(path, Status.MODIFIED, hunks=hunks)


def reviewed(
    *changes: FileChange, texts: Mapping[str, str] | None = None, **fields: object
) -> Report:
    """The report on these changes; a new file's own lines are its text."""
    return review(ReviewInput("test", ChangeSet(changes), Texts(texts or {}), **fields))  # type: ignore[arg-type]


def rules(report: Report) -> list[str]:
    """The ids of what was found, in the order of the report."""
    return [finding.rule for finding in report.findings]


__all__ = ["Kind", "Status", "Texts", "edited", "new_file", "reviewed", "rules"]
