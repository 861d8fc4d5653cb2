"""Reads the nodes of several grammars alike: calls, attributes, literals, negations."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ast_grep_py import SgNode

CALLS = frozenset(
    {"call", "call_expression", "method_invocation", "new_expression", "object_creation_expression"}
)
NEW = frozenset({"new_expression", "object_creation_expression"})
ATTRIBUTES = {
    "attribute": ("object", "attribute"),
    "member_expression": ("object", "property"),
    "selector_expression": ("operand", "field"),
    "field_access": ("object", "field"),
    "field_expression": ("value", "field"),
}
SUBSCRIPTS = {
    "subscript": "value",
    "subscript_expression": "object",
    "index_expression": "operand",
    "array_access": "array",
}
NAMES = frozenset({"identifier", "shorthand_property_identifier"})
STRINGS = frozenset(
    {"string", "concatenated_string", "string_literal", "interpreted_string_literal", "raw_string_literal"}
    | {"template_string", "char_literal", "character_literal"}
)
NUMBERS = frozenset(
    {
        "integer",
        "float",
        "number",
        "int_literal",
        "float_literal",
        "decimal_integer_literal",
        "integer_literal",
    }
    | {"decimal_floating_point_literal"}
)
NOTHING = frozenset({"none", "null", "undefined", "nil", "null_literal"})
TRUTHS = frozenset({"true", "false", "boolean_literal"})
WRAPPERS = frozenset(
    {"parenthesized_expression", "await", "await_expression", "non_null_expression", "try_expression"}
)


def unwrapped(node: "SgNode") -> "SgNode":
    """The expression inside brackets and `await`."""
    while node.kind() in WRAPPERS:
        inner = [child for child in node.named_children() if child.kind() != "comment"]
        if len(inner) != 1:
            return node
        node = inner[0]
    return node


def line_of(node: "SgNode") -> int:
    """The line on which a node begins, counted from 1."""
    return node.range().start.line + 1


def callee(call: "SgNode") -> str:
    """The text of what is called: `os.path.join`, `Foo` of `new Foo()`."""
    if call.kind() == "method_invocation":
        owner, name = call.field("object"), call.field("name")
        own = name.text() if name is not None else ""
        return f"{owner.text()}.{own}" if owner is not None else own
    for field in ("function", "constructor", "type"):
        found = call.field(field)
        if found is not None:
            return found.text()
    return ""


def arguments(call: "SgNode") -> list["SgNode"]:
    """The arguments of a call, in their order, named ones too."""
    listed = call.field("arguments")
    if listed is None:
        return []
    if listed.kind() == "generator_expression":
        return [listed]
    return [child for child in listed.named_children() if "comment" not in child.kind()]


def positional(call: "SgNode") -> list["SgNode"]:
    """The arguments that are not named."""
    return [each for each in arguments(call) if each.kind() != "keyword_argument"]


def keyword(call: "SgNode", name: str) -> "SgNode | None":
    """The value of a named argument."""
    for each in arguments(call):
        if each.kind() == "keyword_argument":
            own, value = each.field("name"), each.field("value")
            if own is not None and own.text() == name:
                return value
    return None


def string_value(node: "SgNode | None") -> str | None:
    """The value of a literal string without interpolation or escapes; None for anything else."""
    if node is None or node.kind() not in STRINGS or descendant(node, "interpolation") is not None:
        return None
    text = node.text()
    if node.kind() == "template_string" or "\\" in text:
        return None if "${" in text or "\\" in text else text[1:-1]
    text = text.lstrip("rRbBuUfF")
    for quotes in ('"""', "'''", '"', "'", "`"):
        if len(text) >= 2 * len(quotes) and text.startswith(quotes) and text.endswith(quotes):
            return text[len(quotes) : -len(quotes)]
    return None


def attribute(node: "SgNode") -> tuple["SgNode", str] | None:
    """Object and name of an attribute access."""
    fields = ATTRIBUTES.get(node.kind())
    if fields is None:
        return None
    owner, name = node.field(fields[0]), node.field(fields[1])
    return (owner, name.text()) if owner is not None and name is not None else None


def expressions(node: "SgNode") -> Iterator["SgNode"]:
    """The expressions of a list such as Go's `a, b`, or the one that it is."""
    if node.kind() in ("expression_list", "pattern_list"):
        yield from node.named_children()
    else:
        yield node


def descendant(node: "SgNode", kind: str) -> "SgNode | None":
    """The first node of a kind below a node; a kind that the grammar does not have is nowhere."""
    try:
        return node.find(kind=kind)
    except RuntimeError:
        return None


def same(a: "SgNode | None", b: "SgNode | None") -> bool:
    """Are two handles of one node?"""
    return a is not None and b is not None and a.range() == b.range() and a.kind() == b.kind()
