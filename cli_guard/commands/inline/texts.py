"""The texts that values stand for, and the operations on them."""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from math import prod

from cli_guard.commands.inline.paths import is_found, raw_text, taint_of
from cli_guard.commands.inline.values import Data, Literal, Sequence, Value, Values

MOST = 20_000
# More elements or alternatives than these are merged.
MANY, ALTERNATIVES, MOST_COMBINATIONS = 400, 8, 16


def as_text(value: Value) -> str | None:
    """Return the text of a value, None if it is not a known text."""
    return None if is_found(value) else raw_text(value)


def as_words(value: Value) -> tuple[str, ...] | None:
    """Return the words of a list, None unless all are known."""
    if not isinstance(value, Sequence):
        return None
    words = [as_text(part) for part in value.parts]
    return tuple(word for word in words if word is not None) if None not in words else None


def alternatives(values: Iterable[Value]) -> Values:
    """Return each value once; if there are too many, the first plain ones, and data for the others."""
    each = tuple(dict.fromkeys(values))
    if len(each) <= ALTERNATIVES:
        return each
    plain = [value for value in each if isinstance(value, Data | Literal)]
    others = [value for value in each if not isinstance(value, Data | Literal)]
    first = [value for value in plain if isinstance(value, Literal)][: ALTERNATIVES // 2]
    return (*others[: 4 * ALTERNATIVES], *first, taint_of(plain))


def join_values(operator: str, left: Value, right: Value) -> Value:
    if isinstance(left, Sequence) and isinstance(right, Sequence) and operator == "+":
        both = left.parts + right.parts
        return Sequence(both) if len(both) <= MANY else taint_of(both)
    texts = (raw_text(left), raw_text(right))
    if operator == "+" and (is_found(left) or is_found(right)) and None not in texts:
        return text_of((left, right))
    if isinstance(left, Literal) and not is_found(left):
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
        given = tuple(map(raw_text, right.parts)) if isinstance(right, Sequence) else (raw_text(right),)
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
    texts = [str(p.value) if isinstance(p, Literal) and type(p.value) is int else raw_text(p) for p in pieces]
    known = [text for text in texts if text is not None]
    whole = sum(map(len, known)) <= MOST and len(known) == len(texts)
    return Literal("".join(known)) if whole else taint_of(pieces)


def combine(make: Callable[[Iterable[Value]], Value], parts: Iterable[Values]) -> Values:
    """Apply a function to each combination of the values of its parts."""
    each = list(parts)
    few = prod(map(len, each)) <= MOST_COMBINATIONS
    return alternatives(map(make, product(*each))) if few else (taint_of(v for vs in each for v in vs),)


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
    "reversed": lambda text: text[::-1],
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
