"""Read JSON into nodes, with the comments and trailing commas of editors' files."""

import json
import re

from cli_guard.reviewers.commands.extract.nodes import (
    MOST_NODES,
    Document,
    Items,
    Opened,
    Scalar,
    Table,
    add_node,
)
from cli_guard.reviewers.commands.extract.snippet import LineNumbers

TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z))"""
    r"""|(?P<string>"(?:[^"\\\n]|\\.)*")"""
    r"""|(?P<open>[\[{])|(?P<close>[\]}])|(?P<mark>[,:])"""
    r"""|(?P<word>[^\s\[\]{},:"/]+)"""
)


def read_json(path: str, text: str) -> Document:
    """Read the value of a JSON file, up to the first error."""
    lines = LineNumbers(text)
    root = Items()
    opened: Opened = [(root, [])]
    position = 1 if text.startswith("\ufeff") else 0
    problem = ""
    count = 0
    while position < len(text) and not problem:
        token = TOKEN.match(text, position)
        line = lines.at(position)
        kind = token.lastgroup if token else None
        if token is None or (kind == "close" and not _closes(opened, token[0])):
            problem = f"invalid JSON at line {line}"
            break
        position = token.end()
        if kind in ("blank", "mark"):
            continue
        if kind == "close":
            opened.pop()
            continue
        count += 1
        if count > MOST_NODES:
            problem = f"more than {MOST_NODES} nodes"
        elif kind == "open":
            node: Items | Table = Items() if token[0] == "[" else Table()
            add_node(opened, node)
            opened.append((node, []))
        else:
            add_node(opened, Scalar(((line, _value(token)),)))
    if not problem and len(opened) > 1:
        problem = "the JSON ends too early"
    return Document(path, tuple(root.nodes[:1]), problem)


def _closes(opened: Opened, bracket: str) -> bool:
    return len(opened) > 1 and isinstance(opened[-1][0], Items if bracket == "]" else Table)


def _value(token: re.Match[str]) -> str:
    if token.lastgroup != "string":
        return token[0]
    try:
        value = json.loads(token[0], strict=False)
    except ValueError:
        return token[0][1:-1]
    return value if isinstance(value, str) else token[0]
