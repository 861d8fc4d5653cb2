"""What the nodes of a tree mean to a comparison, and the text that they stand in."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from cli_guard.code.taint.grammar import TABLE, language_named
from cli_guard.code.taint.tree_reader import COMMENTS
from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_table

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# The shapes of nodes that say something themselves.
SPOKEN_SHAPES = frozenset("call macro if loop return function class assign".split())
KINDS = "decorators options arguments texts entries nested handlers locked typed bare_calls".split()


@frozen
class NodeKinds:
    """What kinds of node mean to a comparison, in one language; the table is rules/languages/shapes.toml."""

    shapes: Mapping[str, str]
    decorators: frozenset[str]
    options: frozenset[str]
    arguments: frozenset[str]
    texts: frozenset[str]
    entries: frozenset[str]
    lists: frozenset[str]
    nested: frozenset[str]
    handlers: frozenset[str]
    locked: frozenset[str]
    typed: frozenset[str]
    bare_calls: frozenset[str]
    spoken: frozenset[str]


@cache
def kinds_of(language: str) -> NodeKinds:
    """Return the kinds of node of a language as ast-grep names it."""
    table = read_table(TABLE)["changes"]
    own = table["only"].get(language, {})
    named = {
        name: frozenset(f"{table[name]} {own.get(name, '')}".split())
        for name in (*KINDS, "lists")
    }
    shapes = language_named(language).shapes
    own_shape = {kind for kind, shape in shapes.items() if shape in SPOKEN_SHAPES}
    spoken = frozenset(own_shape).union(COMMENTS, *(named[name] for name in KINDS))
    return NodeKinds(shapes, **named, spoken=spoken)


@frozen
class SourceTree:
    """A text, with the kinds of node of its language."""

    text: str
    kinds: NodeKinds

    def shape(self, node: "SgNode") -> str:
        """Return what a node is in any language, "" for what has no shape."""
        return self.kinds.shapes.get(node.kind(), "")

    def source(self, node: "SgNode | None") -> str:
        """Return the text of a node, "" for none."""
        if node is None:
            return ""
        span = node.range()
        return self.text[span.start.index : span.end.index]
