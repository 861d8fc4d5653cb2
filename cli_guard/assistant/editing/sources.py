"""The texts a plan is made from: which may be looked at, their languages and trees, within bounds and a deadline."""

import bisect
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from cli_guard.code.languages import GRAMMARS, language_of
from cli_guard.code.syntax import Trees
from cli_guard.model import Skipped

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# The most places of one name, or calls, that are looked at in one file.
PLACES = 20_000
# The way up from a node costs its depth at each step.
DEEPEST = 400
# A longer file is data or generated: its names are listed as text, its tree is not made.
PARSED_CHARS = 1_000_000
DOCUMENTATION = frozenset({".md", ".rst", ".txt", ".adoc", ".mdx", ""})
CONFIGURATION = frozenset(
    {
        ".toml",
        ".cfg",
        ".ini",
        ".json",
        ".yml",
        ".yaml",
        ".xml",
        ".properties",
        ".gradle",
        ".kts",
        ".lock",
        ".mod",
    }
)
SCRIPT_LANGUAGES = ("javascript", "typescript", "tsx")
# Languages that `cli_guard.code.syntax` has a grammar of and no ending for.
MORE_LANGUAGES = {".rs": "rust"}
LINE_END = re.compile("\n")


class Sources:
    """The files of one request. Raises nothing: what cannot be read is in `skipped`."""

    def __init__(
        self, texts: Mapping[str, str], allowed: Collection[str] | None = None, seconds: float = 10.0
    ) -> None:
        patterns = None if allowed is None else sorted(allowed)
        exact = None if patterns is None else frozenset(patterns)
        self.texts = {
            path: texts[path]
            for path in sorted(texts)
            if exact is None or path in exact or any(within(path, pattern) for pattern in patterns or ())
        }
        self.trees = Trees()
        self._skipped: dict[str, Skipped] = {}
        self._line_starts: dict[str, list[int]] = {}
        self._end = time.monotonic() + seconds
        self._seconds = seconds
        self._late: set[str] = set()

    def over(self, texts: Mapping[str, str]) -> "Sources":
        """Other texts within the same request: what time is left is theirs too, and trees are made once."""
        other = Sources(texts)
        other.trees, other._end, other._seconds = self.trees, self._end, self._seconds
        other._skipped, other._late = self._skipped, self._late
        return other

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What was not looked at, and why, by path."""
        return tuple(self._skipped[path] for path in sorted(self._skipped))

    def skip(self, path: str, reason: str) -> None:
        """Notes a file that was left out by a bound."""
        self._skipped.setdefault(path, Skipped(path, reason, by_limit=True))

    @property
    def cut(self) -> bool:
        """Did the deadline leave something out?"""
        return bool(self._late)

    def in_time(self, path: str) -> bool:
        """Is there time left to look at a file? If not, it is named as left out."""
        if time.monotonic() <= self._end:
            return True
        self._late.add(path)
        self.skip(path, f"not looked at within {self._seconds:g} seconds")
        return False

    def some(self, path: str, nodes: "Iterable[SgNode]") -> "Iterator[SgNode]":
        """The nodes of one file, as far as time and a bound go: where one stands is counted from the line's begin."""
        for number, node in enumerate(nodes):
            if number >= PLACES:
                self.skip(path, f"more than {PLACES:,} places in it were to be looked at")
                return
            if number % 32 == 0 and not self.in_time(path):
                return
            yield node

    def bounded(self, path: str, nodes: "Iterable[SgNode]") -> "Iterator[SgNode]":
        """The same for nodes whose surroundings count: a node's parent is searched from the root each time."""
        for node in self.some(path, nodes):
            if len(node.ancestors()) > DEEPEST:
                self.skip(path, "nested too deeply to tell the scopes of its names apart")
                return
            yield node

    def mentioning(self, word: str, language: str | None = None) -> Iterator[str]:
        """The paths whose text holds `word`, in order; of one language if named."""
        for path, text in self.texts.items():
            if word in text and (language is None or self.language(path) == language) and self.in_time(path):
                yield path

    def language(self, path: str) -> str | None:
        """The grammar of a file; None for one that is not parsed."""
        found = MORE_LANGUAGES.get(PurePosixPath(path).suffix.lower())
        if found is None:
            found = language_of(path, self.texts.get(path, "")[:120].split("\n", 1)[0])
        return found if found in GRAMMARS else None

    def root(self, path: str) -> "SgNode | None":
        """The syntax tree of a file; None if it has no grammar, is too long or nests too deep for it."""
        language = self.language(path)
        if language is None:
            return None
        if len(self.texts[path]) > PARSED_CHARS:
            self.skip(path, f"longer than {PARSED_CHARS:,} characters: its syntax was not read")
            return None
        try:
            return self.trees.root(language, self.texts[path])
        except ValueError:
            self.skip(path, "nested too deeply for its grammar: its syntax was not read")
            return None

    def line(self, path: str, position: int) -> int:
        """The line, from 1, that a position is on."""
        return bisect.bisect_right(self._starts(path), position)

    def line_text(self, path: str, number: int) -> str:
        """The text of a line, its end not included."""
        starts, text = self._starts(path), self.texts[path]
        if not 1 <= number <= len(starts):
            return ""
        end = starts[number] - 1 if number < len(starts) else len(text)
        return text[starts[number - 1] : end]

    def line_start(self, path: str, number: int) -> int:
        """The position where a line begins; the end of the text for a line beyond it."""
        starts = self._starts(path)
        return starts[number - 1] if number <= len(starts) else len(self.texts[path])

    def _starts(self, path: str) -> list[int]:
        if path not in self._line_starts:
            self._line_starts[path] = [0, *(m.end() for m in LINE_END.finditer(self.texts[path]))]
        return self._line_starts[path]


def within(path: str, pattern: str) -> bool:
    """Is a path what a pattern names: itself, a folder above it, or a glob?"""
    return path.startswith(pattern.rstrip("/") + "/") or ("*" in pattern and fnmatchcase(path, pattern))


def is_configuration(path: str) -> bool:
    """Does the name say that a file configures something?"""
    return PurePosixPath(path).suffix.lower() in CONFIGURATION


def is_documentation(path: str) -> bool:
    """Does the name say that a file is prose?"""
    return PurePosixPath(path).suffix.lower() in DOCUMENTATION
