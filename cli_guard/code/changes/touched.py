"""Which lines of each side the hunks of a change touch."""

from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate

from cli_guard.model import Hunk

Span = tuple[int, int]


class TouchedLines:
    """Spans of lines of one side, in order. A gap between the lines n and n + 1 is the span (n + 1, n)."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self.spans = tuple(spans)
        self._lasts = list(accumulate((last for _, last in self.spans), max))

    def __bool__(self) -> bool:
        return bool(self.spans)

    def overlap(self, first: int, last: int) -> bool:
        """Return whether a node on these lines is touched; one that ends or begins at a gap is not."""
        at = bisect_left(self._lasts, first)
        return at < len(self.spans) and self.spans[at][0] <= last


def touched_lines(hunks: Iterable[Hunk]) -> tuple[TouchedLines, TouchedLines]:
    """Return what the hunks touch before and after the change.

    The number of an empty side is not used: Git names the line before it there, a comparison of ours the line after.
    """
    old: list[Span] = []
    new: list[Span] = []
    shift = 0
    for hunk in hunks:
        old_start = hunk.old_start if hunk.removed else hunk.new_start - shift
        new_start = hunk.new_start if hunk.added else hunk.old_start + shift
        old.append((old_start, old_start + len(hunk.removed) - 1))
        new.append((new_start, new_start + len(hunk.added) - 1))
        shift += len(hunk.added) - len(hunk.removed)
    return TouchedLines(old), TouchedLines(new)
