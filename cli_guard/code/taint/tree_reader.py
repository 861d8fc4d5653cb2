"""Read the nodes of a syntax tree by the table rules/languages/shapes.toml: names, members, lists of what is named."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from cli_guard.code.taint.program import Function, Node
from cli_guard.rules.catalog import read_table

if TYPE_CHECKING:
    from ast_grep_py import SgNode

SHAPES = (
    "name member index call macro text constant binary test not cast assign if loop comprehension switch return leave"
    " try function class block"
).split()
DEEPEST = 120
MOST_NODES = 150_000
# The library counts the characters before a node in its line, to tell its place: so many cost as much as a node.
COLUMNS_A_NODE = 10_000
TABLE = "languages/shapes.toml"
OBJECT = (
    "object receiver operand value argument expression target path scope condition".split()
)
MEMBER = ("property", "attribute", "field", "name", "suffix", "method")
WRAPPED = frozenset(
    (
        "argument",
        "value_argument",
        "attribute_argument",
        "literal_element",
        "element_initializer",
    )
)
PAIRED = frozenset(
    "keyword_argument pair keyed_element field_initializer pair_pattern array_element_initializer value_argument"
    " argument named_argument".split()
)
SIGILS = "$&*@"
LIST_TYPE = re.compile(r"(?:Array|List|Vec|vector|Sequence|Iterable|Set|list)\b")
TYPE_WORDS = re.compile(
    r"\b(?:const|mut|final|dyn|impl|var|val|let|struct|out|ref|readonly)\b|'[a-z]\w*\s"
)


class TooBigError(Exception):
    """The program has more nodes, or nests deeper, than is followed."""


@cache
def shapes(language: str) -> dict[str, str]:
    """Map the kinds of node of one language to their shapes."""
    table = read_table(TABLE)
    rows = [table["shapes"], table.get(language, {})]
    return {
        kind: shape
        for row in rows
        for shape, kinds in row.items()
        for kind in kinds.split()
    }


@cache
def cases(name: str) -> frozenset[str]:
    return frozenset(read_table(TABLE)["cases"][name].split())


class TreeReader:
    """Turns nodes into the shapes of `program`; those for which there is no method here are added by subclasses."""

    def __init__(self, language: str, text: str) -> None:
        self.text = text
        self.language = language
        self.shapes = shapes(language)
        self.functions: list[Function] = []
        self._owner = ""
        self._depth = 0
        self._count = 0
        self._special: dict[str, Callable[[SgNode, Node], Node]] = {
            shape: getattr(self, f"_{shape}") for shape in SHAPES
        }

    def lower(self, node: "SgNode") -> Node:
        span = node.range()
        made = Node("group", span.start.line + 1, span.start.index, span.end.index)
        self._count += 1 + span.start.column // COLUMNS_A_NODE
        self._depth += 1
        if self._depth > DEEPEST or self._count > MOST_NODES:
            raise TooBigError
        shape = self.shapes.get(node.kind(), "group")
        if shape == "nothing":
            made.op = "constant"
        elif shape == "group":
            self._fill(made, self._named_children(node))
        else:
            made = self._special[shape](node, made)
        self._depth -= 1
        return made

    def _source(self, node: "SgNode") -> str:
        span = node.range()
        return self.text[span.start.index : span.end.index]

    def _named_children(self, node: "SgNode") -> list["SgNode"]:
        return [child for child in node.children() if child.is_named()]

    def _all(self, nodes: Sequence["SgNode"]) -> tuple[Node, ...]:
        return tuple(map(self.lower, nodes))

    def _fill(self, made: Node, nodes: Sequence["SgNode"]) -> Node:
        """Lower parts that may have names: arguments, fields of an object."""
        keys: list[str | None] = []
        parts = []
        for node in nodes:
            if node.kind() in ("comment", "line_comment", "block_comment"):
                continue
            key, value = self._pair(node)
            keys.append(key)
            parts.append(self.lower(value))
        made.keys = tuple(keys)
        made.parts = tuple(parts)
        return made

    def _pair(self, node: "SgNode") -> tuple[str | None, "SgNode"]:
        if node.kind() in PAIRED:
            key = node.field("key") or node.field("name") or node.field("field")
            value = node.field("value")
            inner = self._named_children(node)
            if (
                value is None
                and len(inner) == 2
                and any(c.text() in ("=", "=>", ":") for c in node.children())
            ):
                key, value = inner
            elif value is None and inner:
                value = inner[-1]
            if value is not None:
                label = (
                    self._source(key).strip("\"':` ").removesuffix(":")
                    if key is not None
                    else None
                )
                return label, value
        elif node.kind() in WRAPPED and (inner := self._named_children(node)):
            return None, inner[-1]
        return None, node

    @staticmethod
    def _field(node: "SgNode", names: Sequence[str]) -> "SgNode | None":
        return next(
            (found for name in names if (found := node.field(name)) is not None), None
        )

    # One method a shape: it gets the node and an empty Node at its place, and returns what stands for it.

    def _name(self, node: "SgNode", made: Node) -> Node:
        text = self.text[made.start : made.end]
        if text.startswith("@") and self.language == "ruby":
            made.op = "member"
            made.name = text.lstrip("@")
            made.parts = (Node("name", made.line, made.start, made.start, name="self"),)
            return made
        made.op = "name"
        made.name = text.lstrip(SIGILS) if self.language != "javascript" else text
        return made

    def _constant(self, node: "SgNode", made: Node) -> Node:
        made.op, made.text = "constant", self.text[made.start : made.end]
        return made

    def _member(self, node: "SgNode", made: Node) -> Node:
        named = self._named_children(node)
        owner = self._field(node, OBJECT) or (named[0] if named else None)
        member = self._field(node, MEMBER) or (named[-1] if len(named) > 1 else None)
        if (
            owner is None
            or member is None
            or member.range().start.index < owner.range().start.index
        ):
            return self._fill(made, named)
        made.op = "member"
        made.name = self._source(member).lstrip("?.!:&>-$@").split("<")[0].strip()
        made.parts = (self.lower(owner),)
        return made

    def _index(self, node: "SgNode", made: Node) -> Node:
        named = self._named_children(node)
        made.op = "index"
        made.parts = self._all(named)
        return made if named else self._constant(node, made)


def plain_type(text: str) -> str:
    """Return a type without what is generic, optional or by reference in it: `&mut foo::Bar<T>` is `foo.Bar`.

    A list keeps its brackets: `[]byte` and `Array<Int>` are no numbers.
    """
    text = TYPE_WORDS.sub("", text.strip().lstrip(":")).strip()
    listed = "[]" if "[" in text or LIST_TYPE.match(text) else ""
    text = re.sub(r"<.*|\(.*|\[.*?\]", "", text, flags=re.DOTALL)
    return text.replace("::", ".").replace("\\", ".").strip(" *&?!.[]'\"") + listed
