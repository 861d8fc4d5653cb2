"""One model for YAML, JSON and TOML: tables, lists and scalars with their line numbers."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from fnmatch import fnmatchcase
from itertools import chain

from cli_guard.lazy import frozen
from cli_guard.reviewers.commands.extract.snippet import (
    Pieces,
    Snippet,
    Where,
    snippet,
    snippet_if_any,
)

BLANKS = re.compile(r"\s*")
MERGE = "<<"
MOST_NODES = 200_000
# The shell receives these as written, also with a variable that is filled in before.
PLAIN_WORD = re.compile(r"(?:[\w@%+=:,./~^-]|\$\{\w+\})+", re.ASCII)


@frozen(eq=False)
class Scalar:
    """A string, or any other value that is not a list or a table, as text."""

    pieces: Pieces
    tag: str = ""

    @property
    def text(self) -> str:
        """Return the value, unescaped and with its lines folded."""
        return "".join(text for _, text in self.pieces)

    @property
    def line(self) -> int:
        return self.pieces[0][0]


@frozen(eq=False)
class Items:
    nodes: "list[Node]" = field(default_factory=list)
    tag: str = ""


@frozen(eq=False)
class Table:
    """A mapping; of a repeated key the last counts, as npm, Ruby and Python have it."""

    pairs: "list[tuple[str, Node]]" = field(default_factory=list)
    tag: str = ""

    def get(self, key: str) -> "Node | None":
        """Return the value of a key, also one merged from another table (`<<` of YAML)."""
        own = [node for name, node in self.pairs if name == key]
        return (
            own[-1]
            if own
            else next((node for name, node in self.items() if name == key), None)
        )

    def text(self, key: str) -> str:
        """Return the value of a key as text, empty if it is missing."""
        node = self.get(key)
        return node.text if isinstance(node, Scalar) else ""

    def items(self) -> "Iterator[tuple[str, Node]]":
        """Return the pairs, its own before merged ones."""
        waiting: list[Table] = [self]
        seen = {id(self)}
        for table in waiting:
            for name, node in table.pairs:
                if name != MERGE:
                    yield name, node
                    continue
                for merged in (node, *node.nodes) if isinstance(node, Items) else (node,):
                    if isinstance(merged, Table) and id(merged) not in seen:
                        seen.add(id(merged))
                        waiting.append(merged)


Node = Scalar | Items | Table
# The open lists and tables, each with the key that waits for its value.
Opened = list[tuple[Items | Table, list[str]]]


def add_node(opened: Opened, node: Node) -> None:
    """Add a node to the innermost list or table; in a table every second one is a key."""
    parent, key = opened[-1]
    if isinstance(parent, Items):
        parent.nodes.append(node)
    elif key:
        parent.pairs.append((key.pop(), node))
    else:
        key.append(node.text if isinstance(node, Scalar) else "")


@frozen
class Document:
    """The readable contents of a file; `problem` says why the rest is unreadable, empty if it is not."""

    path: str
    roots: tuple[Node, ...] = ()
    problem: str = ""

    @property
    def is_cut(self) -> bool:
        """Return whether a bound of ours ended the reading, in a file that its own program can read."""
        return self.problem.startswith(("more than", "nested deeper"))


def at(nodes: Iterable[Node], *path: str) -> Iterator[Node]:
    """Yield the nodes at a path, each once: key patterns, `[]` for each item of a list."""
    return (node for _, node in named_at(nodes, *path))


def named_at(nodes: Iterable[Node], *path: str) -> Iterator[tuple[str, Node]]:
    """Yield the nodes at a path, each with its last key on the way, "" for an item of a list."""
    level = [("", node) for node in nodes]
    for step in path:
        below: dict[int, tuple[str, Node]] = {}
        for _, node in level:
            if step == "[]":
                items = node.nodes if isinstance(node, Items) else ()
                below.update((id(value), ("", value)) for value in items)
            elif isinstance(node, Table):
                for name, value in node.items():
                    if name == step or fnmatchcase(name, step):
                        below[id(value)] = (name, value)
        level = list(below.values())
    yield from level


def tables(nodes: Iterable[Node]) -> Iterator[Table]:
    """Yield every table of a document once, outer ones first."""
    return (node for node in every(nodes) if isinstance(node, Table))


def every(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield every node once, however often it is referred to, outer ones first, in order."""
    waiting = list(nodes)[::-1]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if isinstance(node, Items):
            waiting.extend(reversed(node.nodes))
        elif isinstance(node, Table):
            waiting.extend(value for _, value in reversed(node.pairs))


def scalars(node: Node | None) -> Iterator[Scalar]:
    """Yield the scalars of a list and of the lists in it, or the node itself; none for a table."""
    waiting = [node]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if isinstance(each, Scalar):
            yield each
        elif (
            isinstance(each, Items)
            and id(each) not in seen
            and not each.tag.startswith("!")
        ):
            seen.add(id(each))
            waiting.extend(reversed(each.nodes))


def align_lines(value: str, raw: Iterable[tuple[int, str]]) -> Pieces:
    """Return the value in pieces, one for each raw line it was folded from; blanks at its ends do not count."""
    found: list[tuple[int, int]] = []
    cursor = 0
    first = 1
    for number, line in raw:
        first = number if not found else first
        stripped = line.strip()
        if not stripped:
            continue
        place = BLANKS.match(value, cursor)
        cursor = place.end() if place else cursor
        if value.startswith(stripped, cursor):
            begin = value.rfind("\n", place.start() if place else 0, cursor) + 1
            found.append((begin or cursor, number))
            cursor += len(stripped)
    if not found:
        return ((first, value),)
    bounds = [0, *(offset for offset, _ in found[1:]), len(value)]
    return tuple(
        (line, value[a:b])
        for (_, line), a, b in zip(found, bounds, bounds[1:], strict=False)
    )


def lines(node: Node | None, where: Where, shell: str = "sh") -> Iterator[Snippet]:
    """Return a text, or a list of commands that one shell runs in order."""
    found = [each.pieces for each in scalars(node) if each.text.strip()]
    if found:
        yield snippet(end_lines(found), where, shell)


def each_line(node: Node | None, where: Where) -> Iterator[Snippet]:
    """Yield a text, or each of a list of independent commands."""
    yield from (snippet(each.pieces, where) for each in scalars(node) if each.text.strip())


def end_lines(texts: Iterable[Pieces]) -> Pieces:
    """Return the pieces of several texts, each with a line end after it."""
    return [piece for pieces in texts for piece in (*pieces, (pieces[-1][0], "\n"))]


def words(node: Node | None, where: Where) -> Iterator[Snippet]:
    """Return a text, or the words of one command, quoted for a shell."""
    return snippet_if_any(word_pieces(node), where)


def word_pieces(*nodes: Node | None) -> Pieces:
    """Return a text as it is, or the quoted words of a list with blanks between."""
    texts = (
        _quote(each) if isinstance(node, Items) else each.pieces
        for node in nodes
        for each in scalars(node)
    )
    return list(chain.from_iterable((*pieces, (pieces[-1][0], " ")) for pieces in texts))


def _quote(word: Scalar) -> Pieces:
    if PLAIN_WORD.fullmatch(word.text):
        return word.pieces
    first = word.pieces[0][0]
    last = word.pieces[-1][0]
    return (
        (first, "'"),
        *((line, text.replace("'", "'\\''")) for line, text in word.pieces),
        (last, "'"),
    )
