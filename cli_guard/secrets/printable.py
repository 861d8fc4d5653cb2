"""Make text from a repository safe to show.

A file name or a diff may hold characters that move the cursor, reverse the reading direction or are invisible. Each
becomes a visible escape, so that a person reads what is there.
"""

import re
from collections.abc import Mapping

# The general categories Cc, Cf, Cs, Zl and Zp of Unicode, and the letters and marks that have no glyph
# (fillers, the joiner U+034F, variation selectors but for the two that emoji use).
_UNSAFE = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f\xad"
    "\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\uffff"
    "\ud800-\udfff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
    "]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_KEPT_WITH_NEWLINES = re.compile("[^\n]+")


def printable(text: str, *, keep_newlines: bool = False) -> str:
    r"""Replace every invisible or terminal control character by a visible escape.

    A byte that was not UTF-8 (kept by `surrogateescape`) becomes `\xff`, others `\x1b`, `\u202e` or `\U000e0041`. With
    `keep_newlines`, LF stays.
    """
    if text.isascii() and text.isprintable():
        return text
    if keep_newlines:
        return _KEPT_WITH_NEWLINES.sub(lambda run: _UNSAFE.sub(_escape, run[0]), text)
    return _UNSAFE.sub(_escape, text)


def printable_text(text: str) -> str:
    """Do the same, but LF and tabs stay."""
    return "\t".join(printable(part, keep_newlines=True) for part in text.split("\t"))


def without_surrogates(text: str) -> str:
    """Escape lone surrogates only, as JSON in strict UTF-8 requires."""
    return text if text.isascii() else _SURROGATE.sub(_escape, text)


def json_value(value: object) -> object:
    """Return `value` as plain JSON data, without lone surrogates and numbers unknown to JSON."""
    if isinstance(value, str):
        return without_surrogates(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, Mapping):
        return {
            without_surrogates(str(key)): json_value(each) for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [json_value(each) for each in value]
    if isinstance(value, set | frozenset):
        return [json_value(each) for each in sorted(value, key=str)]
    return without_surrogates(str(value))


def clip(text: str, length: int, ellipsis: str = "...") -> str:
    """Cut `text` to `length` characters and mark the cut."""
    return text if len(text) <= length else text[: length - len(ellipsis)] + ellipsis


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    if code < 0x100:
        return {9: "\\t", 10: "\\n", 13: "\\r"}.get(code, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
