"""The fixes in the findings of a run: suggestions that say which lines of a file they change.

A suggestion has hunks of a diff, or it is a text beside the lines that it replaces. Any other is for a person to read.
"""

import re
from collections.abc import Iterator
from contextlib import suppress

from cli_guard.errors import UsageError
from cli_guard.lazy import frozen
from cli_guard.model import Category, Finding

HUNK_HEAD = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,\d{1,9})? @@")
# A hunk in a suggestion comes without the names of the file.
NAMES = ("--- a", "+++ b")
# An empty range names the line before it (diff(1)).
EMPTY = re.compile(r"^@@ -(\d{1,9}),0 ")
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
    if named := REPLACES.fullmatch(found.replaces):
        yield Fix(int(named[1]), int(named[2]), tuple(lines))
    elif HUNK_HEAD.fullmatch(lines[0]):
        from cli_guard.repository.patch import read_sections

        with suppress(UsageError):  # for a person to read
            counted = [EMPTY.sub(line_after, line) for line in lines]
            for hunk in read_sections([*NAMES, *counted])[0].hunks:
                last = hunk.old_start + len(hunk.removed) - 1
                yield Fix(hunk.old_start, last, hunk.added, hunk.removed)


def line_after(head: re.Match[str]) -> str:
    return f"@@ -{int(head[1]) + 1},0 "
