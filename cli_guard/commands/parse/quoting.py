"""How a shell takes characters literally (bash(1), QUOTING)."""

import re

ESCAPED_IN_QUOTES = re.compile(r"\\(?:\n|([$`\"\\]))")
ANSI = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)
BYTES = re.compile("[\uf780-\uf7ff]+")
NAMED = {
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
        return NAMED.get(found[6], found[6] if found[6] in "\\'\"?" else found[0])

    text = BYTES.sub(join_bytes, ANSI.sub(one, body))
    # A NUL ends the string in bash.
    return text.partition("\0")[0]


def join_bytes(found: re.Match[str]) -> str:
    """Decode adjacent bytes as UTF-8."""
    return bytes(ord(character) - 0xF700 for character in found[0]).decode(
        "utf-8", "replace"
    )


def unescape_in_quotes(body: str) -> str:
    """Unescape text in double quotes, where a backslash escapes only a few characters."""
    return ESCAPED_IN_QUOTES.sub(lambda found: found[1] or "", body)
