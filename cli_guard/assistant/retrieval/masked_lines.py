"""Lines of a file with its secrets masked."""

from functools import cached_property
from itertools import accumulate

from cli_guard.secrets import scan
from cli_guard.secrets.candidates import SecretHit
from cli_guard.secrets.redact import mask_hits

LINE_CHARS = 160
# A longer text is scanned in windows around the lines asked for: context decides what is a secret.
WHOLE_TEXT = 20_000
WINDOW_LINES = 60
WINDOW_CHARS = 40_000
LONGEST_WINDOW = 800_000


class MaskedLines:
    """The lines of one text, counted from 1; the text is scanned at the first use."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._text = text
        self._lines = text.split("\n")

    @cached_property
    def _hits(self) -> tuple[SecretHit, ...]:
        return tuple(scan(self._text, self._path).hits)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(line) + 1 for line in self._lines)]

    def block(self, first: int, last: int) -> str:
        """Return the lines from `first` to `last`; in a very long text each is cut at `WINDOW_CHARS`."""
        first = max(1, first)
        last = min(last, len(self._lines))
        if first > last:
            return ""
        if len(self._text) <= WHOLE_TEXT:
            return mask_hits(
                self._text, self._hits, self._starts[first - 1], self._starts[last] - 1
            )
        above = max(0, first - 1 - WINDOW_LINES)
        around = self._lines[above : last + WINDOW_LINES]
        lines = [line[:WINDOW_CHARS] for line in around]
        starts = [0, *accumulate(len(line) + 1 for line in lines)]
        window = "\n".join(lines)[:LONGEST_WINDOW]
        end = min(starts[last - above] - 1, len(window))
        hits = scan(window, self._path).hits
        return mask_hits(window, hits, starts[first - 1 - above], end)

    def line(self, number: int) -> str:
        """Return one line without the blanks around it, at most `LINE_CHARS` characters."""
        return self.block(number, number).strip()[:LINE_CHARS]
