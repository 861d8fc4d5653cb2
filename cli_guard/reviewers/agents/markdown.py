"""The blocks of a text that agents obey: paragraphs, items, fences, comments, front matter, with their lines."""

import re
from collections.abc import Iterator
from dataclasses import field
from enum import StrEnum

from cli_guard.lazy import dataclass

FENCE = re.compile(r"[ \t>]{0,40}(```+|~~~+)[ \t]*(\S{0,40})")
HEADING = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]+(.{1,400})")
ITEM = re.compile(r"[ \t>]{0,80}(?:[-*+•]|\d{1,4}[.)])[ \t]+")
QUOTE = re.compile(r"[ \t]{0,40}>")
# What a reader of the page does not see: comments, collapsed parts, elements that are not displayed.
OPENS_COMMENT = re.compile(r"<!--|\{/\*")
CLOSES_COMMENT = re.compile(r"--!?>|\*/\}")
LINK_COMMENT = re.compile(
    r"[ \t]{0,3}\[[^\]\n]{0,40}\]:[ \t]*(?:<>|#)[ \t]*[(\"'](.{1,2000})[)\"']"
)
OPENS_HIDDEN = re.compile(
    r"(?i)<details(?![^>]{0,80}\bopen\b)|<(?:div|span|p|section|template)\b[^>]{0,300}"
    r"(?:\bhidden\b|display:\s*none|visibility:\s*hidden|font-size:\s*0|opacity:\s*0\b|<template)"
)
CLOSES_HIDDEN = re.compile(r"(?i)</(?:details|div|span|p|section|template)>")
FRONT_LINE = re.compile(r"---[ \t]*\r?")


CODE = re.compile(r"`[^`\n]{1,400}`")
MOST_PARTS = 100


class BlockKind(StrEnum):
    """How a block is shown."""

    TEXT = "text"
    QUOTE = "quote"
    FENCE = "fence"
    FRONT = "front"
    COMMENT = "comment"
    COLLAPSED = "collapsed"


@dataclass(slots=True)
class Block:
    """Lines that are read together. `headings` stand above it, `intro` is the text before a list or a fence."""

    kind: BlockKind
    headings: tuple[str, ...]
    intro: str = ""
    language: str = ""
    is_item: bool = False
    lines: list[tuple[int, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(line for _, line in self.lines)

    def line_at(self, offset: int) -> int:
        """Return the number of the line that holds a place of the text."""
        return self.lines[self.text.count("\n", 0, offset)][0]


class BlockReader:
    """Reads a text line by line; a state machine over fences, comments, hidden elements and front matter."""

    def __init__(self, text: str, *, is_data: bool) -> None:
        self._numbered = list(enumerate(text.split("\n"), 1))
        self._headings: list[tuple[int, str]] = []
        self._intro = ""
        self._block: Block | None = None
        self._kind = BlockKind.FRONT if is_data else BlockKind.TEXT
        self._fence = ""
        self._has_front = False

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in their order."""
        for number, line in self._numbered:
            yield from self._read(number, line.rstrip("\r"))
        yield from self._close()

    def _read(self, number: int, line: str) -> Iterator[Block]:
        if FRONT_LINE.fullmatch(line) and (number == 1 or self._has_front):
            yield from self._close()
            self._has_front = number == 1
            self._kind = BlockKind.FRONT if self._has_front else BlockKind.TEXT
            return
        if self._kind is BlockKind.FRONT:
            # Keys of front matter are texts of their own; lines that are set in belong to the key above.
            if line[:1].strip():
                yield from self._close()
            self._add(number, line)
            return
        if self._fence:
            yield from self._read_fenced(number, line)
            return
        yield from self._read_parts(number, line)

    def _read_fenced(self, number: int, line: str) -> Iterator[Block]:
        found = FENCE.match(line)
        if found and found[1].startswith(self._fence) and not found[2]:
            yield from self._close()
            self._fence = ""
        else:
            self._add(number, line)

    def _read_parts(self, number: int, line: str) -> Iterator[Block]:
        """Read a line of which comments and hidden elements may be parts."""
        rest = line
        for _ in range(MOST_PARTS):
            closes = {
                BlockKind.COMMENT: CLOSES_COMMENT,
                BlockKind.COLLAPSED: CLOSES_HIDDEN,
            }.get(self._kind)
            # What is quoted as code opens nothing.
            marks = rest if closes else CODE.sub(lambda code: " " * len(code[0]), rest)
            found = (closes or OPENS_COMMENT).search(marks)
            hidden = None if closes else OPENS_HIDDEN.search(marks)
            first = min(
                filter(None, (found, hidden)), key=lambda each: each.start(), default=None
            )
            before = rest if first is None else rest[: first.start()]
            yield from self._read_plain(number, before)
            if first is None:
                return
            yield from self._close()
            if closes:
                self._kind = BlockKind.TEXT
            else:
                self._kind = BlockKind.COMMENT if first is found else BlockKind.COLLAPSED
            rest = rest[first.end() :]
        # So many parts are no page; what is left counts as what is not shown.
        self._kind = BlockKind.COMMENT
        self._add(number, rest)

    def _read_plain(self, number: int, line: str) -> Iterator[Block]:
        comment = LINK_COMMENT.fullmatch(line)
        if comment:
            yield from self._close()
            yield Block(BlockKind.COMMENT, (), lines=[(number, comment[1])])
            return
        fence = FENCE.match(line)
        if fence and self._kind is BlockKind.TEXT:
            yield from self._close()
            self._fence = fence[1]
            self._block = self._new(BlockKind.FENCE, fence[2])
            return
        heading = HEADING.match(line)
        if heading and self._kind is BlockKind.TEXT:
            yield from self._close()
            depth = len(heading[1])
            self._headings = [each for each in self._headings if each[0] < depth]
            self._headings.append((depth, heading[2]))
            self._intro = ""
            return
        if not line.strip():
            yield from self._close()
            return
        item = ITEM.match(line)
        if item:
            yield from self._close()
            line = line[item.end() :]
        self._add(number, line, is_item=item is not None)

    def _add(self, number: int, line: str, *, is_item: bool = False) -> None:
        if self._block is None:
            kind = self._kind
            if kind is BlockKind.TEXT and QUOTE.match(line):
                kind = BlockKind.QUOTE
            self._block = self._new(kind)
            self._block.is_item = is_item
        self._block.lines.append((number, line))

    def _new(self, kind: BlockKind, language: str = "") -> Block:
        headings = tuple(title for _, title in self._headings)
        return Block(kind, headings, self._intro, language)

    def _close(self) -> Iterator[Block]:
        block = self._block
        self._block = None
        if block is None or not block.lines:
            return
        if block.kind is BlockKind.TEXT and not block.is_item:
            # What ends with a colon is about the list or fence behind it.
            text = block.text.rstrip(" *_")
            self._intro = text.rpartition(". ")[2] if text.endswith(":") else ""
        yield block


def read_blocks(text: str, *, is_data: bool = False) -> list[Block]:
    """Return the blocks of a Markdown text; of a file of data every line is like front matter."""
    return list(BlockReader(text, is_data=is_data).blocks())
