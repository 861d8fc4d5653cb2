"""Lines of a file as people may see them: secrets masked as the file around them tells."""

from functools import cached_property

from cli_guard.secrets import scan
from cli_guard.secrets.candidates import Hit
from cli_guard.secrets.redact import mask_hits

LINE_CHARS = 160
# A longer text is looked at by windows around what is shown: a secret is told by what stands near it.
WHOLE_TEXT = 400_000
WINDOW_LINES = 60
WINDOW_CHARS = 40_000


class Shown:
    """The lines of one text, masked when they are asked for. Lines count from 1."""

    def __init__(self, path: str, text: str) -> None:
        self._path, self._text = path, text
        self._lines = text.split("\n")

    @cached_property
    def _hits(self) -> tuple[Hit, ...]:
        return tuple(scan(self._text, self._path).hits)

    @cached_property
    def _starts(self) -> list[int]:
        starts, position = [0], 0
        for line in self._lines:
            position += len(line) + 1
            starts.append(position)
        return starts

    def raw(self, line: int) -> str:
        """A line as it is, for nobody's eyes; empty beyond the end."""
        return self._lines[line - 1] if 0 < line <= len(self._lines) else ""

    def block(self, first: int, last: int) -> str:
        """The lines from `first` to `last`, masked, joined by line feeds; each at most `WINDOW_CHARS` long."""
        first, last = max(1, first), min(last, len(self._lines))
        if first > last:
            return ""
        if len(self._text) <= WHOLE_TEXT:
            return mask_hits(self._text, self._hits, self._starts[first - 1], self._starts[last] - 1)
        above = [line[:WINDOW_CHARS] for line in self._lines[max(0, first - 1 - WINDOW_LINES) : first - 1]]
        asked = [line[:WINDOW_CHARS] for line in self._lines[first - 1 : last]]
        below = [line[:WINDOW_CHARS] for line in self._lines[last : last + WINDOW_LINES]]
        window = "\n".join((*above, *asked, *below))[: WHOLE_TEXT * 2]
        start = sum(len(line) + 1 for line in above)
        end = min(start + sum(len(line) + 1 for line in asked) - 1, len(window))
        return mask_hits(window, scan(window, self._path).hits, start, end)

    def line(self, number: int) -> str:
        """One line, masked, without the blanks around it, at most `LINE_CHARS` characters."""
        return self.block(number, number).strip()[:LINE_CHARS]
