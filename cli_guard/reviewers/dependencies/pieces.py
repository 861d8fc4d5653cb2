"""The pieces of a lock file: one entry each, as text with its place, parsed only where two sides differ.

JSON is cut by the parser of the standard library, which finds where each value ends; TOML at the lines that begin a
table: without multi-line strings a line begins outside of every string, and where the brackets of all lines before it
are even, outside of every list. Any other TOML file is parsed as a whole.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from cli_guard.lazy import frozen
from cli_guard.reviewers.commands.extract.snippet import LineNumbers

# The keys on the way to the entries: `*` is any key; at the end, `[]` is the items of a list in JSON.
Paths = tuple[tuple[str, ...], ...]
# What is before a value of valid JSON: a comma, and its key in an object.
BEFORE_VALUE = re.compile(r'[\s,]*+(?:(?P<key>"(?>(?:[^"\\]|\\.)*)")\s*+:\s*+)?')
# What bun writes beyond JSON: comments, and a comma behind the last member.
COMMENT = re.compile(r"""("(?>(?:[^"\\\n]|\\.)*)")|//[^\n]*+|/\*(?>(?:[^*]|\*(?!/))*)\*/""")
LAST_COMMA = re.compile(r"""("(?>(?:[^"\\\n]|\\.)*)")|,(?=\s*+[\]}])""")
VISIBLE = re.compile(r"[^\n]")
DECODER = json.JSONDecoder()
STRING_OR_COMMENT = re.compile(r'"(?>(?:[^"\\\n]|\\.)*)"|\'[^\'\n]*+\'|#[^\n]*+')


class UnreadableLock(ValueError):
    """Why a lock file, or one entry of it, cannot be read."""


@frozen
class LockPiece:
    """One entry on the lines `line` to `last`: the key that it has in its group, and its text.

    `form` is the syntax of the text; what was read as a whole is JSON.
    """

    group: str
    key: str
    text: str
    form: str
    line: int
    last: int

    @property
    def identity(self) -> tuple[str, str, str]:
        """Return what makes it the same piece before and after, wherever it stands."""
        return self.group, self.key, self.text


@frozen
class LockCut:
    """A lock file in pieces. `head` is the rest of it, as data."""

    pieces: tuple[LockPiece, ...] = ()
    head: Mapping[str, Any] = field(default_factory=dict)


def unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs of an object; raises UnreadableLock for a key that stands twice."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise UnreadableLock("a key stands twice in one entry")
        found[key] = value
    return found


def cut_json(text: str, paths: Paths, has_comments: bool = False) -> LockCut:
    """Return the members of the tables at some paths, and the other keys of the root as data.

    Raises UnreadableLock for what the parser refuses, and for a key that stands twice on the way to the entries.
    """
    if has_comments:
        text = LAST_COMMA.sub(_blank, COMMENT.sub(_blank, text))
    text = text.removeprefix("\ufeff")
    try:
        json.loads(text)
    except RecursionError as error:
        raise UnreadableLock("nested too deep") from error
    except ValueError as error:
        raise UnreadableLock("invalid JSON") from error
    cutter = _Cutter(text)
    cutter.descend(len(text) - len(text.lstrip()), paths, ())
    return LockCut(tuple(cutter.pieces), cutter.head)


def parse_json(text: str) -> Any:
    """Return the value of one entry; raises UnreadableLock for a key that stands twice in one of its tables."""
    try:
        return json.loads(text, object_pairs_hook=unique)
    except RecursionError as error:
        raise UnreadableLock("nested too deep") from error


def _blank(found: re.Match[str]) -> str:
    """Return a string as it is, anything else as blanks, so that every position stays."""
    return found[1] or VISIBLE.sub(" ", found[0])


