"""The three ways in which a shell takes a character literally (bash(1), QUOTING)."""

import re
from collections.abc import Iterator

from cli_guard.commands.parse.tree import Text

_ESCAPE = re.compile(r"\\(?:\n|(.))", re.DOTALL)
_ESCAPE_IN_QUOTES = re.compile(r"\\(?:\n|([$`\"\\]))")
_ANSI = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))", re.DOTALL
)
_BYTES = re.compile("[\uf780-\uf7ff]+")
_NAMED = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}


def ansi_c(body: str) -> str:
    """Return the text of `$'body'`."""

    def one(found: re.Match[str]) -> str:
        digits = found[2] or found[3]
        if digits:
            code = int(digits, 16)
            return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "?"
        if found[1] or found[4]:
            # One byte; bytes beyond ASCII are combined to characters below.
            byte = int(found[1], 16) if found[1] else int(found[4], 8) & 0xFF
            return chr(byte) if byte < 0x80 else chr(0xF700 + byte)
        if found[5]:
            return chr(ord(found[5]) & 0x1F)
        return _NAMED.get(found[6], found[6] if found[6] in "\\'\"?" else found[0])

    text = _BYTES.sub(join_bytes, _ANSI.sub(one, body))
    # A NUL ends the string in bash.
    return text.partition("\0")[0]


def join_bytes(found: re.Match[str]) -> str:
    """Decode adjacent bytes as UTF-8."""
    return bytes(ord(character) - 0xF700 for character in found[0]).decode("utf-8", "replace")


def unescape_in_quotes(body: str) -> str:
    """Unescape text in double quotes, where a backslash escapes only a few characters."""
    return _ESCAPE_IN_QUOTES.sub(lambda found: found[1] or "", body)


def unescape_parts(word: str) -> Iterator[Text]:
    """Split an unquoted word: escaped characters are quoted text; the rest may hold globs, braces, a tilde."""
    at = 0
    for found in _ESCAPE.finditer(word):
        if found.start() > at:
            yield Text(word[at : found.start()], False)
        if found[1]:
            yield Text(found[1], True)
        at = found.end()
    if at < len(word) or not word:
        yield Text(word[at:], False)


def hidden_substitutions(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and command of each `$(...)`, `<(...)` and backtick substitution in a text."""
    at = 0
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text[at] == "`":
            end = closing_backtick(text, at + 1)
            yield at, end, re.sub(r"\\([`$\\])", r"\1", text[at + 1 : end - 1])
            at = end
        elif text.startswith(("$(", "<("), at):
            end = closing_parenthesis(text, at + 2)
            yield at, end, text[at + 2 : end - 1]
            at = end
        else:
            at += 1


def closing_backtick(text: str, at: int) -> int:
    """Return the position after the closing backtick, or the end."""
    while at < len(text):
        if text[at] == "`":
            return at + 1
        at += 2 if text[at] == "\\" else 1
    return len(text) + 1


def closing_parenthesis(text: str, at: int) -> int:
    """Return the position after the closing parenthesis, or the end."""
    depth = 1
    while at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            return at
    return len(text) + 1
