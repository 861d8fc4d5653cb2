"""Cut mix.lock into entries, and read one.

Mix evaluates the file as Elixir. It writes a map of literals, and only that is read here: anything else could run code.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from cli_guard.reviewers.dependencies.lock_entries import Data, entry
from cli_guard.reviewers.dependencies.pieces import (
    LockCut,
    LockPiece,
    UnreadableLock,
    cut_json,
)
from cli_guard.reviewers.dependencies.reading import Dependency

# A string with an escape or with `#{` is not as it is written.
STRING = r'"(?>(?:[^"\\#]|#(?!\{))*)"'
TOKEN = re.compile(
    rf"(?P<blank>\s++|#[^\n]*+)|(?P<key>(?:{STRING}|[a-z_]\w*+[?!]?):)(?=\s)"
    rf"|(?P<string>{STRING})"
    rf"|(?P<atom>:(?:{STRING}|[A-Za-z_]\w*+[?!]?)|(?:true|false|nil|\d++)\b)"
    r"|(?P<open>%\{|[{\[])|(?P<close>[}\]])|(?P<comma>,)"
)
# What closes each bracket, here and in JSON.
BRACKETS = {"%{": ("}", "{", "}"), "{": ("}", "[", "]"), "[": ("]", "[", "]")}


def cut_mix(text: str) -> LockCut:
    """Return each member of the map; raises UnreadableLock for anything but literals."""
    return cut_json(as_json(text.removeprefix("\ufeff")), ((),), True)


def as_json(text: str) -> str:
    """Write a map of literals as JSON, every token on its line.

    A tuple is a list, an atom a text with its colon, a key within an entry a text before its value. Raises
    UnreadableLock.
    """
    written = []
    opened: list[str] = []
    at = 0
    while at < len(text):
        found = TOKEN.match(text, at)
        if found is None:
            raise UnreadableLock("it has more than literals")
        at = found.end()
        token = found[0]
        match found.lastgroup:
            case "blank":
                new = " "
            case "key":
                new = json.dumps(token[:-1].strip('"')) + (":" if len(opened) == 1 else ",")
            case "string" | "atom":
                new = json.dumps(token.replace('"', ""))
            case "open":
                _, new, _ = BRACKETS[token]
                opened.append(token)
            case "close":
                own, _, new = BRACKETS[opened.pop()] if opened else ("", "", "")
                if own != token:
                    raise UnreadableLock("of an unknown layout")
            case _:
                new = token
        written.append(new + "\n" * token.count("\n"))
    return "".join(written)


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
