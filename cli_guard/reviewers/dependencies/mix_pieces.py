"""Cut mix.lock into entries, and read one.

Mix evaluates the file as Elixir. It writes a map of literals, and only that is read here: anything else could run code.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from cli_guard.reviewers.commands.extract.snippet import LineNumbers
from cli_guard.reviewers.dependencies.lock_entries import Data, entry
from cli_guard.reviewers.dependencies.pieces import LockCut, LockPiece, UnreadableLock
from cli_guard.reviewers.dependencies.reading import Dependency

BLANK = re.compile(r"(?>(?:\s|#[^\n]*+)*)")
# A string with an escape or with `#{` is not as it is written.
STRING = r'"(?>(?:[^"\\#]|#(?!\{))*)"'
TOKEN = re.compile(
    rf"(?P<key>(?:{STRING}|[a-z_]\w*+[?!]?):)(?=\s)|(?P<string>{STRING})"
    rf"|(?P<atom>:(?:{STRING}|[A-Za-z_]\w*+[?!]?)|(?:true|false|nil|\d++)\b)"
    r"|(?P<mark>%\{|[{}\[\],])"
)
CLOSING = {"%{": "}", "{": "}", "[": "]"}


def cut_mix(text: str) -> LockCut:
    """Return each member of the map; raises UnreadableLock for anything but literals."""
    text = text.removeprefix("\ufeff")
    reader = _Reader(text)
    try:
        reader.expect("%{")
        pieces = tuple(reader.read_members(LineNumbers(text)))
    except RecursionError as error:
        raise UnreadableLock("nested too deep") from error
    if reader.at != len(text):
        raise UnreadableLock("of an unknown layout")
    return LockCut(pieces)


class _Reader:
    """A text of literals, and how far it has been read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        # Where the last token ends, before the blanks behind it.
        self.end = 0
        self.skip_blanks()

    def skip_blanks(self) -> None:
        found = BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def take(self) -> tuple[str, str]:
        """Return the kind and the text of the next token."""
        found = TOKEN.match(self.text, self.at)
        if found is None or found.lastgroup is None:
            raise UnreadableLock("it has more than literals")
        self.end = found.end()
        self.at = self.end
        self.skip_blanks()
        return found.lastgroup, found[0]

    def expect(self, mark: str) -> None:
        if self.take()[1] != mark:
            raise UnreadableLock("of an unknown layout")

    def has_next(self, closing: str) -> bool:
        """Return whether another member follows, behind a comma or an opening; take what closes the list."""
        if self.text.startswith(closing, self.at):
            self.take()
            return False
        return True

    def read_members(self, lines: LineNumbers) -> Iterator[LockPiece]:
        seen: set[str] = set()
        while self.has_next("}"):
            line = lines.at(self.at)
            kind, key = self.take()
            if kind != "key" or key in seen:
                raise UnreadableLock("an entry stands twice, or has no name")
            seen.add(key)
            value = json.dumps(self.read_value(*self.take()))
            last = lines.at(self.end - 1)
            yield LockPiece("", key[:-1].strip('"'), value, "json", line, last)
            if self.has_next("}"):
                self.expect(",")
            else:
                return

    def read_value(self, kind: str, token: str) -> Any:
        """Return a value: an atom with its colon, a list for a tuple too, a table for a pair of a list."""
        if kind == "string":
            return token[1:-1]
        if kind == "atom":
            return token.replace('"', "")
        if kind == "key":
            return {token[:-1]: self.read_value(*self.take())}
        if token not in CLOSING:
            raise UnreadableLock("of an unknown layout")
        closing = CLOSING[token]
        found: list[Any] = []
        while self.has_next(closing):
            found.append(self.read_value(*self.take()))
            if not self.has_next(closing):
                break
            self.expect(",")
        return found


def read_mix(piece: LockPiece, data: Any, head: Data) -> Iterator[Dependency]:
    """Read an entry: from Hex with the hashes of its content and its archive, or from Git at a commit."""
    texts = [each if isinstance(each, str) else "" for each in data]
    if texts[:1] == [":hex"] and len(texts) > 2:
        hashes = " ".join((*texts[3:4], *texts[7:8]))
        yield entry("hex", piece.key, texts[2], hashes=hashes, package=texts[1][1:])
    elif texts[:1] == [":git"] and len(texts) > 2:
        yield entry("hex", piece.key, "", source=f"git+{texts[1]}", ref=texts[2])
    else:
        raise UnreadableLock("of an unknown layout")
