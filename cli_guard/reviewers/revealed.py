"""What a change makes run without writing it: by taking away the marks of a comment, a quote, or an `exit 0`.

What is on lines that the change did not add is new if the text before had no such thing, alive, on the same line.
"""

from bisect import bisect_right
from dataclasses import replace

from cli_guard.model import FileChange, Finding

PUT_INTO_EFFECT = "the change puts this line into effect without touching it"


class LinesBefore:
    """The numbers that lines of the new side had before the change, for lines that it did not add."""

    def __init__(self, change: FileChange) -> None:
        self._starts: list[int] = []
        self._shifts = [0]
        for hunk in change.hunks:
            shift = self._shifts[-1]
            # Git numbers a hunk that only removes by the line before it, a comparison of ours by the line after.
            self._starts.append(hunk.new_start if hunk.added else hunk.old_start + shift)
            self._shifts.append(shift + len(hunk.added) - len(hunk.removed))

    def __call__(self, line: int) -> int:
        """Return the number before the change of an unchanged line."""
        return line - self._shifts[bisect_right(self._starts, line)]


def tell(finding: Finding) -> Finding:
    """Say of a finding on lines that the change does not touch why it comes up."""
    return replace(finding, message=f"{finding.message.rstrip('.')}; {PUT_INTO_EFFECT}.")
