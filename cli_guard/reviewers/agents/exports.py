"""The variables that a script of the shell gives to all programs after it, as direnv takes them over."""

import re
from collections.abc import Iterator

from cli_guard.commands.parse.syntax import parse
from cli_guard.commands.parse.tree import ParsedCommand
from cli_guard.commands.plain import children_of
from cli_guard.lazy import frozen

# What sets variables, some of it with an option.
SETTERS = frozenset(("export", "declare", "typeset"))
NAME = re.compile(r"(?P<name>[A-Za-z_]\w*)\+?=(?P<value>.*)", re.DOTALL)
QUOTES = str.maketrans("", "", "\"'")
MOST = 1_000


@frozen
class Export:
    """One variable with its value as written, without quotes, and its line."""

    name: str
    value: str
    line: int


def exports_in(text: str) -> Iterator[Export]:
    """Yield the variables that a script exports, in conditions and functions too, in its order."""
    waiting: list[object] = [parse(text).items]
    found = 0
    while waiting and found < MOST:
        node = waiting.pop()
        if not isinstance(node, ParsedCommand):
            waiting += reversed(children_of(node))
            continue
        words = [text[each.span.start : each.span.end] for each in node.words]
        if not is_export(words):
            continue
        for word, written in zip(node.words, words, strict=True):
            given = NAME.fullmatch(written)
            if given:
                found += 1
                line = text.count("\n", 0, word.span.start) + 1
                yield Export(given["name"], given["value"].translate(QUOTES), line)


def is_export(words: list[str]) -> bool:
    """Return whether the words of a command make variables that other programs get."""
    if not words or words[0] not in SETTERS:
        return False
    options = [each for each in words[1:] if each.startswith("-")]
    return words[0] == "export" or any("x" in each for each in options)
