"""Cut TOML lock files into entries at the lines that begin a table.

Without multi-line strings a line begins outside of every string, and where the brackets of all lines before it are
even, outside of every list: one that begins with `[` is the head of a table there. Any other file is parsed as a whole.
"""

import re
import tomllib
from typing import Any

from cli_guard.reviewers.dependencies.pieces import (
    LockCut,
    LockPiece,
    UnreadableLock,
    pieces_of_data,
)

STRING_OR_COMMENT = re.compile(r'"(?>(?:[^"\\\n]|\\.)*)"|\'[^\'\n]*+\'|#[^\n]*+')
HEAD = re.compile(r"(?m)^[ \t]*+(?=\[)")


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
    paths = tuple((name,) for name in names if name in data)
    pieces = pieces_of_data(data, {}, paths)
    return LockCut(tuple(pieces), {key: data[key] for key in data if key not in names})
