"""What a reviewer makes of one file: the part of a review that may be done in any order, and in another process.

A reviewer with such a part has `examiner(subject)`, which gives the function that looks at one file. Its `review` uses
the result where there is one, and otherwise looks itself. What depends on other files is left to `review`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from cli_guard.model import FileChange, Finding, Skipped, finding_data, finding_of


@dataclass(frozen=True, slots=True)
class FileResult:
    """What a reviewer made of one file.

    `again`: only `review` can word what there is to say, so it looks at the file once more. `weights` are numbers of
    the reviewer's own. `cacheable`: the same file gives the same result in a later review.
    """

    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    again: bool = False
    weights: tuple[float, ...] = ()
    cacheable: bool = True

    @classmethod
    def of(cls, items: Iterable[Finding | Skipped]) -> "FileResult":
        """Sort findings from what was skipped."""
        listed = tuple(items)
        return cls(
            tuple(each for each in listed if isinstance(each, Finding)),
            tuple(each for each in listed if isinstance(each, Skipped)),
        )

    def as_data(self) -> dict[str, object]:
        """The result as plain data, as JSON holds it."""
        return {
            "findings": [finding_data(each) for each in self.findings],
            "skipped": [asdict(each) for each in self.skipped],
            "again": self.again,
            "weights": self.weights,
            "cacheable": self.cacheable,
        }

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> "FileResult":
        """A result out of `as_data`. Raises KeyError, TypeError or ValueError for anything else."""
        return cls(
            tuple(map(finding_of, data["findings"])),
            tuple(Skipped(**each) for each in data["skipped"]),
            bool(data["again"]),
            tuple(map(float, data["weights"])),
            bool(data["cacheable"]),
        )


Examiner = Callable[[FileChange], FileResult]
NOTHING = FileResult()
# `review` looks at the file again in any case, so a cached result would save nothing.
AGAIN = FileResult(again=True, cacheable=False)


class FileWork(Protocol):
    """What was made of the files of a change before their reviewers ask."""

    def result(self, reviewer: str, change: FileChange) -> FileResult | None:
        """The result of a reviewer for one file, None if it has not looked at it yet."""
