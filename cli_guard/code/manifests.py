"""Kubernetes manifests in JSON, written as the YAML of blocks that the rules read; every line keeps its number."""

import re
from collections.abc import Iterator
from dataclasses import replace

from cli_guard.lazy import frozen

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|\n')
PLAIN = re.compile(r'"([A-Za-z][\w./-]*)"')
# In quotes these are texts, without them they are something else.
WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))
SPACED = {",": ", ", ":": ": "}
DEEPEST = 60


def is_json_manifest(text: str) -> bool:
    """Return whether a JSON text describes objects of Kubernetes."""
    return '"apiVersion"' in text and '"kind"' in text and text.lstrip()[:1] in ("{", "[")


@frozen
class _Token:
    """A piece of a JSON text: its line, from 0; `closes` is the place of the bracket that ends it on the same line."""

    line: int
    text: str
    closes: int | None = None


def as_blocks(text: str) -> str:
    """Return the YAML of a JSON text, and the text itself if its lines do not allow that or it nests too deep."""
    tokens = _pair_brackets(list(_tokens(text)))
    lines = [""] * (text.count("\n") + 1)
    if tokens and _write(tokens, lines):
        return "\n".join(lines)
    return text


def _tokens(text: str) -> Iterator[_Token]:
    line = 0
    for found in TOKEN.finditer(text):
        if found[0] == "\n":
            line += 1
        else:
            yield _Token(line, found[0])


def _pair_brackets(tokens: list[_Token]) -> list[_Token]:
    """Return the tokens with the end of each bracket that closes on its own line; nothing if they do not match."""
    opened: list[int] = []
    for place, token in enumerate(tokens):
        if token.text in ("{", "["):
            opened.append(place)
        elif token.text in ("}", "]"):
            if not opened or len(opened) > DEEPEST:
                return []
            first = opened.pop()
            if tokens[first].line == token.line:
                tokens[first] = replace(tokens[first], closes=place)
    return [] if opened else tokens


def _write(tokens: list[_Token], lines: list[str]) -> bool:
    """Write the tokens into the lines; False if two entries of a block share one."""
    within: list[str] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        after = place + 1
        follows = tokens[after].text if after < len(tokens) else ""
        is_key = within[-1:] == ["{"] and follows == ":"
        is_item = within[-1:] == ["["] and token.text not in (",", "]")
        begins = f"{_plain(token.text)}:" if is_key else "-"
        if (is_key or is_item) and not _begin(lines, token.line, len(within), begins):
            return False
        if token.text in ("}", "]"):
            within.pop()
        elif token.closes is not None:
            after = token.closes + 1
            lines[token.line] += f" {_inline(tokens[place:after])}"
        elif token.text in ("{", "["):
            within.append(token.text)
        elif not is_key and token.text not in (",", ":"):
            lines[token.line] += f" {_plain(token.text)}"
        place = after
    return True


def _begin(lines: list[str], number: int, depth: int, text: str) -> bool:
    """Begin an entry of a block, on a line of its own or right after the dash of a list."""
    indent = 2 * (depth - 1)
    line = lines[number]
    if not line:
        lines[number] = " " * indent + text
    elif line == " " * (indent - 2) + "-":
        lines[number] += f" {text}"
    else:
        return False
    return True


def _inline(tokens: list[_Token]) -> str:
    return "".join(SPACED.get(token.text) or _plain(token.text) for token in tokens)


def _plain(text: str) -> str:
    found = PLAIN.fullmatch(text)
    return found[1] if found and found[1].lower() not in WORDS else text
