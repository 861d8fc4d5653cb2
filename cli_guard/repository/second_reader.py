"""Check a patch with a second parser: unidiff must read in it what `cli_guard.git.patch` reads.

A patch that two readers understand differently can show a reviewer one change and apply another. It is refused, with
the line where the readings differ.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cli_guard.errors import UsageError
from cli_guard.model import Hunk

if TYPE_CHECKING:
    from unidiff.patch import PatchSet


# unidiff guesses names from these lines, and refuses names with blanks; the lines `--- ` and `+++ ` repeat them.
GUESSED = re.compile(r"diff --git |(new|deleted) file mode |GIT binary patch")
HUNK = re.compile(r"@@ -")


class ChangedLine(NamedTuple):
    """An added or removed line: its mark, its number in its own file, its text without the line end."""

    mark: str
    number: int
    text: str


class FileReading(NamedTuple):
    """What a parser found for one file: the names as written, and the hunks."""

    names: tuple[str, str]
    hunks: Sequence[Hunk]


class UnidiffLines:
    """The lines of a patch for unidiff; `position` is the number of the last one read, from 1.

    `outside` are the lines before, between and after patches, from 0: a mail may quote a hunk header there, but after a
    `+++ ` line some readers (patch(1)) take it for a hunk, so unidiff reads these lines too.
    """

    def __init__(self, lines: Sequence[str], outside: Collection[int]) -> None:
        self._lines = lines
        self._outside = outside
        self.position = 0

    def __iter__(self) -> Iterator[str]:
        begins_file = False
        for index, line in enumerate(self._lines):
            self.position = index + 1
            begins_file = index in self._outside and (
                begins_file or line.startswith("+++ ")
            )
            quoted = index in self._outside and not begins_file and HUNK.match(line)
            yield f"# {line}\n" if quoted or GUESSED.match(line) else f"{line}\n"


def check_second_reading(
    lines: Sequence[str], outside: Collection[int], files: Sequence[FileReading]
) -> None:
    """Compare our reading of a patch with unidiff's.

    Raises UsageError with the number of the line from which on they differ.
    """
    from unidiff.errors import UnidiffParseError
    from unidiff.patch import PatchSet

    source = UnidiffLines(lines, outside)
    try:
        other = PatchSet(source)
    except UnidiffParseError as error:
        raise differ(source.position) from error
    compare([file for file in files if file.hunks], other)


def compare(ours: Sequence[FileReading], other: "PatchSet") -> None:
    """Raise UsageError if the two readings differ in a file, a line number or a text."""
    theirs = [
        file
        for file in other
        if any(line.is_added or line.is_removed for h in file for line in h)
    ]
    for mine, file in zip(ours, theirs, strict=False):
        if (file.source_file.rstrip("\r"), file.target_file.rstrip("\r")) != mine.names:
            raise differ(file.diff_line_no)
        for mark in "-+":
            wanted = (line for line in list_changed_lines(mine.hunks) if line.mark == mark)
            for line in (line for hunk in file for line in hunk if line.line_type == mark):
                number = line.target_line_no if mark == "+" else line.source_line_no
                if next(wanted, None) != (mark, number, line.value.removesuffix("\n")):
                    raise differ(line.diff_line_no)
            if next(wanted, None) is not None:
                raise differ(file.diff_line_no)
    if len(ours) != len(theirs):
        last = theirs[min(len(ours), len(theirs) - 1)] if theirs else None
        raise differ(last.diff_line_no if last else None)


def differ(line: int | None) -> UsageError:
    return UsageError(
        f"two parsers read it differently from line {line or 1} on; create it again with `git diff`"
    )


def list_changed_lines(hunks: Sequence[Hunk]) -> Iterator[ChangedLine]:
    for hunk in hunks:
        for number, text in enumerate(hunk.removed, hunk.old_start):
            yield ChangedLine("-", number, text)
        for number, text in enumerate(hunk.added, hunk.new_start):
            yield ChangedLine("+", number, text)
