"""A place in a text that is read as shell, and the errors on the way to it."""

import re
from collections.abc import Callable
from dataclasses import field

from cli_guard.commands.model import Span
from cli_guard.commands.parse.tree import Node, Redirect, Script
from cli_guard.lazy import dataclass, frozen

# A longer expression or pattern in brackets is an error.
LONGEST_EXPRESSION = 5_000


@frozen
class Grammar:
    """What reads the commands inside of words: functions of `syntax`, which reads words itself.

    `read_command` reads one command, the body of a function; `read_inner` the commands behind an opening parenthesis,
    up to the closing one; `read_apart` a text that was unquoted first, and so has offsets of its own.
    """

    read_command: "Callable[[Cursor], Node]"
    read_inner: "Callable[[Cursor], Script]"
    read_apart: "Callable[[Cursor, str, int], Script]"


@dataclass
class Cursor:
    """Reads at `at`. `errors` are the places that are no shell syntax; `base` is added to every offset.

    `pending` are the here-documents whose bodies begin at the next line end: delimiter, and whether it was quoted.
    """

    text: str
    grammar: Grammar
    at: int = 0
    base: int = 0
    depth: int = 0
    errors: list[Span] = field(default_factory=list)
    pending: list[tuple[Redirect, str, bool]] = field(default_factory=list)

    @property
    def at_end(self) -> bool:
        return self.at >= len(self.text)

    @property
    def char(self) -> str:
        """Return the next character, "" at the end."""
        return self.text[self.at : self.at + 1]

    def peek(self, count: int = 1, ahead: int = 0) -> str:
        return self.text[self.at + ahead : self.at + ahead + count]

    def has(self, start: str | tuple[str, ...], ahead: int = 0) -> bool:
        return self.text.startswith(start, self.at + ahead)

    def accept(self, text: str) -> bool:
        """Step behind a text if it is next; return whether it was."""
        found = self.has(text)
        self.at += len(text) if found else 0
        return found

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        return pattern.match(self.text, self.at)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Step behind what a pattern matches here."""
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def span(self, start: int) -> Span:
        """Return the span of what has been read from `start` on, without blanks behind it."""
        end = min(self.at, len(self.text))
        while end > start and self.text[end - 1] in " \t\n":
            end -= 1
        return Span(self.base + start, self.base + end)

    def fail(self, start: int) -> None:
        end = min(max(self.at, start + 1), len(self.text))
        self.errors.append(Span(self.base + min(start, end), self.base + end))

    def find_closing(self, start: int, brackets: str) -> int:
        """Return where the bracket that opens at `start` is closed, 0 if it is not."""
        depths = {brackets[0]: 1, brackets[1]: -1}
        depth = 0
        for at in range(start, min(len(self.text), start + LONGEST_EXPRESSION)):
            depth += depths.get(self.text[at], 0)
            if not depth:
                return at
        return 0

    def inside(self, text: str, start: int) -> "Cursor":
        """Return a cursor at the beginning of a part of the text; it shares the errors."""
        return Cursor(
            text, self.grammar, base=self.base + start, depth=self.depth, errors=self.errors
        )
