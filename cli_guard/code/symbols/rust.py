"""Symbols of Rust source. Public are unrestricted `pub` items, and the methods of a public trait."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli_guard.code.symbols.model import Symbol
from cli_guard.code.symbols.nesting import (
    doc_of,
    field_text,
    first_line,
    last_line,
    with_enclosing,
)
from cli_guard.code.symbols.reading import symbol_of
from cli_guard.code.syntax import find_nodes

if TYPE_CHECKING:
    from ast_grep_py import SgNode

TYPES = ("struct_item", "enum_item", "trait_item", "union_item")
FUNCTIONS = ("function_item", "function_signature_item")
AROUND = ("impl_item", "mod_item")


def rust_symbols(root: "SgNode") -> Iterator[Symbol]:
    """Return the functions, methods and types of a file, outer before inner."""
    nodes = find_nodes(root, (*TYPES, *FUNCTIONS, *AROUND))
    public: dict[int, bool] = {}
    for node, around in with_enclosing(nodes):
        inner = around[-1] if around else None
        if node.kind() in AROUND:
            # A trait's methods are documented at the trait; their implementations are not listed.
            public[node.range().start.index] = (
                node.kind() == "mod_item" or node.field("trait") is None
            )
            continue
        name = field_text(node, "name")
        if name:
            yield _symbol(node, name, inner, around, public)


def _symbol(
    node: "SgNode",
    name: str,
    inner: "SgNode | None",
    around: list["SgNode"],
    public: dict[int, bool],
) -> Symbol:
    in_trait = inner is not None and inner.kind() == "trait_item"
    own = node if not in_trait else inner
    visible = own is not None and any(
        c.kind() == "visibility_modifier" and c.text() == "pub" for c in own.children()
    )
    implements = (
        inner is not None
        and inner.kind() == "impl_item"
        and not public[inner.range().start.index]
    )
    within = any(outer.kind() in FUNCTIONS for outer in around)
    owner = _owner(inner)
    is_type = node.kind() in TYPES
    comments, attributes, top = _above(node)
    kind = "method" if owner else "function"
    return symbol_of(
        node,
        name,
        owner,
        "class" if is_type else kind,
        top=top,
        public=visible,
        doc=doc_of(comments),
        quiet=_quiet(within, implements, "test" in attributes),
    )


def _quiet(within: bool, implements: bool, test: bool) -> str:
    if within:
        return "nested"
    if implements:
        return "override"
    return "called by a framework" if test else ""


def _owner(inner: "SgNode | None") -> str:
    if inner is None or inner.kind() not in ("impl_item", "trait_item"):
        return ""
    return field_text(inner, "type" if inner.kind() == "impl_item" else "name").split("<")[
        0
    ]


def _above(node: "SgNode") -> tuple[list["SgNode"], set[str], int]:
    """Return the documentation above a node, past its attributes, and the first line of these."""
    comments: list[SgNode] = []
    attributes: set[str] = set()
    top = first_line(node)
    line = top
    previous = node.prev()
    while previous is not None and last_line(previous) == line - 1:
        if previous.kind() == "attribute_item":
            attributes.add(previous.text().strip("#[]").split("(")[0])
            top = first_line(previous) if not comments else top
        elif previous.text().startswith(("///", "/**")):
            comments.insert(0, previous)
        else:
            break
        line = first_line(previous)
        previous = previous.prev()
    return comments, attributes, top
