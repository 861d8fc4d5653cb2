"""Names as every language writes them, with dots between their parts."""

import re
import string
from typing import TYPE_CHECKING

from cli_guard.code.taint.tree_reader import field_of

if TYPE_CHECKING:
    from ast_grep_py import SgNode

CALLEE_CHARS = 400
DECLARED_FIELDS = ("name", "declarator", "pattern", "left")
SEPARATOR = re.compile(r"\s*(?:\?\.|->|::|\\|!\.|\.&|\.)\s*")
PLAIN_NAME = re.compile(r"[\w$.]+")
NOT_NAME = re.compile(r"[^\w.$@?!-]+")
BEFORE_NAME = re.compile(r"^(?:new|await|yield|return|throw|not|print|echo|&|\*)\b\s*")
COMPUTED = re.compile(r"(?<=\w)\[([A-Z][A-Z0-9_]+)\]$")
NAME_CHARS = frozenset(string.ascii_letters + "_")
OPENING = frozenset("([{<")
CLOSING = frozenset(")]}>")


def join_names(outer: str, name: str) -> str:
    return f"{outer}.{name}" if outer else name


def write_dotted(text: str) -> str:
    """Return a name as written in any language with dots, without blanks and generics."""
    if PLAIN_NAME.fullmatch(text):
        return text
    return NOT_NAME.sub("", SEPARATOR.sub(".", text))


def callee_name(text: str) -> str:
    """Return the dotted name at the end of a callee: `a.b` of `a(x).b`, read backward over what is in brackets."""
    text = BEFORE_NAME.sub("", text[-CALLEE_CHARS:].rstrip("?!<( \t\n"))
    # `this[ENSURE_INSIDE](path)`
    text = COMPUTED.sub(r".\1", text)
    if PLAIN_NAME.fullmatch(text):
        return text
    kept: list[str] = []
    depth = 0
    for char in reversed(text):
        if char == ">" and kept and kept[-1] in NAME_CHARS:
            kept.append(char)  # the arrow of PHP and C
        elif char in CLOSING:
            depth += 1
        elif char in OPENING and depth:
            depth -= 1
        elif char in OPENING:
            break
        elif depth == 0:
            kept.append(char)
    return write_dotted("".join(reversed(kept)).strip())


def declared_name(node: "SgNode") -> "SgNode | None":
    """Return the name of a declaration, through its declarators."""
    named = field_of(node, DECLARED_FIELDS)
    while (
        named is not None and (inner := field_of(named, ("name", "declarator"))) is not None
    ):
        named = inner
    if named is not None:
        return named
    words = ("identifier", "variable_declarator", "property_element", "field_identifier")
    found = next((each for each in node.named_children() if each.kind() in words), None)
    if found is None or found.kind() in ("identifier", "field_identifier"):
        return found
    inside = found.named_children()
    return inside[0] if inside else None
