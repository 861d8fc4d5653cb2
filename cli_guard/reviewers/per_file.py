"""What a reviewer makes of one file alone: the part of a review that may be done in any order, and elsewhere.

A reviewer with such a part has `examiner(subject)`, which gives the function that looks at one file. Its `review` takes
what is known of a file already, and otherwise looks itself. What depends on other files is left to `review`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from cli_guard.model import Category, Confidence, FileChange, Finding, Severity, Skipped

# `policy`, `message` and `push` look at the change as a whole only.
EXAMINERS = ("secrets", "code", "commands", "docs", "refactor")


@dataclass(frozen=True, slots=True)
class Alone:
    """What came of one file.

    `again`: there is something to say that `review` alone can word, so it looks at the file once more. `weights` are
    numbers of the reviewer's own. `shared`: other files of the change had a say in it.
    """

    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    again: bool = False
    weights: tuple[float, ...] = ()
    shared: bool = False

    @classmethod
    def of(cls, items: Iterable[Finding | Skipped]) -> "Alone":
        """Findings and what was skipped, told apart."""
        listed = tuple(items)
        return cls(
            tuple(each for each in listed if isinstance(each, Finding)),
            tuple(each for each in listed if isinstance(each, Skipped)),
        )

    def as_line(self) -> dict[str, object]:
        """The same as plain data, as JSON holds it."""
        return {
            "findings": [asdict(each) for each in self.findings],
            "skipped": [asdict(each) for each in self.skipped],
            "again": self.again,
            "weights": self.weights,
            "shared": self.shared,
        }

    @classmethod
    def of_line(cls, data: Mapping[str, Any]) -> "Alone":
        """Out of plain data. Raises KeyError, TypeError or ValueError for any other."""
        return cls(
            tuple(map(finding_of, data["findings"])),
            tuple(Skipped(**each) for each in data["skipped"]),
            bool(data["again"]),
            tuple(map(float, data["weights"])),
            bool(data["shared"]),
        )


def finding_of(data: Mapping[str, Any]) -> Finding:
    """A finding out of plain data."""
    named = {name: kind(data[name]) for name, kind in KINDS.items()}
    return Finding(**{**data, **named})


KINDS = {"category": Category, "severity": Severity, "confidence": Confidence}
Examiner = Callable[[FileChange], Alone]
NOTHING = Alone()
AGAIN = Alone(again=True)


class Work(Protocol):
    """What was made of the files of a change before their reviewers ask."""

    def known(self, reviewer: str, change: FileChange) -> Alone | None:
        """What a reviewer made of one file, None if it has not looked at it yet."""


class NoWork:
    """Nothing is done before it is asked for."""

    def known(self, reviewer: str, change: FileChange) -> Alone | None:
        """Nothing."""
        return None
