"""What a value of the code may be, as far as its text tells, and how values are put together."""

import base64
import binascii
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

MOST = 20_000
# More elements or alternatives than these are not told apart.
MANY, ALTERNATIVES = 400, 8


@dataclass(frozen=True, slots=True)
class Data:
    """A value that only the running code knows. `remote`: it came from the network; `local`: from a file here."""

    remote: bool = False
    local: bool = False


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that the text tells."""

    value: str | bytes | int | float | None


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list whose elements the text tells, or some of them."""

    parts: "tuple[Value, ...]"


@dataclass(frozen=True, slots=True)
class Reference:
    """A module, a function or an object by its full name; `about` is the path or address it was made for."""

    name: str
    about: str | None = None


@dataclass(frozen=True, slots=True)
class Defined:
    """A function of the code itself, by its number."""

    number: int


Value = Data | Literal | Sequence | Reference | Defined
Values = tuple[Value, ...]
ANY: Values = (Data(),)


def taint_of(values: Iterable[Value]) -> Data:
    """Data that are made of these values."""
    remote = local = False
    for value in values:
        inner = taint_of(value.parts) if isinstance(value, Sequence) else value
        if isinstance(inner, Data):
            remote, local = remote or inner.remote, local or inner.local
    return Data(remote, local)


def alternatives(values: Iterable[Value]) -> Values:
    """Each value once; where there are too many, the first plain ones and data for all the others."""
    each = tuple(dict.fromkeys(values))
    if len(each) <= ALTERNATIVES:
        return each
    plain = [value for value in each if isinstance(value, Data | Literal)]
    others = [value for value in each if not isinstance(value, Data | Literal)]
    first = [value for value in plain if isinstance(value, Literal)][: ALTERNATIVES // 2]
    return (*others[: 4 * ALTERNATIVES], *first, taint_of(plain))


def as_text(value: Value) -> str | None:
    """The text of a value, if it is one."""
    if isinstance(value, Literal):
        if isinstance(value.value, bytes):
            return value.value.decode("utf-8", "replace")
        return value.value if isinstance(value.value, str) else None
    return value.about if isinstance(value, Reference) else None


def as_words(value: Value) -> tuple[str, ...] | None:
    """The words of a list, if every one of them is known."""
    if not isinstance(value, Sequence):
        return None
    words = [as_text(part) for part in value.parts]
    return tuple(word for word in words if word is not None) if None not in words else None


def join_values(operator: str, left: Value, right: Value) -> Value:
    """Two values made one."""
    if isinstance(left, Sequence) and isinstance(right, Sequence) and operator == "+":
        both = left.parts + right.parts
        return Sequence(both) if len(both) <= MANY else taint_of(both)
    if isinstance(left, Literal):
        made = plain_result(operator, left.value, right)
        if made is not None:
            return Literal(made)
    return taint_of((left, right))


def plain_result(
    operator: str, left: "str | bytes | int | float | None", right: Value
) -> "str | bytes | int | None":
    """What an operator makes of a literal, None where that is not worked out."""
    other = right.value if isinstance(right, Literal) else None
    if operator == "%" and isinstance(left, str):
        given = (
            tuple(as_text(part) for part in right.parts) if isinstance(right, Sequence) else (as_text(right),)
        )
        return fill_pattern(left, given)
    if isinstance(left, str) and isinstance(other, str) and operator in ("+", "."):
        return left + other if len(left) + len(other) <= MOST else None
    if isinstance(left, bytes) and isinstance(other, bytes) and operator == "+":
        return left + other if len(left) + len(other) <= MOST else None
    if isinstance(left, str) and isinstance(other, int) and operator == "*":
        return left * other if len(left) * other <= MOST else None
    if type(left) is int and type(other) is int and abs(left) < 2**40 and abs(other) < 2**40:
        return {"+": left + other, "-": left - other, "^": left ^ other}.get(operator)
    return None


def fill_pattern(pattern: str, given: tuple[str | None, ...]) -> str | None:
    """A pattern with its `%s` filled in; other places are not worked out."""
    pieces = pattern.split("%s")
    if any("%" in piece for piece in pieces) or len(pieces) != len(given) + 1 or None in given:
        return None
    made = "".join(piece + (text or "") for piece, text in zip(pieces, (*given, ""), strict=True))
    return made if len(made) <= MOST else None


def text_of(parts: Iterable[Value]) -> Value:
    """Pieces of text made one."""
    pieces = list(parts)
    texts = [str(p.value) if isinstance(p, Literal) and type(p.value) is int else as_text(p) for p in pieces]
    known = [text for text in texts if text is not None]
    whole = sum(map(len, known)) <= MOST and len(known) == len(texts)
    return Literal("".join(known)) if whole else taint_of(pieces)


def path_of(parts: Iterable[Value]) -> Value:
    """Pieces of a path made one."""
    pieces = list(parts)
    known = [text for text in map(as_text, pieces) if text is not None]
    return Literal(posixpath.join(*known)) if known and len(known) == len(pieces) else taint_of(pieces)


def base64_text(text: str) -> str | bytes:
    """Base64, decoded."""
    return base64.b64decode(text)


def format_braces(text: str, *given: str) -> str | None:
    """`'{} {1}'` filled in; nothing but places without a format."""
    if re.search(r"\{(?!\d{0,2}\})|(?<!\d)(?<!\{)\}", text):
        return None
    places = iter(given)
    made = re.sub(r"\{(\d*)\}", lambda found: given[int(found[1])] if found[1] else next(places), text)
    return made if len(made) <= MOST else None


def replace_text(text: str, old: str, new: str) -> str | None:
    """One text in place of another."""
    return text.replace(old, new) if old and text.count(old) * len(new) + len(text) <= MOST else None


LETTERS = "abcdefghijklmnopqrstuvwxyz"
ROT13 = str.maketrans(
    LETTERS + LETTERS.upper(),
    LETTERS[13:] + LETTERS[:13] + (LETTERS[13:] + LETTERS[:13]).upper(),
)
# What a text makes of itself, by the name of the method in any of the languages.
METHODS: Mapping[str, Callable[..., "str | bytes | list[str] | None"]] = {
    **dict.fromkeys(("lower", "toLowerCase"), str.lower),
    **dict.fromkeys(("upper", "toUpperCase"), str.upper),
    **dict.fromkeys(("strip", "trim"), str.strip),
    **dict.fromkeys(("replace", "replaceAll"), replace_text),
    "format": format_braces,
    "split": lambda text, *by: text.split(*by[:1])[:MANY],
    "concat": lambda text, *more: text + "".join(more),
    "removeprefix": str.removeprefix,
    "removesuffix": str.removesuffix,
    "reverse": lambda text: text[::-1],
    **dict.fromkeys(("decode", "encode", "toString", "as_posix"), lambda text, *_: text),
}
MADE: Mapping[str, Callable[..., "str | bytes | list[str] | None"]] = {
    "base64": base64_text,
    "hex": bytes.fromhex,
    "rot13": lambda text: text.translate(ROT13),
    "text": lambda text: text,
}


def compute(make: Callable[..., "str | bytes | list[str] | None"], given: Iterable[Value]) -> Value | None:
    """What a function makes of texts, None where they are unknown or it is not worked out."""
    texts = [as_text(value) for value in given]
    if not texts or None in texts:
        return None
    try:
        made = make(*texts)
    except (ValueError, TypeError, IndexError, StopIteration, binascii.Error):
        return None
    if isinstance(made, list):
        return Sequence(tuple(map(Literal, made)))
    return Literal(made) if made is not None and len(made) <= MOST else None
