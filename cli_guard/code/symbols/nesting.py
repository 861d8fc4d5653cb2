"""Nesting of definitions, computed from their spans (asking the tree would cost more)."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from cli_guard.code.symbols.model import Doc, Symbol

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# Statements of Python, JavaScript and Java that hold no others.
SIMPLE = frozenset(
    "expression_statement return_statement throw_statement pass_statement raise_statement"
    " delete_statement".split()
)


def with_enclosing(nodes: Iterable["SgNode"]) -> Iterator[tuple["SgNode", list["SgNode"]]]:
    """Yield each node, in source order, with its ancestors, the outermost first."""
    stack: list[tuple[int, SgNode]] = []
    for node in nodes:
        span = node.range()
        while stack and stack[-1][0] < span.end.index:
            stack.pop()
        yield node, [outer for _, outer in stack]
        stack.append((span.end.index, node))


def owned_symbols(
    nodes: Iterable["SgNode"],
    make: "Callable[[SgNode, Symbol | None, SgNode | None], Symbol | None]",
) -> Iterator[Symbol]:
    """Yield the symbols that `make` returns for a node, its enclosing symbol and its enclosing node."""
    known: dict[int, Symbol] = {}
    for node, around in with_enclosing(nodes):
        outer = [
            known[n.range().start.index] for n in around if n.range().start.index in known
        ]
        symbol = make(node, outer[-1], around[-1]) if outer else make(node, None, None)
        if symbol is not None:
            known[node.range().start.index] = symbol
            yield symbol


def first_child(node: "SgNode", kind: str) -> "SgNode | None":
    return next((child for child in node.children() if child.kind() == kind), None)


def is_trivial(body: "SgNode") -> bool:
    """Return whether a body is empty, or one simple statement on one line."""
    statements = [c for c in body.named_children() if "comment" not in c.kind()]
    if not statements:
        return True
    only = statements[0]
    return (
        len(statements) == 1
        and only.kind() in SIMPLE
        and first_line(only) == last_line(only)
    )


def nodes_in(node: "SgNode", field: str) -> "list[SgNode]":
    """Return the named nodes in a field, none if there is no such field."""
    child = node.field(field)
    return child.named_children() if child is not None else []


def squeeze(text: str) -> str:
    return " ".join(text.split())


def field_text(node: "SgNode", name: str) -> str:
    """Return the text of a field, empty if there is none."""
    child = node.field(name)
    return child.text() if child is not None else ""


def first_line(node: "SgNode") -> int:
    return node.range().start.line + 1


def last_line(node: "SgNode") -> int:
    """Return the line where the node ends; one that ends before a line's first character ends on the line above."""
    span = node.range()
    if span.end.column == 0 and span.end.line > span.start.line:
        return span.end.line
    return span.end.line + 1


def comment_above(node: "SgNode", kinds: tuple[str, ...]) -> list["SgNode"]:
    """Return the comments directly above a node, without a blank line between, in source order."""
    found: list[SgNode] = []
    line = first_line(node)
    previous = node.prev()
    while (
        previous is not None
        and previous.kind() in kinds
        and last_line(previous) in (line - 1, line)
    ):
        before = previous.prev()
        if before is not None and last_line(before) == first_line(previous):
            break  # it trails the line of something else
        found.insert(0, previous)
        line = first_line(previous)
        previous = before
    return found


def block_doc(comments: list["SgNode"]) -> Doc | None:
    """Return the comment that JSDoc and Javadoc read: the last one, if it is a block that begins with two stars."""
    if not comments or not comments[-1].text().startswith("/**"):
        return None
    return doc_of(comments[-1:])


def doc_of(comments: list["SgNode"]) -> Doc | None:
    """Join several comments, None if there are none."""
    if not comments:
        return None
    text = "\n".join(comment.text().rstrip("\n") for comment in comments)
    return Doc(text, first_line(comments[0]), last_line(comments[-1]))
