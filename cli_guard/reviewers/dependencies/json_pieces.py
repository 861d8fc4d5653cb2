"""Cut JSON lock files into entries. The parser of the standard library finds where each value ends."""

import json
import re
from collections.abc import Iterator
from typing import Any

from cli_guard.reviewers.commands.extract.snippet import LineNumbers
from cli_guard.reviewers.dependencies.pieces import (
    LockCut,
    LockPiece,
    Paths,
    UnreadableLock,
    unique,
)

BLANK = re.compile(r"[ \t\n\r]*")
# What bun writes beyond JSON: comments, and a comma behind the last member.
COMMENT = re.compile(r"""("(?>(?:[^"\\\n]|\\.)*)")|//[^\n]*+|/\*(?>(?:[^*]|\*(?!/))*)\*/""")
LAST_COMMA = re.compile(r"""("(?>(?:[^"\\\n]|\\.)*)")|,(?=\s*+[\]}])""")
VISIBLE = re.compile(r"[^\n]")
DECODER = json.JSONDecoder()
UNIQUE = json.JSONDecoder(object_pairs_hook=unique)


def cut_json(text: str, paths: Paths, has_comments: bool = False) -> LockCut:
    """Return the members of the tables at some paths, and the other keys of the root as data.

    Raises UnreadableLock for what the parser refuses, and for a key that stands twice on the way to the entries.
    """
    if has_comments:
        text = LAST_COMMA.sub(_blank, COMMENT.sub(_blank, text))
    cutter = _Cutter(text)
    try:
        start = cutter.skip_blanks(1 if text.startswith("\ufeff") else 0)
        end = cutter.descend(start, paths, ())
    except RecursionError as error:
        raise UnreadableLock("nested too deep") from error
    except ValueError as error:
        if isinstance(error, UnreadableLock):
            raise
        raise UnreadableLock("invalid JSON") from error
    if cutter.skip_blanks(end) != len(text):
        raise UnreadableLock("invalid JSON")
    return LockCut(tuple(cutter.pieces), cutter.head)


def parse_json(text: str) -> Any:
    """Return the value of one entry; raises UnreadableLock for a key that stands twice in one of its tables."""
    try:
        return UNIQUE.decode(text)
    except RecursionError as error:
        raise UnreadableLock("nested too deep") from error


def _blank(found: re.Match[str]) -> str:
    """Return a string as it is, anything else as blanks, so that every position stays."""
    return found[1] or VISIBLE.sub(" ", found[0])


class _Cutter:
    """The state of the cutting: the text, what was found in it, and where the value that was read last ends."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = LineNumbers(text)
        self.pieces: list[LockPiece] = []
        self.head: dict[str, Any] = {}
        self._end = 0

    def skip_blanks(self, at: int) -> int:
        found = BLANK.match(self.text, at)
        return found.end() if found else at

    def descend(self, at: int, paths: Paths, trail: tuple[str, ...]) -> int:
        """Read the value at an offset, whose members are entries or lead to them; return where it ends."""
        is_list = ("[]",) in paths
        if self.text[at : at + 1] != ("[" if is_list else "{"):
            raise UnreadableLock("of an unknown layout")
        if is_list or () in paths:
            return self._cut_members(at, "/".join(trail))
        seen: set[str] = set()
        for key, start in self._members(at):
            if key in seen:
                raise UnreadableLock("a key stands twice")
            seen.add(key)
            below = tuple(steps[1:] for steps in paths if steps[0] in ("*", key))
            if below:
                self._end = self.descend(start, below, (*trail, key))
            else:
                value, self._end = DECODER.raw_decode(self.text, start)
                if not trail:
                    self.head[key] = value
        return self._end

    def _cut_members(self, at: int, group: str) -> int:
        is_table = self.text[at] == "{"
        seen: set[str] = set()
        for key, start in self._members(at):
            if is_table and key in seen:
                raise UnreadableLock("an entry stands twice")
            seen.add(key)
            _, self._end = DECODER.raw_decode(self.text, start)
            line = self.lines.at(start)
            last = self.lines.at(self._end - 1)
            text = self.text[start : self._end]
            self.pieces.append(LockPiece(group, key, text, "json", line, last))
        return self._end

    def _members(self, at: int) -> Iterator[tuple[str, int]]:
        """Yield the key and the offset of each value; whoever reads it leaves its end in `_end`.

        At last `_end` is the end of the object or list itself.
        """
        text = self.text
        is_table = text[at] == "{"
        close = "}" if is_table else "]"
        at = self.skip_blanks(at + 1)
        if text[at : at + 1] == close:
            self._end = at + 1
            return
        while True:
            key = ""
            if is_table:
                if text[at : at + 1] != '"':
                    raise UnreadableLock("invalid JSON")
                key, at = DECODER.raw_decode(text, at)
                at = self.skip_blanks(at)
                if text[at : at + 1] != ":":
                    raise UnreadableLock("invalid JSON")
                at = self.skip_blanks(at + 1)
            yield key, at
            at = self.skip_blanks(self._end)
            mark = text[at : at + 1]
            if mark == close:
                self._end = at + 1
                return
            if mark != ",":
                raise UnreadableLock("invalid JSON")
            at = self.skip_blanks(at + 1)
