"""Cut YAML lock files into entries by the parser's events: an entry is the text of the value behind its key.

A file with anchors, which no program writes, is read as a whole: an entry may lead anywhere.
"""

import json
from collections.abc import Iterator
from typing import Any

from cli_guard.reviewers.commands.extract.nodes import MERGE, Items, Node, Scalar
from cli_guard.reviewers.commands.extract.yaml_nodes import (
    UNPRINTABLE,
    BrokenYaml,
    events_of,
    read_yaml,
)
from cli_guard.reviewers.dependencies.pieces import (
    LockCut,
    LockPiece,
    Paths,
    UnreadableLock,
    cut_json,
    unique,
)

DEEPEST = 100
# The characters that a document may stand for, all its aliases written out; each value counts some more.
MOST_CHARS = 20_000_000
NODE_CHARS = 100


class _HasAnchors(ValueError):
    """A part of the text may stand for another one."""


def cut_yaml(text: str, paths: Paths) -> LockCut:
    """Return the members of the tables at some paths, and the other keys of the root as data.

    Raises UnreadableLock for what the parser refuses, and for a key that stands twice on the way to the entries.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if UNPRINTABLE.search(text):
        raise UnreadableLock("it has characters that YAML forbids")
    cutter = _Cutter(text, paths)
    try:
        cutter.cut()
    except _HasAnchors:
        return cut_json(json.dumps(parse_yaml(text)), paths)
    except BrokenYaml as error:
        raise UnreadableLock(str(error)) from error
    return LockCut(tuple(cutter.pieces), cutter.head)


def parse_yaml(text: str) -> Any:
    """Return the value of one document; raises UnreadableLock for a key that stands twice in one table."""
    document = read_yaml("", text)
    if document.problem or len(document.roots) > 1:
        raise UnreadableLock(document.problem or "has several documents")
    return _Values().of(document.roots[0], 0) if document.roots else None


class _Values:
    """The values of nodes, each alias written out, and what may still be written."""

    def __init__(self) -> None:
        self._left = MOST_CHARS

    def of(self, node: Node, depth: int) -> Any:
        self._left -= NODE_CHARS + len(node.text if isinstance(node, Scalar) else "")
        if self._left < 0 or depth > DEEPEST:
            raise UnreadableLock("its aliases stand for too much")
        if isinstance(node, Scalar):
            return node.text
        if isinstance(node, Items):
            return [self.of(each, depth + 1) for each in node.nodes]
        own = [(name, value) for name, value in node.pairs if name != MERGE]
        found = unique((name, self.of(value, depth + 1)) for name, value in own)
        for name, value in node.items():
            if name not in found:
                found[name] = self.of(value, depth + 1)
        return found


class _Cutter:
    """The events that are left, and the entries that were found in those before."""

    def __init__(self, text: str, paths: Paths) -> None:
        self.pieces: list[LockPiece] = []
        self.head: dict[str, Any] = {}
        self._text = text
        self._paths = paths
        self._events = _plain_events(text)

    def cut(self) -> None:
        """Read all documents."""
        for event in self._events:
            if _kind_of(event) == "DocumentStart":
                self._cut_root()

    def _cut_root(self) -> None:
        for key in self._keys():
            if () in self._paths:
                self._add_piece("", key)
            elif (key.value,) in self._paths:
                for name in self._keys():
                    self._add_piece(key.value, name)
            else:
                self.head[key.value] = parse_yaml(self._read_value()[0])

    def _keys(self) -> Iterator[Any]:
        """Yield each key of the table that begins next; who gets one reads its value."""
        if _kind_of(next(self._events)) != "MappingStart":
            raise UnreadableLock("of an unknown layout")
        seen: set[str] = set()
        for key in self._events:
            if _kind_of(key) == "MappingEnd":
                return
            if _kind_of(key) != "Scalar":
                raise UnreadableLock("of an unknown layout")
            if key.value in seen:
                raise UnreadableLock("an entry stands twice")
            seen.add(key.value)
            yield key

    def _add_piece(self, group: str, key: Any) -> None:
        text, end = self._read_value()
        line = key.start_mark.line + 1
        last = line + self._text.count("\n", key.start_mark.index, end)
        self.pieces.append(LockPiece(group, key.value, text, "yaml", line, last))

    def _read_value(self) -> tuple[str, int]:
        """Return the text of the next value, its first line as far in as the others, and where it ends."""
        depth = 0
        start: Any = None
        for event in self._events:
            start = start or event.start_mark
            depth += _kind_of(event).endswith("Start")
            depth -= _kind_of(event).endswith("End")
            if depth > DEEPEST:
                raise UnreadableLock("nested too deep")
            if not depth:
                break
        written = self._text[start.index : event.end_mark.index].rstrip(" \n")
        return " " * start.column + written + "\n", start.index + len(written)


def _plain_events(text: str) -> Iterator[Any]:
    for event in events_of(text):
        if getattr(event, "anchor", None):
            raise _HasAnchors
        yield event


def _kind_of(event: object) -> str:
    return type(event).__name__.removesuffix("Event")
