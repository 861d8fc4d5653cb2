"""Read a file as its tool reads it, with its lines: JSON with comments, TOML, YAML, the front matter of Markdown."""

import re

from cli_guard.reviewers.agents.prefix_rules import read_rules
from cli_guard.reviewers.commands.extract.json_nodes import read_json
from cli_guard.reviewers.commands.extract.nodes import (
    Document,
    Items,
    Node,
    Scalar,
    Table,
    every,
)
from cli_guard.reviewers.commands.extract.toml_nodes import read_toml
from cli_guard.reviewers.commands.extract.yaml_nodes import read_yaml

READERS = {
    "json": read_json,
    "toml": read_toml,
    "yaml": read_yaml,
    "rules": read_rules,
}
# Front matter stands between two lines of dashes, the first of which is the first line of the file.
FRONT = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(?P<front>.*?)^(?:---|\.\.\.)[ \t]*\r?$", re.S | re.M
)
LONGEST_VALUE = 2_000


def read_parts(path: str, text: str, format: str) -> Document:
    """Read the keys of a file; one without keys gives an empty document."""
    if format == "front":
        return read_front(path, text)
    reader = READERS.get(format)
    if reader is None or not text.strip():
        return Document(path)
    return reader(path, text)


def read_front(path: str, text: str) -> Document:
    """Read the front matter of Markdown, with the line numbers of the file."""
    found = FRONT.match(text)
    if found is None:
        return Document(path)
    # The first line becomes a comment, so that each other keeps its number.
    document = read_yaml(path, f"#\n{found['front']}")
    # Rules of Cursor are no YAML where a pattern begins with `*`: the tool reads them line by line.
    return read_pairs(path, found["front"]) if document.problem else document


def read_pairs(path: str, front: str) -> Document:
    """Read front matter that is no YAML as lines of a key and a value."""
    table = Table()
    for number, line in enumerate(front.split("\n"), 2):
        key, colon, value = line.partition(":")
        if colon and key.strip() and not key[0].isspace():
            table.pairs.append((key.strip(), Scalar(((number, value.strip()),))))
    return Document(path, (table,))


def span_of(node: Node) -> tuple[int, int]:
    """Return the first and the last line of a node, by the scalars in it."""
    found = [each.pieces for each in every([node]) if isinstance(each, Scalar)]
    if not found:
        return 1, 1
    first = found[0][0][0]
    return first, max(first, found[-1][-1][0])


def text_of(node: Node | None) -> str:
    """Return a node as one text that differs if anything in it does, bounded."""
    parts: list[str] = []
    waiting: list[object] = [node]
    while waiting and len(parts) < LONGEST_VALUE:
        each = waiting.pop()
        if isinstance(each, str):
            parts.append(each)
        elif isinstance(each, Scalar):
            parts.append(each.text)
        elif isinstance(each, Items):
            inside = [part for item in each.nodes for part in (item, " ")]
            waiting += ["]", *reversed(inside), "["]
        elif isinstance(each, Table):
            inside = [
                part for key, item in each.items() for part in (f"{key}: ", item, " ")
            ]
            waiting += ["}", *reversed(inside), "{"]
    return "".join(parts)
