"""One form for YAML, JSON and TOML: tables, lists and scalars that know the lines they stand on."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import chain

from cli_guard.reviewers.commands.extract.snippet import Pieces, Snippet, Where, snippet, snippet_if_any

BLANKS = re.compile(r"\s*")
MERGE = "<<"
MOST_NODES = 200_000
# What the shell takes as it stands, also with a variable in it that is filled in before.
PLAIN_WORD = re.compile(r"(?:[\w@%+=:,./~^-]|\$\{\w+\})+", re.ASCII)


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """A string, or what else is no list and no table, as text."""

    pieces: Pieces
    tag: str = ""

    @property
    def text(self) -> str:
        """The value, its escapes read and its lines folded."""
        return "".join(text for _, text in self.pieces)

    @property
    def line(self) -> int:
        """The line that it begins on."""
        return self.pieces[0][0]


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """A list."""

    nodes: "list[Node]" = field(default_factory=list)
    tag: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A mapping; a key may come twice in what is not well-formed, then the first counts."""

    pairs: "list[tuple[str, Node]]" = field(default_factory=list)
    tag: str = ""

    def get(self, key: str) -> "Node | None":
        """The value of a key, also one that the table takes over from another (`<<` of YAML)."""
        return next((node for name, node in self.items() if name == key), None)

    def text(self, key: str) -> str:
        """The value of a key as text, empty if it is none."""
        node = self.get(key)
        return node.text if isinstance(node, Scalar) else ""

    def items(self) -> "Iterator[tuple[str, Node]]":
        """The pairs, its own first."""
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
# The lists and tables that a reading is in, each with the key that waits for its value.
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


@dataclass(frozen=True, slots=True)
class Document:
    """What a file holds, as far as it can be read; `problem` says why the rest cannot, empty if there is none."""

    path: str
    roots: tuple[Node, ...] = ()
    problem: str = ""


def at(nodes: Iterable[Node], *path: str) -> Iterator[Node]:
    """The nodes that a path leads to, each once: names of keys as patterns, `[]` for each item of a list."""
    level = list(nodes)
    for step in path:
        below: dict[int, Node] = {}
        for node in level:
            if step == "[]":
                found: Iterable[Node] = node.nodes if isinstance(node, Items) else ()
            elif isinstance(node, Table):
                found = (value for name, value in node.items() if name == step or fnmatchcase(name, step))
            else:
                found = ()
            below.update((id(value), value) for value in found)
        level = list(below.values())
    yield from level


def tables(nodes: Iterable[Node]) -> Iterator[Table]:
    """Every table of a document, each once, outer ones first."""
    return (node for node in every(nodes) if isinstance(node, Table))


def every(nodes: Iterable[Node]) -> Iterator[Node]:
    """Every node, each once however often it is referred to, outer ones first, in order."""
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
    """The scalars of a list and of the lists in it, or the one that the node is; a table has none of its own."""
    waiting = [node]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if isinstance(each, Scalar):
            yield each
        elif isinstance(each, Items) and id(each) not in seen and not each.tag.startswith("!"):
            seen.add(id(each))
            waiting.extend(reversed(each.nodes))


def align_lines(value: str, raw: Iterable[tuple[int, str]]) -> Pieces:
    """The value in pieces, one for each raw line it was folded from; blanks at its ends do not count."""
    found: list[tuple[int, int]] = []
    cursor, first = 0, 1
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
    return tuple((line, value[a:b]) for (_, line), a, b in zip(found, bounds, bounds[1:], strict=False))


def lines(node: Node | None, where: Where, shell: str = "sh") -> Iterator[Snippet]:
    """A text, or a list of commands that one shell runs after the other."""
    found = [each.pieces for each in scalars(node) if each.text.strip()]
    if found:
        yield snippet(end_lines(found), where, shell)


def each_line(node: Node | None, where: Where, shell: str = "sh") -> Iterator[Snippet]:
    """A text, or a list of commands that know nothing of one another."""
    yield from (snippet(each.pieces, where, shell) for each in scalars(node) if each.text.strip())


def end_lines(texts: Iterable[Pieces]) -> Pieces:
    """The pieces of several texts, each with a line end after it."""
    return [piece for pieces in texts for piece in (*pieces, (pieces[-1][0], "\n"))]


def words(node: Node | None, where: Where) -> Iterator[Snippet]:
    """A text, or the words of one command, quoted as a shell would need them."""
    return snippet_if_any(word_pieces(node), where)


def word_pieces(*nodes: Node | None) -> Pieces:
    """A text as it is and each word of a list in quotes, with blanks between."""
    texts = (
        _quote(each) if isinstance(node, Items) else each.pieces for node in nodes for each in scalars(node)
    )
    return list(chain.from_iterable((*pieces, (pieces[-1][0], " ")) for pieces in texts))


def _quote(word: Scalar) -> Pieces:
    if PLAIN_WORD.fullmatch(word.text):
        return word.pieces
    (first, _), (last, _) = word.pieces[0], word.pieces[-1]
    return ((first, "'"), *((line, text.replace("'", "'\\''")) for line, text in word.pieces), (last, "'"))
