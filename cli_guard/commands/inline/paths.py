"""Paths in code, with names in them that only a listing of a folder finds, and the taints that values carry."""

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath

from cli_guard.commands.inline.values import Data, Literal, Reference, Sequence, Value

# In a text: a name that a listing found, which is no `..` and holds no slash (twice: and the folders above it), and a
# part of such a name.
FOUND, STEM = "\ue000", "\ue001"
EVERY_NAME = re.compile(rf"(?:(?:^|/){FOUND}+(?:\.{FOUND})?)+\Z")
# Names below names, as a function that calls itself finds them.
NESTED = re.compile(rf"(?:^|(?<=/)){FOUND}+(?:/{FOUND}+)+\Z")
# What joined texts make of found names may lead out of the folder.
LEADS_OUT = re.compile(rf"{FOUND}.*/\.\.(?:/|\Z)|(?:^|/)\.*{STEM}\.*(?:/|\Z)", re.DOTALL)


def raw_text(value: Value) -> str | None:
    """Return the text of a value, with FOUND and STEM in it."""
    if isinstance(value, Literal):
        if isinstance(value.value, bytes):
            return value.value.decode("utf-8", "replace")
        return value.value if isinstance(value.value, str) else None
    return value.about if isinstance(value, Reference) else None


def is_found(value: Value) -> bool:
    """Return whether a value is a text or a path with names that a listing finds."""
    text = raw_text(value)
    return text is not None and (FOUND in text or STEM in text)


def is_open(value: Value) -> bool:
    """Return whether a value is a list of nothing but what a listing finds: each element stands for any number."""
    return isinstance(value, Sequence) and all(is_found(part) or is_open(part) for part in value.parts)


def is_firm(value: Sequence) -> bool:
    """Return whether each element of a list has its place; lists of found names, joined, have any number before it."""
    found = sum(map(is_found, value.parts))
    return found < 2 and (len(value.parts) < 2 or not all(map(is_open, value.parts)))


def as_path(value: Value) -> str | None:
    """Return a path, with a pattern for found names, and a folder for everything below it; None if unknown."""
    if isinstance(value, Literal) and type(value.value) is int and 0 <= value.value <= 2:
        return "/dev/stdin"
    text = raw_text(value)
    if text is None or not is_found(value):
        return text
    if LEADS_OUT.search(text):
        return None
    every = EVERY_NAME.search(text)
    if every:
        text = text[: every.start()] or ("/" if text[0] == "/" else ".")
    return text.replace(FOUND, "*").replace(STEM, "*")


def taint_of(values: Iterable[Value]) -> Data:
    """Return data with the taints of these values."""
    remote = local = False
    for value in values:
        inner = taint_of(value.parts) if isinstance(value, Sequence) else value
        if isinstance(inner, Data):
            remote, local = remote or inner.remote, local or inner.local
        local = local or is_found(inner)
    return Data(remote, local)


def path_of(parts: Iterable[Value]) -> Value:
    """Join pieces into one path."""
    pieces = list(parts)
    known = [text for text in map(raw_text, pieces) if text is not None]
    whole = NESTED.sub(FOUND * 2, posixpath.join(*known)) if known else ""
    return Literal(whole) if known and len(known) == len(pieces) else taint_of(pieces)


def find_parent(path: str) -> str | None:
    return None if path.endswith(FOUND * 2) else str(PurePosixPath(path).parent)


# The parts of a path that are paths or names, by the attribute of `pathlib.Path`.
PATH_PARTS: Mapping[str, Callable[[str], str | None]] = {
    "parent": find_parent,
    "name": lambda path: PurePosixPath(path).name,
    "stem": lambda path: PurePosixPath(path).stem.replace(FOUND, STEM),
    "suffix": lambda path: None,
    "parents": lambda path: None,
    "parts": lambda path: None,
}
