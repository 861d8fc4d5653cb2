"""The tests in a test file: their names as their runner takes them, and the lines they stand on."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cli_guard.code.symbols import Symbol, symbols_of
from cli_guard.code.syntax import LANGUAGES, Trees
from cli_guard.code.test_files import runner_language

# A larger file is not parsed: its tests stay unnamed.
FILE_CHARS = 200_000
MOST_CASES = 2_000
SCRIPT_CASE = re.compile(
    r"^[ \t]*(?:await )?(?P<kind>describe|context|suite|it|test|specify|Deno\.test|t\.test)"
    r"(?:\.(?:only|skip|todo|each|concurrent|failing)\b(?:\([^()\n]*\)|`[^`]*`)?)?"
    r"\s*\(\s*(?P<quote>[\"'`])(?P<name>(?:\\.|(?!(?P=quote))[^\\\n])*)(?P=quote)",
    re.MULTILINE,
)
RUST_CASE = re.compile(
    r"#\[(?:\w+::)*test\b[^\]]{0,200}\](?:\s*#\[[^\]]{0,300}\]){0,10}\s*(?:pub\s+)?(?:async\s+)?fn\s+(\w+)"
)
RUBY_CASE = re.compile(
    r"^[ \t]*(?:(?:it|specify|test|scenario)[ (]+([\"'])(?P<name>(?:(?!\1).)*)\1|def (?P<method>test_\w+))",
    re.MULTILINE,
)
PHP_CASE = re.compile(r"\bfunction[ \t]+(?P<name>\w+)[ \t]*\(")
CSHARP_CASE = re.compile(
    r"\[(?:Fact|Theory|Test|TestCase|TestMethod)\b[^\]]{0,300}\](?:\s*\[[^\]]{0,300}\]){0,10}\s*(?:public\s+)?(?:async\s+)?[\w<>.]+\s+(?P<name>\w+)\s*\("
)
ELIXIR_CASE = re.compile(r"^[ \t]*test[ \t(]+\"(?P<name>[^\"\n]+)\"", re.MULTILINE)
KOTLIN_CASE = re.compile(r"@Test\b[^{]{0,300}?\bfun\s+(?P<name>\w+|`[^`]+`)")


@dataclass(frozen=True, slots=True)
class Case:
    """One test: its name within the file (`TestClass::test_it`), and its first and last line."""

    name: str
    line: int
    end_line: int


class Cases:
    """The tests of each file, found once."""

    def __init__(self, texts: Mapping[str, str], trees: Trees | None = None) -> None:
        self.texts = texts
        self.trees = trees or Trees()
        self._found: dict[str, tuple[Case, ...]] = {}

    def of(self, path: str) -> tuple[Case, ...]:
        """The tests of a file, in order; none of a file that is too large or is not there."""
        if path not in self._found:
            text = self.texts.get(path, "")
            found = (
                sorted(self._cases(path, text), key=lambda case: case.line) if len(text) <= FILE_CHARS else []
            )
            self._found[path] = tuple(found[:MOST_CASES])
        return self._found[path]

    def _cases(self, path: str, text: str) -> Iterator[Case]:
        language = runner_language(path)
        if language == "python":
            yield from _python(symbols_of(self.trees, "python", text))
        elif language == "javascript":
            yield from _by_pattern(text, SCRIPT_CASE, skip=("describe", "context", "suite"))
        elif language == "go":
            for symbol in symbols_of(self.trees, "go", text):
                if symbol.kind == "function" and re.match(
                    r"(?:Test|Fuzz|Example|Benchmark)(?![a-z])", symbol.name
                ):
                    yield Case(symbol.name, symbol.line, symbol.end_line)
        elif path.endswith(".java"):
            for symbol in symbols_of(self.trees, LANGUAGES[".java"], text):
                if {"Test", "ParameterizedTest", "RepeatedTest", "TestFactory"} & set(symbol.decorators) or (
                    symbol.kind == "method" and re.match(r"test[A-Z]", symbol.name)
                ):
                    yield Case(symbol.qualname.replace(".", "::"), symbol.line, symbol.end_line)
        else:
            patterns = {
                "rust": RUST_CASE,
                "ruby": RUBY_CASE,
                "csharp": CSHARP_CASE,
                "elixir": ELIXIR_CASE,
                "java": KOTLIN_CASE,
            }
            if language == "php":
                yield from (case for case in _by_pattern(text, PHP_CASE) if case.name.startswith("test"))
            elif language in patterns:
                yield from _by_pattern(text, patterns[language])


def _python(symbols: tuple[Symbol, ...]) -> Iterator[Case]:
    """What pytest and unittest take by default: functions test*, and methods test* of classes that are for tests."""
    for symbol in symbols:
        if not symbol.is_function or not symbol.name.startswith("test"):
            continue
        owners = symbol.qualname.split(".")[:-1]
        if symbol.kind == "function" and owners:
            continue
        yield Case("::".join([*owners, symbol.name]), symbol.line, symbol.end_line)


def _by_pattern(text: str, pattern: re.Pattern[str], skip: tuple[str, ...] = ()) -> Iterator[Case]:
    starts = []
    line, position = 1, 0
    for found in pattern.finditer(text):
        line += text.count("\n", position, found.start())
        position = found.start()
        groups = found.groupdict()
        if groups.get("kind") in skip:
            continue
        name = groups.get("name") or groups.get("method") or (found[1] if not groups else "")
        first = line + found[0].count("\n", 0, len(found[0]) - len(found[0].lstrip()))
        starts.append((name, first))
        if len(starts) >= MOST_CASES:
            break
    last = text.count("\n") + 1
    ends = [start - 1 for _, start in starts[1:]] + [last]
    for (name, start), end in zip(starts, ends, strict=False):
        yield Case(name, start, max(start, end))


def mentioning(text: str, cases: tuple[Case, ...], words: frozenset[str]) -> tuple[Case, ...]:
    """Those of the tests in whose lines one of the words stands."""
    if not words or not cases:
        return ()
    pattern = re.compile(r"\b(?:" + "|".join(re.escape(word) for word in sorted(words)[:300]) + r")\b")
    lines = text.split("\n")
    return tuple(case for case in cases if pattern.search("\n".join(lines[case.line - 1 : case.end_line])))
