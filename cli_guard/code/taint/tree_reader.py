"""Read the nodes of a syntax tree, each by the function for its shape, and lists of what is named."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from cli_guard.code.taint.grammar import language_named
from cli_guard.code.taint.program import FlowFunction, FlowNode

if TYPE_CHECKING:
    from ast_grep_py import SgNode

DEEPEST = 120
MOST_NODES = 150_000
# The library counts the characters before a node in its line, to tell its place: so many cost as much as a node.
COLUMNS_A_NODE = 10_000
# A line is not begun if by its words it needs so many times what is followed: words in texts are no nodes.
WORDS_A_NODE = 4
WORD = re.compile(r"\w+")
COMMENTS = ("comment", "line_comment", "block_comment")
# Around one value, and around one that may have a name.
WRAPPED = ("attribute_argument", "literal_element", "element_initializer")
PAIRED = frozenset(
    "keyword_argument pair keyed_element field_initializer pair_pattern array_element_initializer value_argument"
    " argument named_argument".split()
)


class TooBigError(Exception):
    """The program has more nodes, or nests deeper, than is followed."""


def has_hopeless_line(text: str) -> bool:
    """Return whether a line, as of a bundle, is far too long for its nodes to be followed."""
    longest = max(text.split("\n"), key=len)
    looks = len(longest) // 2 // COLUMNS_A_NODE
    return looks > 0 and len(WORD.findall(longest)) * looks > MOST_NODES * WORDS_A_NODE


class TreeReader:
    """Turns nodes into the shapes of `program`.

    A function of `readers` gets this reader, a node and an empty Node at its place, and returns what stands for it.
    """

    def __init__(self, language: str, text: str, readers: "Mapping[str, Reader]") -> None:
        self.text = text
        self.language = language_named(language)
        self.functions: list[FlowFunction] = []
        # The class around what is read.
        self.owner = ""
        self._readers = readers
        self._depth = 0
        self._count = 0

    def lower(self, node: "SgNode") -> FlowNode:
        """Return what a node is in the shapes of `program`. Raises TooBigError."""
        # Each look at a place makes an object in the library: one a node.
        span = node.range()
        start = span.start
        made = FlowNode("group", start.line + 1, start.index, span.end.index)
        self.spend(1 + start.column // COLUMNS_A_NODE)
        self._depth += 1
        if self._depth > DEEPEST:
            raise TooBigError
        shape = self.language.shapes.get(node.kind(), "group")
        if shape == "nothing":
            made.op = "constant"
        elif shape == "group":
            self.fill(made, node.named_children())
        else:
            made = self._readers[shape](self, node, made)
        self._depth -= 1
        return made

    def spend(self, count: int) -> None:
        """Count nodes. Raises TooBigError when there were too many."""
        self._count += count
        if self._count > MOST_NODES:
            raise TooBigError

    def place(self, node: "SgNode", op: str = "group") -> FlowNode:
        span = node.range()
        start = span.start
        return FlowNode(op, start.line + 1, start.index, span.end.index)

    def source(self, node: "SgNode | None") -> str:
        """Return the text of a node, "" for none."""
        if node is None:
            return ""
        span = node.range()
        return self.text[span.start.index : span.end.index]

    def lower_all(self, nodes: Sequence["SgNode"]) -> tuple[FlowNode, ...]:
        return tuple(map(self.lower, nodes))

    def sequence(self, nodes: Sequence["SgNode"], made: FlowNode) -> FlowNode:
        return made.beside("block", self.lower_all(nodes))

    def fill(self, made: FlowNode, nodes: Sequence["SgNode"]) -> FlowNode:
        """Lower parts that may have names: arguments, fields of an object."""
        keys: list[str | None] = []
        parts = []
        for node in nodes:
            if node.kind() not in COMMENTS:
                key, value = self._pair(node)
                keys.append(key)
                parts.append(self.lower(value))
        made.keys = tuple(keys)
        made.parts = tuple(parts)
        return made

    def call(self, made: FlowNode, callee: FlowNode, given: Sequence["SgNode"]) -> FlowNode:
        """Make a call of what is there already with these arguments."""
        self.fill(made, given)
        made.op = "call"
        made.parts = (callee, *made.parts)
        made.keys = (None, *made.keys)
        return made

    def _pair(self, node: "SgNode") -> tuple[str | None, "SgNode"]:
        kind = node.kind()
        if kind not in PAIRED and kind not in WRAPPED:
            return None, node
        inner = node.named_children()
        key = field_of(node, ("key", "name", "field")) if kind in PAIRED else None
        value = node.field("value") if kind in PAIRED else None
        if value is None and len(inner) == 2 and has_sign(node, ("=", "=>", ":")):
            key, value = inner
        elif value is None and inner:
            value = inner[-1]
        if key is None or value is None:
            return None, value or node
        return self.source(key).strip("\"':` ").removesuffix(":"), value


Reader = Callable[[TreeReader, "SgNode", FlowNode], FlowNode]


def field_of(node: "SgNode", names: Sequence[str]) -> "SgNode | None":
    """Return the first of these fields that a node has."""
    for name in names:
        found = node.field(name)
        if found is not None:
            return found
    return None


def first_of(nodes: Sequence["SgNode"], *kinds: str) -> "SgNode | None":
    """Return the first node of one of these kinds."""
    for node in nodes:
        if node.kind() in kinds:
            return node
    return None


def has_sign(node: "SgNode", signs: Sequence[str]) -> bool:
    """Return whether one of these signs stands between the parts of a node."""
    return any(child.text() in signs for child in node.children())
