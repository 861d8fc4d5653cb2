"""The parts of a section, and how Markdown and reStructuredText write them."""

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; code stands between single backticks."""

    text: str


@dataclass(frozen=True, slots=True)
class Commands:
    """Lines to be typed or written, `language` for their colours."""

    lines: tuple[str, ...]
    language: str = "sh"


@dataclass(frozen=True, slots=True)
class Table:
    """A head, and rows of as many cells."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block = Text | Commands | Table


@dataclass(frozen=True, slots=True)
class Section:
    """A section without its heading. `grounds` are `path:line`, `note` what a person has to look at."""

    topic: str
    title: str
    blocks: tuple[Block, ...]
    grounds: tuple[str, ...] = ()
    note: str = ""


@dataclass
class Gathered:
    """What is collected for a section, in the order in which it is to stand."""

    blocks: list[Block] = field(default_factory=list)
    grounds: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *blocks: Block, ground: str = "") -> None:
        """Add blocks that rest on one line."""
        self.blocks += blocks
        if ground and ground not in self.grounds:
            self.grounds.append(ground)

    def section(self, topic: str, title: str) -> Section | None:
        """The section, None if nothing was found for it."""
        if not self.blocks:
            return None
        return Section(topic, title, tuple(self.blocks), tuple(self.grounds), " ".join(self.notes))


def lines_of(blocks: tuple[Block, ...], *, rst: bool) -> list[str]:
    """The blocks as lines, a blank one between two."""
    lines: list[str] = []
    for block in blocks:
        if lines:
            lines.append("")
        if isinstance(block, Text):
            lines.append(re.sub(r"`([^`]+)`", r"``\1``", block.text) if rst else block.text)
        elif isinstance(block, Commands):
            lines += _commands(block, rst)
        else:
            lines += _rst_table(block) if rst else _table(block)
    return lines


def _commands(block: Commands, rst: bool) -> list[str]:
    if rst:
        return [f".. code-block:: {block.language}", "", *(f"   {line}".rstrip() for line in block.lines)]
    return [f"```{block.language}", *block.lines, "```"]


def _table(block: Table) -> list[str]:
    rows = [tuple(cell.replace("|", "\\|") for cell in row) for row in block.rows]
    return [
        f"| {' | '.join(block.head)} |",
        f"|{'|'.join(' --- ' for _ in block.head)}|",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


def _rst_table(block: Table) -> list[str]:
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in (block.head, *block.rows):
        for place, cell in enumerate(row):
            shown = re.sub(r"`([^`]+)`", r"``\1``", cell)
            lines.append(f"   {'* -' if place == 0 else '  -'} {shown}".rstrip())
    return lines
