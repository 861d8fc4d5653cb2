"""A piece of shell in a file, and the map from its offsets to the lines of the file."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import accumulate

from cli_guard.lazy import frozen

# The text of a snippet in order, each piece with the line of the file that it comes from.
Pieces = Sequence[tuple[int, str]]

SHELLS = re.compile(
    r"(?:.*[/\\])?(?:r?bash|sh|dash|ash|zsh|m?ksh\d*|busybox sh)(?:\.exe)?(?:\s|$)"
)
POWERSHELLS = re.compile(
    r"(?:.*[/\\])?(?:pwsh|powershell)(?:\.exe)?(?:\s|$)", re.IGNORECASE
)
POWERSHELL_TEXT = re.compile(
    r"(?m)^[ \t]*\$[\w:]+\s*=|\[[A-Za-z][\w.]*\](?:::|@\{)|\$env:\w|\|[ \t]*(?:Where|Select|ForEach|Sort|Out)-\w+"
    r"|^[ \t]*\(?(?:Get|Set|New|Remove|Invoke|Write|Import|Start|Stop)-[A-Z]\w+|^[ \t]*(?:param|foreach)\s*\("
)
NO_NAME = re.compile(r"\W", re.ASCII)
NO_DIGIT = re.compile(r"^\d")
AROUND = "${}()[]<>% \t\n"


class Where(StrEnum):
    """The kind of file that a snippet is in: who runs it, and when."""

    AGENT = "agent"
    BUILD = "build"
    CI = "ci"
    HOOK = "hook"
    IMAGE = "image"
    SCRIPT = "script"
    SERVICE = "service"


@frozen
class Snippet:
    """Text for a shell. From each offset of `starts` on it comes from the line at the same index of `lines`.

    `language` is "sh" for POSIX-like shells, "mixed" for those that are partly so (zsh), "pwsh", "cmd", "other".
    """

    text: str
    starts: tuple[int, ...]
    lines: tuple[int, ...]
    where: Where
    language: str = "sh"

    def line_at(self, offset: int) -> int:
        """Return the file's line of the character at `offset`."""
        return self.lines[max(bisect_right(self.starts, offset) - 1, 0)]

    def lines_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and last line of the characters from `start` up to `end`."""
        piece = self.text[start:end]
        begin = start + len(piece) - len(piece.lstrip())
        last = max(begin, start + len(piece.rstrip()) - 1)
        first = self.line_at(begin)
        final = self.line_at(last)
        return min(first, final), max(first, final)

    def replace_spans(self, changes: Iterable[tuple[int, int, str]]) -> "Snippet":
        """Replace the text from each start up to its end; the changes are in order and do not overlap."""
        parts: list[str] = []
        moves: list[tuple[int, int]] = []
        done = shift = 0
        for start, end, new in changes:
            parts += (self.text[done:start], new)
            shift += len(new) - (end - start)
            moves.append((end, shift))
            done = end
        if not moves:
            return self
        ends = [end for end, _ in moves]
        shifts = [0, *(by for _, by in moves)]
        starts = tuple(start + shifts[bisect_right(ends, start)] for start in self.starts)
        # A piece that began inside the replaced text must not begin before the one ahead of it.
        starts = tuple(accumulate(starts, max))
        return replace(self, text="".join((*parts, self.text[done:])), starts=starts)

    def substitute(
        self, pattern: re.Pattern[str], new: Callable[[str], str] | None = None
    ) -> "Snippet":
        """Replace every match, by default with a variable of the same length."""
        make = new or variable
        return self.replace_spans(
            (m.start(), m.end(), make(m[0])) for m in pattern.finditer(self.text)
        )


class LineNumbers:
    """The lines of a text by their offsets."""

    def __init__(self, text: str) -> None:
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def at(self, offset: int) -> int:
        """Return the line number of the character at `offset`."""
        return bisect_left(self._ends, offset) + 1


def snippet(pieces: Pieces, where: Where, language: str = "sh") -> Snippet:
    starts = accumulate((len(text) for _, text in pieces), initial=0)
    lines = tuple(line for line, _ in pieces)
    return Snippet(
        "".join(text for _, text in pieces),
        tuple(starts)[: len(lines)],
        lines,
        where,
        language,
    )


def snippet_if_any(pieces: Pieces, where: Where, language: str = "sh") -> Iterator[Snippet]:
    """Yield a snippet of the pieces, none if they are blank."""
    if any(text.strip() for _, text in pieces):
        yield snippet(pieces, where, language)


def pieces_of(text: str, first: int = 1) -> list[tuple[int, str]]:
    """Return one piece for each line with its line end, numbered from `first`."""
    lines = text.split("\n")
    pieces = [
        (number, line.removesuffix("\r") + "\n") for number, line in enumerate(lines, first)
    ]
    pieces[-1] = (pieces[-1][0], lines[-1])
    return pieces


def join_continued(pieces: Pieces) -> Iterator[list[tuple[int, str]]]:
    """Yield each line in one piece, or in several with those that it goes on to behind a backslash."""
    found: list[tuple[int, str]] = []
    for number, line in pieces:
        found.append((number, line))
        bare = line.rstrip("\n")
        if (len(bare) - len(bare.rstrip("\\"))) % 2 == 0:
            yield found
            found = []
    if found:
        yield found


def skip(pattern: re.Pattern[str], text: str) -> str:
    """Return what is behind a pattern that the text begins with, the whole text if it does not."""
    found = pattern.match(text)
    return text[found.end() :] if found else text


def variable(text: str) -> str:
    """Return a shell variable as long as the text, for a value known only at run time."""
    size = len(text) - 3
    if size < 1:
        return "$" + "_" * (len(text) - 1)
    name = NO_NAME.sub("_", NO_DIGIT.sub("_", text.strip(AROUND)))
    return f"${{{name[:size].ljust(size, '_')}}}"


def language_of_text(text: str) -> str:
    """Guess the shell of a text whose machine decides it: "pwsh" or "sh"."""
    return "pwsh" if POWERSHELL_TEXT.search(text) else "sh"


def shell_of(program: str) -> str:
    """Return the shell of a program or its command line: "sh", "pwsh", "cmd" or "other"."""
    words = (
        re.sub(r"^(?:#!\s*)?(?:\S*/)?env\s+(?:-\S+\s+)*", "", program.strip())
        .removeprefix("#!")
        .strip()
    )
    if SHELLS.match(words):
        return "sh"
    if POWERSHELLS.match(words):
        return "pwsh"
    return (
        "cmd"
        if re.match(r"(?:.*[/\\])?cmd(?:\.exe)?(?:\s|$)", words, re.IGNORECASE)
        else "other"
    )
