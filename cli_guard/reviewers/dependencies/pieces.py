"""The pieces of a lock file: one entry each, as text with its place, parsed only where two sides differ."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from cli_guard.lazy import dataclass

# The keys on the way to the entries: `*` is any key; at the end, `[]` is the items of a list in JSON.
Paths = tuple[tuple[str, ...], ...]


class UnreadableLock(ValueError):
    """Why a lock file, or one entry of it, cannot be read."""


@dataclass(frozen=True, slots=True)
class LockPiece:
    """One entry on the lines `line` to `last`: the key that it has in its group, and its text.

    `form` is the syntax of the text; what was read as a whole is JSON.
    """

    group: str
    key: str
    text: str
    form: str
    line: int
    last: int

    @property
    def identity(self) -> tuple[str, str, str]:
        """Return what makes it the same piece before and after, wherever it stands."""
        return self.group, self.key, self.text


@dataclass(frozen=True, slots=True)
class LockCut:
    """A lock file in pieces. `head` is the rest of it, as data."""

    pieces: tuple[LockPiece, ...] = ()
    head: Mapping[str, Any] = field(default_factory=dict)


def unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs of an object; raises UnreadableLock for a key that stands twice."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise UnreadableLock("a key stands twice in one entry")
        found[key] = value
    return found


def pieces_of_data(
    data: Any, lines: Mapping[tuple[str, ...], tuple[int, int]], paths: Paths
) -> Iterator[LockPiece]:
    """Yield the entries of a file that was parsed as a whole, at one key each or at the root.

    `lines` has the lines of each by its keys.
    """
    for steps in paths:
        table = data[steps[0]] if steps else data
        for key, value in _members(table):
            line, last = lines.get((*steps, key), (1, 1))
            text = json.dumps(value, default=str)
            name = key if isinstance(table, dict) else ""
            yield LockPiece("/".join(steps), name, text, "json", line, last)


def _members(table: object) -> Iterator[tuple[str, object]]:
    if isinstance(table, dict):
        yield from table.items()
    elif isinstance(table, list):
        yield from ((str(number), value) for number, value in enumerate(table))
