"""Results of a reviewer for one file: work that may run in any order, and in another process.

A reviewer with such work has `examiner(subject)`, which returns the function that examines one file. Its `review` uses
a result that exists and examines the file otherwise. What depends on other files is left to `review`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any, Protocol

from cli_guard.lazy import frozen
from cli_guard.model import FileChange, Finding, Kind, Skipped, finding_data, finding_of


@frozen
class FileResult:
    """The result of one reviewer for one file.

    `again`: only `review` can word the findings, so it reads the file once more. `weights` are numbers of the
    reviewer's own. `cacheable`: a later review of the same file gives the same result. `made` saves the reviewer work
    in this process alone: it is neither stored nor sent.
    """

    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    again: bool = False
    weights: tuple[float, ...] = ()
    cacheable: bool = True
    made: object = None

    @classmethod
    def of(cls, items: Iterable[Finding | Skipped]) -> "FileResult":
        """Sort findings from skipped files."""
        listed = tuple(items)
        return cls(
            tuple(each for each in listed if isinstance(each, Finding)),
            tuple(each for each in listed if isinstance(each, Skipped)),
        )

    def as_data(self) -> dict[str, object]:
        """Return the result as plain JSON data."""
        return {
            "findings": [finding_data(each) for each in self.findings],
            "skipped": [asdict(each) for each in self.skipped],
            "again": self.again,
            "weights": self.weights,
            "cacheable": self.cacheable,
        }

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> "FileResult":
        """Build a result from `as_data`. Raises KeyError, TypeError or ValueError for anything else."""
        return cls(
            tuple(map(finding_of, data["findings"])),
            tuple(Skipped(**each) for each in data["skipped"]),
            bool(data["again"]),
            tuple(map(float, data["weights"])),
            bool(data["cacheable"]),
        )


Examiner = Callable[[FileChange], FileResult]
NOTHING = FileResult()
# `review` reads the file again in any case, so a cached result would save nothing.
AGAIN = FileResult(again=True, cacheable=False)


class FileWork(Protocol):
    """Results for the files of a change, made before the reviewers run."""

    def result(self, reviewer: str, change: FileChange) -> FileResult | None:
        """Return the result of a reviewer for one file, None if it has not examined it yet."""


def may_be_packed(change: FileChange) -> bool:
    """Return whether a file may be compressed: it is binary, or a short one that shows it only by broken characters."""
    if change.kind is Kind.BINARY or change.tail is not None:
        return True
    return any("\ufffd" in line for hunk in change.hunks for line in hunk.added)
