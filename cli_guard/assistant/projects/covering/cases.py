"""The tests in a Python test file: their names as their runner takes them, and the lines they are on."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cli_guard.code.symbols import symbols_of
from cli_guard.code.syntax import Trees

# A larger file is not parsed: its tests stay unnamed.
FILE_CHARS = 200_000
MOST_CASES, MOST_WORDS = 2_000, 300


@dataclass(frozen=True, slots=True)
class Case:
    """One test: its name within the file (`TestClass::test_it`), and its first and last line."""

    name: str
    line: int
    end_line: int


class Cases:
    """The tests of each Python file of a repository (path -> text), found once."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self.trees = Trees()
        self._found: dict[str, tuple[Case, ...]] = {}

    def of(self, path: str) -> tuple[Case, ...]:
        """The tests of a file, in order; none of a file that is too large, is not there or is not Python."""
        if path not in self._found:
            text = self.texts.get(path, "") if path.endswith(".py") else ""
            found = sorted(self._find(text), key=lambda case: case.line) if len(text) <= FILE_CHARS else []
            self._found[path] = tuple(found[:MOST_CASES])
        return self._found[path]

    def _find(self, text: str) -> Iterator[Case]:
        for symbol in symbols_of(self.trees, "python", text):
            is_nested = symbol.kind == "function" and "." in symbol.qualname
            if symbol.is_function and symbol.name.startswith("test") and not is_nested:
                yield Case(symbol.qualname.replace(".", "::"), symbol.line, symbol.end_line)

    def cases_with(self, path: str, words: frozenset[str]) -> tuple[Case, ...]:
        """Those of the tests of a file in whose lines there is one of the words."""
        if not words or not self.of(path):
            return ()
        found = re.compile(r"\b(?:" + "|".join(map(re.escape, sorted(words)[:MOST_WORDS])) + r")\b")
        lines = self.texts[path].split("\n")
        return tuple(
            case for case in self.of(path) if found.search("\n".join(lines[case.line - 1 : case.end_line]))
        )
