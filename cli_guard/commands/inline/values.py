"""The possible values of code, as far as its text shows, and the operations on them."""

import base64
import binascii
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

MOST = 20_000
# More elements or alternatives than these are merged.
MANY, ALTERNATIVES = 400, 8


@dataclass(frozen=True, slots=True)
class Data:
    """A value known only at run time. `remote`: it came from the network; `local`: from a file here."""

    remote: bool = False
    local: bool = False


@dataclass(frozen=True, slots=True)
class Literal:
    """A value known from the text."""

    value: str | bytes | int | float | None


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list with all or some of its elements known."""

    parts: "tuple[Value, ...]"


@dataclass(frozen=True, slots=True)
class Reference:
    """A module, a function or an object by its full name; `about` is the path or address it was made for."""

    name: str
    about: str | None = None


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """A function of the code itself, by its number."""

    number: int


Value = Data | Literal | Sequence | Reference | FunctionValue
Values = tuple[Value, ...]
ANY: Values = (Data(),)


def taint_of(values: Iterable[Value]) -> Data:
    """Return data with the taints of these values."""
    remote = local = False
    for value in values:
        inner = taint_of(value.parts) if isinstance(value, Sequence) else value
        if isinstance(inner, Data):
            remote, local = remote or inner.remote, local or inner.local
    return Data(remote, local)


def alternatives(values: Iterable[Value]) -> Values:
    """Return each value once; if there are too many, the first plain ones, and data for the others."""
    each = tuple(dict.fromkeys(values))
    if len(each) <= ALTERNATIVES:
        return each
    plain = [value for value in each if isinstance(value, Data | Literal)]
    others = [value for value in each if not isinstance(value, Data | Literal)]
    first = [value for value in plain if isinstance(value, Literal)][: ALTERNATIVES // 2]
    return (*others[: 4 * ALTERNATIVES], *first, taint_of(plain))


def as_text(value: Value) -> str | None:
    """Return the text of a value, None if it is not a known text."""
    if isinstance(value, Literal):
        if isinstance(value.value, bytes):
            return value.value.decode("utf-8", "replace")
        return value.value if isinstance(value.value, str) else None
    return value.about if isinstance(value, Reference) else None


def as_words(value: Value) -> tuple[str, ...] | None:
    """Return the words of a list, None unless all are known."""
    if not isinstance(value, Sequence):
        return None
    words = [as_text(part) for part in value.parts]
    return tuple(word for word in words if word is not None) if None not in words else None


def join_values(operator: str, left: Value, right: Value) -> Value:
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
    """Apply an operator to a literal; return None if it is not supported."""
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
    """Fill the `%s` of a pattern; other conversions are not supported."""
    pieces = pattern.split("%s")
    if any("%" in piece for piece in pieces) or len(pieces) != len(given) + 1 or None in given:
        return None
    made = "".join(piece + (text or "") for piece, text in zip(pieces, (*given, ""), strict=True))
    return made if len(made) <= MOST else None


def text_of(parts: Iterable[Value]) -> Value:
    """Join pieces into one text."""
    pieces = list(parts)
    texts = [str(p.value) if isinstance(p, Literal) and type(p.value) is int else as_text(p) for p in pieces]
    known = [text for text in texts if text is not None]
    whole = sum(map(len, known)) <= MOST and len(known) == len(texts)
    return Literal("".join(known)) if whole else taint_of(pieces)


def path_of(parts: Iterable[Value]) -> Value:
    """Join pieces into one path."""
    pieces = list(parts)
    known = [text for text in map(as_text, pieces) if text is not None]
    return Literal(posixpath.join(*known)) if known and len(known) == len(pieces) else taint_of(pieces)


def base64_text(text: str) -> str | bytes:
    return base64.b64decode(text)


def format_braces(text: str, *given: str) -> str | None:
    """Fill `'{} {1}'`; formats inside the braces are not supported."""
    if re.search(r"\{(?!\d{0,2}\})|(?<!\d)(?<!\{)\}", text):
        return None
    places = iter(given)
    made = re.sub(r"\{(\d*)\}", lambda found: given[int(found[1])] if found[1] else next(places), text)
    return made if len(made) <= MOST else None


def replace_text(text: str, old: str, new: str) -> str | None:
    return text.replace(old, new) if old and text.count(old) * len(new) + len(text) <= MOST else None


LETTERS = "abcdefghijklmnopqrstuvwxyz"
ROT13 = str.maketrans(
    LETTERS + LETTERS.upper(),
    LETTERS[13:] + LETTERS[:13] + (LETTERS[13:] + LETTERS[:13]).upper(),
)
# String methods by their name in any of the languages.
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
    """Apply a function to texts; return None if one is unknown or the function is not supported."""
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
