"""Read YAML into nodes from the parser's events: aliases are not expanded, and deep nesting is bounded."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli_guard.reviewers.commands.extract.nodes import (
    MOST_NODES,
    Document,
    Items,
    Node,
    Opened,
    Scalar,
    Table,
    add_node,
    align_lines,
)
from cli_guard.reviewers.commands.extract.snippet import LineNumbers, Pieces

if TYPE_CHECKING:
    from yaml.events import Event, ScalarEvent

# Characters that YAML forbids, and the line ends of YAML 1.1: one of them must not hide the rest of a file.
UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]"
)
# Lines of directives before a document, and what stands between them.
PROLOGUE = re.compile(
    r"(?:\A|^\.\.\.[^\r\n]*[\r\n])(?:[ \t]*(?:#[^\r\n]*)?[\r\n]|%[^\r\n]*[\r\n])+",
    re.MULTILINE,
)
# Only %TAG means something: other parsers skip a directive that they do not know, as the specification has it.
DIRECTIVE = re.compile(r"^%(?!TAG[ \t])", re.MULTILINE)
PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
BLOCK_HEADER = re.compile(r"[|>][^\n]*\n?")
# The parser takes time in proportion to the depth for each token.
DEEPEST = 500
QUOTES = ("'", '"')
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.?))")
ESCAPED = dict(zip("ntr0abvfe", "\n\t\r\0\a\b\v\f\x1b", strict=True))


def read_yaml(path: str, text: str) -> Document:
    """Read the documents of a YAML file, up to the first error."""
    clean = UNPRINTABLE.sub("?", text.removeprefix("\ufeff"))
    clean = PROLOGUE.sub(lambda found: DIRECTIVE.sub("#", found[0]), clean)
    reader = _Reader(clean)
    try:
        reader.read()
    except BrokenYaml as error:
        return Document(path, tuple(reader.roots), str(error))
    return Document(path, tuple(reader.roots))


class BrokenYaml(ValueError):
    """Why the parser stopped, in a few words."""


class _Reader:
    """The state of the reader: the open lists and tables, and the anchors."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.roots: list[Node] = []
        self.open: Opened = []
        self.anchors: dict[str, Node] = {}
        self.lines = LineNumbers(text)

    def read(self) -> None:
        for count, event in enumerate(events_of(self.text)):
            if count > 2 * MOST_NODES:
                raise BrokenYaml(f"more than {MOST_NODES} nodes")
            self.take(event)

    def take(self, event: "Event") -> None:
        kind = type(event).__name__
        anchor = getattr(event, "anchor", None)
        tag = getattr(event, "tag", None) or ""
        if kind == "ScalarEvent":
            self.add(Scalar(self.pieces(event), tag), anchor)  # type: ignore[arg-type]
        elif kind == "AliasEvent":
            self.add(self.anchors.get(anchor or "", Items()))
        elif kind in ("SequenceStartEvent", "MappingStartEvent"):
            node = Items(tag=tag) if kind == "SequenceStartEvent" else Table(tag=tag)
            self.add(node, anchor)
            self.open.append((node, []))
            if len(self.open) > DEEPEST:
                raise BrokenYaml(f"nested deeper than {DEEPEST}")
        elif kind in ("SequenceEndEvent", "MappingEndEvent"):
            self.open.pop()

    def add(self, node: Node, anchor: str | None = None) -> None:
        if anchor:
            self.anchors[anchor] = node
        if not self.open:
            self.roots.append(node)
            return
        add_node(self.open, node)

    def pieces(self, event: "ScalarEvent") -> Pieces:
        """Return the value of a scalar in pieces with their lines."""
        start, end = (
            mark.index if mark else 0 for mark in (event.start_mark, event.end_mark)
        )
        raw = self.text[start:end]
        line = self.lines.at(start)
        if "\n" not in raw.rstrip() or not event.value:
            return ((line, event.value),)
        skipped = PROPERTIES.match(raw)
        begin = skipped.end() if skipped else 0
        if event.style in ("|", ">"):
            header = BLOCK_HEADER.match(raw, begin)
            begin = header.end() if header else begin
        elif event.style in QUOTES:
            begin += 1
        line += raw.count("\n", 0, begin)
        inner = (
            raw[begin:].removesuffix(event.style) if event.style in QUOTES else raw[begin:]
        )
        return align_lines(
            event.value,
            enumerate((_unescape(each, event.style) for each in inner.split("\n")), line),
        )


def _unescape(line: str, style: str | None) -> str:
    """Unescape one line of a quoted scalar; an escaped line end leaves nothing."""
    if style == "'":
        return line.replace("''", "'")
    return ESCAPE.sub(_escape, line) if style == '"' else line


def _escape(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    return (
        chr(min(int(digits, 16), 0x10FFFF)) if digits else ESCAPED.get(match[4], match[4])
    )


def events_of(text: str) -> "Iterator[Event]":
    import yaml

    try:
        yield from yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise BrokenYaml(
            f"invalid YAML at line {mark.line + 1}" if mark else "no YAML"
        ) from error
    except yaml.YAMLError as error:
        raise BrokenYaml("no YAML") from error
