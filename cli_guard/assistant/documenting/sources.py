"""One source file as it is documented: its language, its symbols, its lines; and what cannot be read, and why."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from cli_guard.code.symbols import LANGUAGES as READ
from cli_guard.code.symbols import Symbol, symbols_of, unreadable
from cli_guard.code.syntax import LANGUAGES as BY_SUFFIX
from cli_guard.code.syntax import Trees
from cli_guard.model import Skipped

LANGUAGES = {suffix: name for suffix, name in BY_SUFFIX.items() if name in READ} | {".rs": "rust"}
FILE_CHARS = 1_000_000


@dataclass(frozen=True)
class Source:
    """A file in a language that is documented here."""

    path: str
    language: str
    text: str
    trees: Trees
    symbols: tuple[Symbol, ...]

    @cached_property
    def lines(self) -> list[str]:
        """The lines without LF; a CR stays at the end of its line."""
        return self.text.split("\n")

    @property
    def end(self) -> str:
        """What ends a line of this file before its LF."""
        return "\r" if self.lines[0].endswith("\r") else ""


def read_source(path: str, text: str, trees: Trees) -> Source | Skipped:
    """The symbols of a file, or why it has none to give."""
    language = LANGUAGES[PurePosixPath(path).suffix]
    reason = unreadable(path, text, FILE_CHARS)
    if reason:
        return Skipped(path, reason, by_limit="longer" in reason)
    if "\r" in text.replace("\r\n", "") or "\0" in text or "\f" in text.replace("\n\f\n", "\n"):
        return Skipped(path, "its lines end in a way that is not written here")
    if language == "python" and broken(trees, language, text):
        return Skipped(path, "it does not parse: mend the syntax first")
    return Source(path, language, text, trees, symbols_of(trees, language, text))


def broken(trees: Trees, language: str, text: str) -> int:
    """How many places of a text the parser cannot read."""
    root = trees.root(language, text)
    return len(root.find_all(kind="ERROR")) + (root.kind() == "ERROR")
