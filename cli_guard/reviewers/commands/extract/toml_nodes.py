"""Read TOML into nodes. The standard parser gives no line numbers and stops at the first error."""

import re
import tomllib
from collections.abc import Callable

from cli_guard.reviewers.commands.extract.nodes import (
    MOST_NODES,
    Document,
    Items,
    Node,
    Scalar,
    Table,
    align_lines,
)
from cli_guard.reviewers.commands.extract.snippet import LineNumbers, Pieces

KEY = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
KEYS = rf"{KEY}(?:[ \t]*\.[ \t]*{KEY})*"
HEADER = re.compile(
    rf"[ \t]*(\[\[?)[ \t]*({KEYS})[ \t]*\]\]?[ \t]*(?:#[^\n]*)?(?=\n|\r|\Z)"
)
PAIR = re.compile(rf"[ \t]*({KEYS})[ \t]*=[ \t]*")
ONE_KEY = re.compile(KEY)
BLANK = re.compile(r"(?:\s+|#[^\n]*)+")
STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}'
    r"|'''(?:[^']|'{1,2}(?!'))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
PLAIN = re.compile(r"\d{4}-\d\d-\d\d[ ]\d\d:[^\s,\]}#]+|[^\s,\]}#\"'\[{=]+")
DEEPEST = 50


class _Broken(ValueError):
    """The text from this offset on cannot be read."""


def read_toml(path: str, text: str) -> Document:
    """Read the table of a TOML file, up to the first error."""
    reader = _Reader(text)
    root = Table()
    try:
        reader.read(root)
    except _Broken:
        return Document(path, (root,), f"invalid TOML at line {reader.line()}")
    return Document(path, (root,))


class _Reader:
    """The state of the reader."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith("\ufeff") else 0
        self.count = 0
        self.known: dict[tuple[int, str], Node] = {}
        self.lines = LineNumbers(text)

    def line(self) -> int:
        return self.lines.at(self.at)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match and consume a pattern."""
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def read(self, root: Table) -> None:
        table = root
        while self.at < len(self.text):
            if self.take(BLANK):
                continue
            header = self.take(HEADER)
            if header:
                names = _names(header[2])
                if header[1] == "[":
                    table = self.below(root, names)
                else:
                    table = self.one_more(self.below(root, names[:-1]), names[-1])
                continue
            self.pair(table, 0)

    def pair(self, table: Table, depth: int) -> None:
        key = self.take(PAIR)
        if key is None:
            raise _Broken
        *above, last = _names(key[1])
        self.put(self.below(table, above), last, self.value(depth))

    def value(self, depth: int) -> Node:
        self.count += 1
        if depth > DEEPEST or self.count > MOST_NODES:
            raise _Broken
        line = self.line()
        string = self.take(STRING)
        if string:
            return Scalar(_pieces(string[0], line))
        character = self.text[self.at : self.at + 1]
        if character == "[":
            items = Items()
            self.inside("]", lambda: items.nodes.append(self.value(depth + 1)))
            return items
        if character == "{":
            table = Table()
            self.inside("}", lambda: self.pair(table, depth + 1))
            return table
        plain = self.take(PLAIN)
        if plain is None:
            raise _Broken
        return Scalar(((line, plain[0]),))

    def inside(self, end: str, one: Callable[[], None]) -> None:
        """Yield the items between brackets, separated by commas."""
        self.at += 1
        while True:
            self.take(BLANK)
            character = self.text[self.at : self.at + 1]
            if character == end:
                self.at += 1
                return
            if character == ",":
                self.at += 1
            else:
                one()

    def put(self, table: Table, name: str, node: Node) -> None:
        """Put a node into a table; of two with the same name the first counts."""
        table.pairs.append((name, node))
        self.known.setdefault((id(table), name), node)

    def below(self, table: Table, names: list[str]) -> Table:
        """Return the table at a path of names; of a list of tables the last one."""
        for name in names:
            found = self.known.get((id(table), name))
            if isinstance(found, Items) and found.nodes:
                found = found.nodes[-1]
            if not isinstance(found, Table):
                self.put(table, name, found := Table())
            table = found
        return table

    def one_more(self, table: Table, name: str) -> Table:
        found = self.known.get((id(table), name))
        if not isinstance(found, Items):
            self.put(table, name, found := Items())
        found.nodes.append(fresh := Table())
        return fresh


def _names(keys: str) -> list[str]:
    return [_unquote(key[0]) for key in ONE_KEY.finditer(keys)]


def _unquote(token: str) -> str:
    if token[:1] not in ("'", '"'):
        return token
    try:
        value = tomllib.loads(f"x = {token}")["x"]
    except ValueError:
        return token.strip("'\"")
    return value if isinstance(value, str) else token


def _pieces(token: str, line: int) -> Pieces:
    value = _unquote(token)
    if "\n" not in token:
        return ((line, value),)
    inner = token[3:-3]
    raw = (_raw_line(each, token[0]) for each in inner.split("\n"))
    return align_lines(value, enumerate(raw, line))


def _raw_line(text: str, quote: str) -> str:
    return (
        text
        if quote == "'"
        else _unquote('"""' + text.rstrip("\r").removesuffix("\\") + '"""')
    )
