"""The text that is scanned in place of a file, and the map from its offsets to the file's lines."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain

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

    @cached_property
    def _starts(self) -> list[int]:
        lines = self.text.split("\n")
        return list(accumulate((len(line) + 1 for line in lines[:-1]), initial=0))

    def line(self, offset: int) -> int | None:
        """Return the file's line number of an offset in the text."""
        return self.numbers[bisect_right(self._starts, offset) - 1] if self.numbers else None
