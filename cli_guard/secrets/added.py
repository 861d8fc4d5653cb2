"""The text that is scanned in place of a file, and the map from its offsets to the file's lines."""

from bisect import bisect_right
from dataclasses import dataclass

from cli_guard.model import FileChange

# Between hunks: no pattern matches across a NUL, so lines that are not adjacent are not matched as such.
GAP = "\0"


@dataclass(frozen=True)
class AddedText:
    """The added lines of a file as one text, and their line numbers in the file."""

    text: str
    numbers: tuple[int | None, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, change: FileChange) -> "AddedText":
        lines: list[str] = []
        numbers: list[int | None] = []
        for hunk in change.hunks:
            if lines and hunk.added:
                lines.append(GAP)
                numbers.append(None)
            lines += hunk.added
            numbers += range(hunk.new_start, hunk.new_start + len(hunk.added))
        return cls.from_lines(lines, numbers)

    @classmethod
    def from_lines(cls, lines: list[str], numbers: list[int | None]) -> "AddedText":
        """Index the lines by their offset in the joined text."""
        starts, position = [], 0
        for line in lines:
            starts.append(position)
            position += len(line) + 1
        return cls("\n".join(lines), tuple(numbers), tuple(starts))

    def line(self, offset: int) -> int | None:
        """Return the file's line number of an offset in the text."""
        return self.numbers[bisect_right(self.starts, offset) - 1] if self.starts else None
