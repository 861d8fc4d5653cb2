"""What the result for one file carries to the comparison of all files: the families that it touches, as two numbers.

The result for a file may be cached, and made in another process. It holds no word of the file: from its marks the
second pass, over all files, knows which ones it has to read. Without a file that lost something that is none.
"""

from collections.abc import Collection, Sequence
from functools import cache

from cli_guard.lazy import frozen
from cli_guard.reviewers.protections.families import GROUP, PREFIX
from cli_guard.rules import catalog

NAME = "protections"
# What is no family: something else became weaker or was not read; what may have moved here.
OTHER = "other"
MOVED = "moved"
OWN = "own"


@frozen
class Marks:
    """The families of which a file has `lost` a member, and those that it has `touched` in any way."""

    lost: frozenset[str] = frozenset()
    touched: frozenset[str] = frozenset()

    @property
    def numbers(self) -> tuple[float, float]:
        return number_of(self.lost), number_of(self.touched)

    @classmethod
    def of_numbers(cls, numbers: Sequence[float]) -> "Marks":
        """Return the marks that `numbers` were made of, none for no numbers."""
        if len(numbers) != 2:
            return cls()
        lost, touched = (names_in(int(number)) for number in numbers)
        return cls(lost, touched)


@cache
def every_mark() -> tuple[str, ...]:
    """Return the names of all marks, in the order of their bits; a float holds 53."""
    families = (rule.removeprefix(PREFIX) for rule in catalog.by_id(GROUP))
    return (OTHER, MOVED, OWN, *sorted(families))


def number_of(names: Collection[str]) -> float:
    return float(sum(1 << at for at, name in enumerate(every_mark()) if name in names))


def names_in(number: int) -> frozenset[str]:
    return frozenset(name for at, name in enumerate(every_mark()) if number >> at & 1)