class _Cutter:
    """The state of the cutting of valid JSON: what was found, and where the value that was read last ends."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = LineNumbers(text)
        self.pieces: list[LockPiece] = []
        self.head: dict[str, Any] = {}
        self._end = 0

    def descend(self, at: int, paths: Paths, trail: tuple[str, ...]) -> None:
        """Read the value at an offset, whose members are entries or lead to them."""
        is_list = ("[]",) in paths
        if self.text[at] != ("[" if is_list else "{"):
            raise UnreadableLock("of an unknown layout")
        is_group = is_list or () in paths
        for key, start in self._members(at):
            below = tuple(steps[1:] for steps in paths if steps and steps[0] in ("*", key))
            if below and not is_group:
                self.descend(start, below, (*trail, key))
                continue
            value, self._end = DECODER.raw_decode(self.text, start)
            if is_group:
                self._add("/".join(trail), key, start)
            elif not trail:
                self.head[key] = value

    def _add(self, group: str, key: str, start: int) -> None:
        line = self.lines.at(start)
        last = self.lines.at(self._end - 1)
        text = self.text[start : self._end]
        self.pieces.append(LockPiece(group, key, text, "json", line, last))

    def _members(self, at: int) -> Iterator[tuple[str, int]]:
        """Yield the key and the offset of each value; whoever reads it leaves its end in `_end`.

        At last `_end` is the end of the object or list itself.
        """
        seen: set[str] = set()
        self._end = at + 1
        while found := BEFORE_VALUE.match(self.text, self._end):
            if self.text[found.end()] in "]}":
                self._end = found.end() + 1
                return
            key = json.loads(found["key"] or '""')
            if found["key"] and key in seen:
                raise UnreadableLock("a key stands twice")
            seen.add(key)
            yield key, found.end()


def cut_toml(text: str, names: tuple[str, ...]) -> LockCut:
    """Return each table of the lists with some names; raises UnreadableLock for what is no TOML."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    parts = _parts(text)
    if parts is None:
        return _cut_whole(text, names)
    rest: list[str] = []
    pieces: dict[int, tuple[str, list[str], int]] = {}
    last: dict[str, int] = {}
    for number, (line, part) in enumerate(parts):
        is_list, keys = _keys_of(part)
        name = keys[0] if keys else ""
        if is_list and len(keys) == 1 and name in names:
            last[name] = number
            pieces[number] = (name, [part], line)
        elif name in last:
            # A table below an entry is part of the last one, wherever it stands.
            pieces[last[name]][1].append(part)
        else:
            rest.append(part)
    head = parse_toml("".join(rest))
    if not set(names).isdisjoint(head):
        return _cut_whole(text, names)
    return LockCut(
        tuple(
            LockPiece(
                name, "", text := "".join(found), "toml", line, _last_line(line, text)
            )
            for name, found, line in pieces.values()
        ),
        head,
    )


def parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableLock("invalid TOML") from error


def _parts(text: str) -> list[tuple[int, str]] | None:
    """Return the text up to the first table and each table, with their first lines; None if it must be read whole."""
    if '"""' in text or "'''" in text or "\r" in text:
        return None
    bare = STRING_OR_COMMENT.sub("", text).split("\n")
    lines = text.split("\n")
    starts = [0, *(at for at, line in enumerate(bare) if line.lstrip().startswith("["))]
    parts = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        skeleton = "".join(bare[start:end])
        if skeleton.count("[") != skeleton.count("]"):
            return None
        if skeleton.count("{") != skeleton.count("}"):
            return None
        parts.append((start + 1, "\n".join(lines[start:end]) + "\n"))
    return parts


def _keys_of(part: str) -> tuple[bool, list[str]]:
    """Return whether a part is one of a list of tables, and the keys of its head; none if it has no head."""
    line = part.partition("\n")[0].strip()
    if not line.startswith("["):
        return False, []
    table: Any = parse_toml(line)
    keys = []
    while isinstance(table, dict) and table:
        key, table = next(iter(table.items()))
        keys.append(key)
        if isinstance(table, list):
            return True, keys
    return False, keys


def _last_line(line: int, text: str) -> int:
    return line + text.rstrip().count("\n")


def _cut_whole(text: str, names: tuple[str, ...]) -> LockCut:
    data = parse_toml(text)
    head = {key: data[key] for key in data if key not in names}
    pieces = tuple(
        LockPiece(name, "", json.dumps(each, default=str), "json", 1, 1)
        for name in names
        for each in data.get(name, ())
    )
    return LockCut(pieces, head)
