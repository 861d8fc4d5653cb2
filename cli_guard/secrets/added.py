"""The text that is scanned in place of a file, and the map from its offsets to the file's lines."""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, chain

from cli_guard.lazy import dataclass
from cli_guard.model import FileChange

# Between hunks: no pattern matches across a NUL, so lines that are not adjacent are not matched as such.
GAP = "\0"


@dataclass(frozen=True)
class AddedText:
    """The added lines of a file as one text, and their line numbers in the file."""

    text: str
    numbers: Sequence[int | None]

    @classmethod
    def of(cls, change: FileChange) -> "AddedText":
        """Return what a file adds, with a gap between the hunks."""
        hunks = [hunk for hunk in change.hunks if hunk.added]
        parts = [range(hunk.new_start, hunk.new_start + len(hunk.added)) for hunk in hunks]
        text = f"\n{GAP}\n".join("\n".join(hunk.added) for hunk in hunks)
        # A new file is one hunk, and may be large: its numbers need no list.
        if len(parts) == 1:
            return cls(text, parts[0])
        return cls(text, [*chain(*((*part, None) for part in parts))])

    @classmethod
    def of_file(cls, text: str) -> "AddedText":
        """Return a whole file in the same form."""
        return cls(text, range(1, text.count("\n") + 2))

    def lines_of(self, start: int, end: int) -> set[str]:
        """Return the lines between two offsets without what a move changes."""
        first = self.text.rfind("\n", 0, start) + 1
        last = self.text.find("\n", end)
        return set(map(core, self.text[first : last if last >= 0 else None].split("\n")))

    def offset_in(self, whole: "AddedText", offset: int) -> int:
        """Return where an offset of this text is in the whole file; -1 if the file has no such line."""
        line = self.line(offset)
        if line is None or line > len(whole._starts):
            return -1
        return whole._starts[line - 1] + offset - self.text.rfind("\n", 0, offset) - 1

    @cached_property
    def _starts(self) -> list[int]:
        lines = self.text.split("\n")
        return list(accumulate((len(line) + 1 for line in lines[:-1]), initial=0))

    def line(self, offset: int) -> int | None:
        """Return the file's line number of an offset in the text."""
        return (
            self.numbers[bisect_right(self._starts, offset) - 1] if self.numbers else None
        )


def core(line: str) -> str:
    """Return a line without indentation and the separator at its end: what stays when it moves."""
    return line.strip(" \t\r,;")
