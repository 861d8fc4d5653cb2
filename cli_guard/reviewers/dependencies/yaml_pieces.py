"""Cut YAML lock files into entries by their indentation.

That is sound where each line is whole in itself: a key, an item of a list, a value that ends on its line, or the lines
of a block scalar, which are deeper than its key. A file with any other line (anchors, tags, directives, values on
several lines) is read by the parser as a whole.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from cli_guard.reviewers.commands.extract.nodes import (
    MOST_NODES,
    Items,
    Node,
    Scalar,
    Table,
    every,
)
from cli_guard.reviewers.commands.extract.snippet import LineNumbers
from cli_guard.reviewers.commands.extract.yaml_nodes import read_yaml
from cli_guard.reviewers.dependencies.pieces import (
    LockCut,
    LockPiece,
    Paths,
    UnreadableLock,
    pieces_of_data,
)

SINGLE = r"'(?>(?:[^'\n]|'')*)'"
DOUBLE = r'"(?>(?:[^"\\\n]|\\[^\n])*)"'
FIRST = r"""[^\s\-?:,\[\]{}\#&*!|>'"%@`]"""
PLAIN = (
    rf"{FIRST}(?>(?:[^\s:\#]|:(?=[^ \n])|(?<=[^ ])\#|[ ](?=[^ \#\n])|[ ]++(?=[^ \#\n]))*)"
)
# Within brackets a value ends at one of these too; parsers do not agree on a question mark there.
FLOW_PLAIN = (
    rf"(?:{FIRST}|-(?=[^\s,\[\]{{}}?]))"
    r"(?>(?:[^\s,\[\]{}?:\#]|:(?=[^\s,\[\]{}?])|(?<=[^ ])\#|[ ]++(?=[^\s,\[\]{}?:\#]))*)"
)
INNER = rf"""[ ,]|:(?=[ ])|(?<=["'\]}}]):|{SINGLE}|{DOUBLE}|{FLOW_PLAIN}"""
FLOW = rf"[\[{{](?>(?:{INNER}|[\[{{](?>(?:{INNER})*)[\]}}])*)[\]}}]"
VALUE = rf"(?:{SINGLE}|{DOUBLE}|{FLOW}|{PLAIN})"
KEY = rf"(?:{SINGLE}|{DOUBLE}|(?!<<[ ]*:){PLAIN})[ ]*+:"
REST = r"[ ]*+(?:(?<=[ ])\#[^\n]*+)?(?:\n|\Z)"
BLOCK = rf"[|>][-+1-9]{{0,2}}{REST}(?>(?:(?P=depth)[ ][^\n]*+\n|[ ]*+\n)*)"
MEMBER = rf"(?P<depth>[ ]*+){KEY}(?:[ ]++(?:{BLOCK}|{VALUE}{REST})|{REST})"
ITEM = rf"[ ]*+(?>(?:-[ ]++)*)(?:{KEY}(?:[ ]++{VALUE})?|(?<=-[ ]){VALUE})?{REST}"
COMMENT = r"[ ]*+\#[^\n]*+(?:\n|\Z)"
WHOLE_LINES = re.compile(rf"(?>(?:(?!\Z)(?:{MEMBER}|{COMMENT}|{ITEM}))*)\Z")
# Line ends of YAML 1.1, and what it forbids.
ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
OPENING = re.compile(KEY)
BARE = re.compile(rf"{KEY}{REST}")
BEFORE_FIRST = re.compile(r"(?>(?:[ ]*+(?:\#[^\n]*+)?\n)*)(?P<depth>[ ]*+)")


def cut_yaml(text: str, paths: Paths) -> LockCut:
    """Return the members of the tables at some paths, and the other keys of the root as data.

    Raises UnreadableLock for what the parser refuses, and for a key that stands twice on the way to the entries.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if ODD.search(text) or not WHOLE_LINES.match(text):
        return _cut_whole(text, paths)
    lines = LineNumbers(text)
    pieces: list[LockPiece] = []
    head: dict[str, Any] = {}
    try:
        for key, start, end in _members(text, 0, len(text)):
            body = BARE.match(text, start, end)
            if () in paths:
                pieces.append(_piece("", key, text[start:end], lines.at(start)))
            elif (key,) not in paths:
                head |= parse_yaml(text[start:end])
            elif body is None:
                raise _Uneven
            else:
                pieces += (
                    _piece(key, name, text[at:stop], lines.at(at))
                    for name, at, stop in _members(text, body.end(), end)
                )
    except _Uneven:
        return _cut_whole(text, paths)
    return LockCut(tuple(pieces), head)


def parse_yaml(text: str) -> Any:
    """Return the value of one document; raises UnreadableLock for a key that stands twice in one table."""
    document = read_yaml("", text)
    if document.problem or len(document.roots) > 1:
        raise UnreadableLock(document.problem or "has several documents")
    return _Plain().data_of(document.roots[0]) if document.roots else None


class _Uneven(ValueError):
    """The members of a table are not all on lines of their own, at one depth."""


def _piece(group: str, key: str, text: str, line: int) -> LockPiece:
    text = text.rstrip(" \n") + "\n"
    return LockPiece(group, key, text, "yaml", line, line + text.count("\n") - 1)


def _members(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Yield the key of each member of the table in a part of the text, and where its lines begin and end."""
    before = BEFORE_FIRST.match(text, start, end)
    if before is None or before.end() == end:
        return
    depth = before.end() - before.start("depth")
    # A line that is not deeper, from its end before to its first character.
    line = re.compile(rf"\n[ ]{{0,{depth}}}+(?=[^ \n\#])")
    others = [each.span() for each in line.finditer(text, before.end(), end)]
    if not all(stop - at == depth + 1 for at, stop in others):
        raise _Uneven
    starts = [before.start("depth"), *(at + 1 for at, _ in others), end]
    seen: set[str] = set()
    for at, stop in pairwise(starts):
        found = OPENING.match(text, at + depth, stop)
        if found is None:
            raise _Uneven
        key = _strip_quotes(found[0][:-1].rstrip(" "))
        if key in seen:
            raise UnreadableLock("an entry stands twice")
        seen.add(key)
        yield key, at, stop


def _strip_quotes(key: str) -> str:
    if key.startswith("'"):
        return key[1:-1].replace("''", "'")
    if key.startswith('"') and "\\" in key:
        return str(parse_yaml(key))
    return key[1:-1] if key.startswith('"') else key


class _Plain:
    """Turn nodes into data, at most so many: an alias counts each time that it is used."""

    def __init__(self) -> None:
        self.count = 0

    def data_of(self, node: Node) -> Any:
        self.count += 1
        if self.count > MOST_NODES:
            raise UnreadableLock(f"more than {MOST_NODES} nodes")
        if isinstance(node, Scalar):
            return node.text
        if isinstance(node, Items):
            return [self.data_of(each) for each in node.nodes]
        own = [name for name, _ in node.pairs if name != "<<"]
        if len(own) != len(set(own)):
            raise UnreadableLock("a key stands twice in one entry")
        # Those of its own come first, and count before merged ones.
        found: dict[str, Any] = {}
        for name, value in node.items():
            if name not in found:
                found[name] = self.data_of(value)
        return found


def _cut_whole(text: str, paths: Paths) -> LockCut:
    document = read_yaml("", text)
    if document.problem:
        raise UnreadableLock(document.problem)
    pieces: list[LockPiece] = []
    head: dict[str, Any] = {}
    groups = {steps[0] for steps in paths if steps}
    try:
        for root in document.roots:
            data = _Plain().data_of(root)
            if not isinstance(data, dict):
                raise UnreadableLock("of an unknown layout")
            lines = dict(_lines_of(root, 2))
            there = tuple(steps for steps in paths if not steps or steps[0] in data)
            if not all(isinstance(data[steps[0]], dict) for steps in there if steps):
                raise UnreadableLock("of an unknown layout")
            pieces += pieces_of_data(data, lines, there)
            if groups:
                head |= {key: data[key] for key in data if key not in groups}
    except RecursionError as error:
        raise UnreadableLock("nested too deep") from error
    return LockCut(tuple(pieces), head)


def _lines_of(
    node: Node, levels: int, trail: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], tuple[int, int]]]:
    """Yield the keys of each member of a table, down to some levels, with its first and last line."""
    if not isinstance(node, Table) or not levels:
        return
    for key, value in node.items():
        found = [each.line for each in every((value,)) if isinstance(each, Scalar)]
        if found:
            yield (*trail, key), (min(found), max(found))
        yield from _lines_of(value, levels - 1, (*trail, key))
