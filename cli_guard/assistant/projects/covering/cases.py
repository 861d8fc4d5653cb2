"""The tests in a test file: their names as their runner takes them, and the lines they are on."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cli_guard.code.symbols import Symbol, symbols_of
from cli_guard.code.syntax import Trees
from cli_guard.code.test_files import runner_language

# A larger file is not parsed: its tests stay unnamed.
FILE_CHARS = 200_000
MOST_CASES, MOST_WORDS = 2_000, 300
GO_TEST = re.compile(r"(?:Test|Fuzz|Example|Benchmark)(?![a-z])")
JAVA_TESTS = frozenset({"Test", "ParameterizedTest", "RepeatedTest", "TestFactory"})
SCRIPT_TEST = re.compile(
    r"^[ \t]*(?:await )?(?:it|test|specify|t\.test)"
    r"(?:\.(?:only|skip|todo|each|concurrent|failing)\b(?:\([^()\n]*\)|`[^`]*`)?)?"
    r"\s*\(\s*(?P<quote>[\"'`])(?P<name>(?:\\.|(?!(?P=quote))[^\\\n])*)(?P=quote)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Case:
    """One test: its name within the file (`TestClass::test_it`), and its first and last line."""

    name: str
    line: int
    end_line: int


class Cases:
    """The tests of each file of a repository (path -> text), found once."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self.trees = Trees()
        self._found: dict[str, tuple[Case, ...]] = {}

    def of(self, path: str) -> tuple[Case, ...]:
        """The tests of a file, in order; none of a file that is too large or is not there."""
        if path not in self._found:
            text = self.texts.get(path, "")
            found = (
                sorted(self._find(path, text), key=lambda case: case.line) if len(text) <= FILE_CHARS else []
            )
            self._found[path] = tuple(found[:MOST_CASES])
        return self._found[path]

    def _find(self, path: str, text: str) -> Iterator[Case]:
        language = runner_language(path)
        if language in ("python", "go") or path.endswith(".java"):
            for symbol in symbols_of(self.trees, language or "java", text):
                if _is_case(symbol, language or ""):
                    yield Case(symbol.qualname.replace(".", "::"), symbol.line, symbol.end_line)
        elif language == "javascript":
            yield from _find_script_tests(text)

    def cases_with(self, path: str, words: frozenset[str]) -> tuple[Case, ...]:
        """Those of the tests of a file in whose lines there is one of the words."""
        if not words or not self.of(path):
            return ()
        found = re.compile(r"\b(?:" + "|".join(map(re.escape, sorted(words)[:MOST_WORDS])) + r")\b")
        lines = self.texts[path].split("\n")
        return tuple(
            case for case in self.of(path) if found.search("\n".join(lines[case.line - 1 : case.end_line]))
        )


def _is_case(symbol: Symbol, language: str) -> bool:
    """Does the runner take it by default: in Python functions test*, and methods test* of classes?"""
    if language == "go":
        return symbol.kind == "function" and bool(GO_TEST.match(symbol.name))
    if language == "java":
        named = symbol.kind == "method" and re.match(r"test[A-Z]", symbol.name)
        return bool(named) or not JAVA_TESTS.isdisjoint(symbol.decorators)
    is_nested = symbol.kind == "function" and "." in symbol.qualname
    return symbol.is_function and symbol.name.startswith("test") and not is_nested


def _find_script_tests(text: str) -> Iterator[Case]:
    """The tests of JavaScript; each ends where the next begins."""
    starts = []
    line, position = 1, 0
    for found in SCRIPT_TEST.finditer(text):
        line += text.count("\n", position, found.start("name"))
        position = found.start("name")
        starts.append((found["name"], line))
        if len(starts) >= MOST_CASES:
            break
    ends = [start - 1 for _, start in starts[1:]] + [text.count("\n") + 1]
    for (name, start), end in zip(starts, ends, strict=False):
        yield Case(name, start, max(start, end))
