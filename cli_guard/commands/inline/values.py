"""The possible values of code, as far as its text shows, and the texts and paths that they stand for."""

import posixpath
import re
from collections.abc import Callable, Iterable
from itertools import product
from math import prod

from cli_guard.lazy import frozen

# More characters, elements or alternatives than these are merged; a name may get more of them at once than one by one.
MOST = 20_000
MANY = 400
AT_ONCE = 64
ALTERNATIVES = 8
MOST_COMBINATIONS = 64
# In a text: a name that a listing found, which is no `..` and holds no slash; twice: and the folders above it.
FOUND = "\ue000"
EVERY_NAME = re.compile(rf"(?:(?:^|/){FOUND}+(?:\.{FOUND})?)+\Z")
# Names below names, as a function that calls itself finds them.
NESTED = re.compile(rf"(?:^|(?<=/)){FOUND}+(?:/{FOUND}+)+\Z")
# What joined texts make of found names may lead out of the folder.
LEADS_OUT = re.compile(rf"{FOUND}.*/\.\.(?:/|\Z)", re.DOTALL)


@frozen
class Data:
    """A value known only at run time. `remote`: it came from the network; `local`: from a file here.

    `opened` is the path of an open file.
    """

    remote: bool = False
    local: bool = False
    opened: str | None = None


@frozen
class Literal:
    """A value known from the text."""

    value: object


@frozen
class Sequence:
    """A list with its elements, or, if it is `loose`, with any number of each; `number` is that of where it is made."""

    parts: "tuple[Value, ...]"
    loose: bool = False
    number: int = 0


@frozen
class Reference:
    """A module, a function or an object by its full name; `about` is the path or address it was made for."""

    name: str
    about: str | None = None


@frozen
class InlineFunction:
    """A function or a class of the code itself, by its number."""

    number: int
    parameters: tuple[str, ...] = ()


Value = Data | Literal | Sequence | Reference | InlineFunction
Values = tuple[Value, ...]
ANY: Values = (Data(),)
LOCAL: Values = (Data(local=True),)


def raw_text(value: Value) -> str | None:
    """Return the text of a value, with FOUND in it."""
    if isinstance(value, Literal):
        if isinstance(value.value, bytes):
            return value.value.decode("utf-8", "replace")
        return value.value if isinstance(value.value, str) else None
    return value.about if isinstance(value, Reference) else None


def is_found(value: Value) -> bool:
    """Return whether a value is a text or a path with names that a listing finds."""
    return FOUND in (raw_text(value) or "")


def as_text(value: Value) -> str | None:
    """Return the text of a value, None if it is not a known text."""
    return None if is_found(value) else raw_text(value)


def as_words(value: Value) -> tuple[str, ...] | None:
    """Return the words of a list, None unless all are known."""
    if not isinstance(value, Sequence) or value.loose:
        return None
    words = tuple(word for part in value.parts if (word := as_text(part)) is not None)
    return words if len(words) == len(value.parts) else None


def as_path(value: Value) -> str | None:
    """Return a path, with a pattern for found names, and a folder for everything below it; None if unknown."""
    if isinstance(value, Literal) and type(value.value) is int and 0 <= value.value <= 2:
        return "/dev/stdin"
    text = raw_text(value)
    if text is None or FOUND not in text:
        return text
    if LEADS_OUT.search(text):
        return None
    every = EVERY_NAME.search(text)
    if every:
        text = text[: every.start()] or ("/" if text[0] == "/" else ".")
    return text.replace(FOUND, "*")


def taint_of(values: Iterable[Value]) -> Data:
    """Return data with the taints of these values."""
    remote = local = False
    for value in values:
        inner = taint_of(value.parts) if isinstance(value, Sequence) else value
        if isinstance(inner, Data):
            remote = remote or inner.remote
            local = local or inner.local
        local = local or is_found(inner)
    return Data(remote, local)


def merge(known: Values, values: Iterable[Value]) -> Values:
    """Return the known values and further ones; if there are too many, what is not known stands for the others."""
    found = dict.fromkeys(known)
    most = ALTERNATIVES if known else AT_ONCE
    for value in values:
        if len(found) < most or value in found:
            found[value] = None
        elif isinstance(value, Reference):
            found[Reference(value.name)] = None
        else:
            found[taint_of([value]) if isinstance(value, Data | Literal) else value] = None
    return tuple(found)


def alternatives(values: Iterable[Value]) -> Values:
    """Return each value once."""
    return merge((), values)


def combine(make: Callable[[Iterable[Value]], Value], parts: Iterable[Values]) -> Values:
    """Apply a function to each combination of the values of its parts."""
    each = list(parts)
    if prod(map(len, each)) > MOST_COMBINATIONS:
        return (taint_of(value for values in each for value in values),)
    return alternatives(map(make, product(*each)))


def text_of(parts: Iterable[Value]) -> Value:
    """Join pieces into one text."""
    pieces = list(parts)
    texts = [
        str(p.value) if isinstance(p, Literal) and type(p.value) is int else raw_text(p)
        for p in pieces
    ]
    known = [text for text in texts if text is not None]
    if len(known) < len(texts) or sum(map(len, known)) > MOST:
        return taint_of(pieces)
    return Literal("".join(known))


def path_of(parts: Iterable[Value]) -> Value:
    """Join pieces into one path."""
    pieces = list(parts)
    known = [text for text in map(raw_text, pieces) if text is not None]
    if not known or len(known) < len(pieces):
        return taint_of(pieces)
    return Literal(NESTED.sub(FOUND * 2, posixpath.join(*known)))


def fill(pattern: str, given: Iterable[Value]) -> Value:
    """Put texts into the `%s` of a pattern with no other `%`."""
    pieces = pattern.split("%s")
    parts = list(given)
    if len(pieces) != len(parts) + 1 or any("%" in piece for piece in pieces):
        return taint_of(parts)
    mixed = [
        value
        for pair in zip(parts, map(Literal, pieces[1:]), strict=True)
        for value in pair
    ]
    return text_of([Literal(pieces[0]), *mixed])


def join_values(operator: str, left: Value, right: Value) -> Value:
    """Apply an operator of Python, by the name of its node."""
    if operator == "Add" and isinstance(left, Sequence) and isinstance(right, Sequence):
        both = left.parts + right.parts
        if len(both) <= MANY:
            return Sequence(both, left.loose or right.loose)
        return taint_of(both)
    pattern = raw_text(left)
    if operator == "Mod" and pattern is not None:
        return fill(pattern, right.parts if isinstance(right, Sequence) else (right,))
    if operator == "Add" and pattern is not None:
        return text_of((left, right))
    return taint_of((left, right))


def compute(make: Callable[..., object], given: Iterable[Value]) -> Value | None:
    """Apply a function to texts; return None if one is unknown or the function is not supported."""
    texts = [as_text(value) for value in given]
    if not texts or None in texts:
        return None
    try:
        made = make(*texts)
    except (ValueError, TypeError):
        return None
    if isinstance(made, list):
        return Sequence(tuple(map(Literal, made)))
    return Literal(made) if isinstance(made, str | bytes) and len(made) <= MOST else None
