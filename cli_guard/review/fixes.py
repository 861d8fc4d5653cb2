"""The fixes in the findings of a run: suggestions that say which lines of a file they change.

A suggestion has hunks of a diff, or it is a text beside the lines that it replaces. Any other is for a person to read.
"""

import re
from collections.abc import Iterator

from cli_guard.lazy import frozen
from cli_guard.model import Category, Finding

HUNK_HEAD = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,\d{1,9})? @@")
REPLACES = re.compile(r"(\d{1,9}),(\d{1,9})")


@frozen
class Fix:
    """New lines for the lines from `first` to `last` (`last` = `first` - 1: before `first`).

    `old` are these lines as the reviewer saw them, None if the fix does not say.
    """

    first: int
    last: int
    new: tuple[str, ...]
    old: tuple[str, ...] | None = None


def has_fix(found: Finding) -> bool:
    """Return whether a finding has a fix that a patch can hold."""
    return next(fixes_of(found), None) is not None


def fixes_of(found: Finding) -> Iterator[Fix]:
    """Yield the fixes of a finding, from its suggestion."""
    if not found.suggestion or not found.path or found.category is Category.REFACTOR:
        return
    lines = found.suggestion.removesuffix("\n").split("\n")
    named = REPLACES.fullmatch(found.replaces)
    if named:
        yield Fix(int(named[1]), int(named[2]), tuple(lines))
    elif HUNK_HEAD.fullmatch(lines[0]):
        yield from hunks_in(lines)


def hunks_in(lines: list[str]) -> Iterator[Fix]:
    """Yield the hunks of a diff without file names."""
    heads = [number for number, line in enumerate(lines) if HUNK_HEAD.fullmatch(line)]
    for start, end in zip(heads, [*heads[1:], len(lines)], strict=True):
        head = HUNK_HEAD.fullmatch(lines[start])
        body = lines[start + 1 : end]
        if head is None or any(line[:1] not in (" ", "-", "+") for line in body):
            return
        old = tuple(line[1:] for line in body if line[0] in " -")
        new = tuple(line[1:] for line in body if line[0] in " +")
        # An empty range names the line before it (diff(1)).
        first = int(head[1]) + (head[2] == "0")
        yield without_context(first, old, new)


def without_context(first: int, old: tuple[str, ...], new: tuple[str, ...]) -> Fix:
    """Return the fix for some lines from `first` on, without the lines before and after that stay."""
    least = min(len(old), len(new))
    head = next((n for n in range(least) if old[n] != new[n]), least)
    ends = range(1, least - head + 1)
    tail = next((n - 1 for n in ends if old[-n] != new[-n]), least - head)
    gone = old[head : len(old) - tail]
    start = first + head
    return Fix(start, start + len(gone) - 1, new[head : len(new) - tail], gone)
