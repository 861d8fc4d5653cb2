"""Read a notebook as its reader does: a page of prose, a program and its shell commands, without the quoting of JSON.

A change may add any lines of the file, so lines are read, not the document. Each is kept with its place.
"""

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate

from cli_guard.lazy import dataclass
from cli_guard.secrets.names import compile_once

ENDING = ".ipynb"
CELL_TYPE = r'\s*"cell_type": "(\w+)"'
SOURCE = r'\s*"(?P<line>(?:[^"\\]|\\.)*?)(?:\\n)?",?\s*'
ESCAPE = r"\\([\"\\/])"
SHELL = r"[!%](?=\w)%?(?:env\s+)?"


@dataclass(frozen=True)
class Part:
    """What is read of a file as one text, under the path of a file of its kind."""

    path: str
    lines: tuple[tuple[int, str], ...]

    @property
    def text(self) -> str:
        """Return the lines without escapes."""
        return "\n".join(_unescape(line) for _, line in self.lines)

    @cached_property
    def _starts(self) -> list[int]:
        sizes = (len(_unescape(line)) + 1 for _, line in self.lines)
        return list(accumulate(sizes, initial=0))

    def place(self, offset: int) -> int:
        """Return the offset in the file of one in the text."""
        number = bisect_right(self._starts, offset, hi=len(self.lines)) - 1
        at, line = self.lines[number]
        return at + _place_in(line, offset - self._starts[number])


def read_parts(text: str, path: str) -> Iterator[Part]:
    """Yield the parts of a notebook: code with its output, prose, commands."""
    found: dict[str, list[tuple[int, str]]] = {path: [], f"{path}.md": [], f"{path}.sh": []}
    is_prose = False
    at = 0
    for line in text.split("\n"):
        if kind := compile_once(CELL_TYPE).match(line):
            is_prose = kind[1] == "markdown"
        if source := compile_once(SOURCE).fullmatch(line):
            command = compile_once(SHELL).match(source["line"])
            start = source.start("line") + (command.end() if command else 0)
            suffix = ".sh" if command else ""
            if is_prose:
                suffix = ".md"
            found[path + suffix].append((at + start, line[start : source.end("line")]))
        else:
            found[path].append((at, line))
        at += len(line) + 1
    for part_path, lines in found.items():
        if lines:
            yield Part(part_path, tuple(lines))


def _place_in(line: str, offset: int) -> int:
    """Return where in an escaped line a character of the line is."""
    for escape in compile_once(ESCAPE).finditer(line):
        if escape.start() >= offset:
            break
        offset += 1
    return offset


def _unescape(line: str) -> str:
    return compile_once(ESCAPE).sub(r"\1", line)
