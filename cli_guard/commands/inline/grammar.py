"""What the readers of the languages that ast-grep parses have in common."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from cli_guard.code.syntax import Trees
from cli_guard.commands.inline import code
from cli_guard.commands.inline.code import Node
from cli_guard.commands.inline.model import NotUnderstood

if TYPE_CHECKING:
    from ast_grep_py import SgNode

ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "f": "\f", "v": "\v", "\n": ""}
PIECE, MOST_ERRORS = 200, 12
COMMENTS = frozenset(("comment", "html_comment"))


def root(language: str, text: str, before: str = "") -> "SgNode":
    """Parse a text with the prefix `before` that its grammar needs. Raises NotUnderstood.

    The parser takes quadratic time on much text of another language, so pieces go first.
    """
    for start in range(0, len(text), PIECE) if len(text) > PIECE else ():
        piece = Trees().root(language, before + text[start : start + PIECE])
        if len(piece.find_all(kind="ERROR")) > MOST_ERRORS:
            raise NotUnderstood(f"text that is not {language}")
    return Trees().root(language, before + text)


def parts(tree: "SgNode") -> "list[SgNode]":
    """Return the named children of a node, without comments."""
    return [child for child in tree.children() if child.is_named() and child.kind() not in COMMENTS]


def field(tree: "SgNode", name: str) -> "SgNode":
    """Return a child by its name, the node itself (which no reader accepts as a child) if there is none."""
    found = tree.field(name)
    return found if found is not None else tree


def unescape(text: str) -> str:
    found = ESCAPE.fullmatch(text)
    given = found[1] if found else text
    number = given[1:].strip("{}") if given[:1] in ("x", "u") and len(given) > 1 else ""
    if number:
        value = int(number, 16)
        return chr(value) if value < 0x110000 else "?"
    if given.isdigit() and given[0] < "8":
        return chr(int(given, 8))
    return ESCAPES.get(given, given)


def number(text: str) -> Node:
    """Convert a plain number; others are unknown."""
    return code.Const(int(text)) if text.isascii() and text.isdigit() and len(text) < 12 else code.NOTHING


def mix(nodes: Iterable[Node]) -> Node:
    return code.Mix(tuple(nodes))
