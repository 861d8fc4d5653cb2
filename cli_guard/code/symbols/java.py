"""Symbols of Java source."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli_guard.code.symbols.model import Symbol
from cli_guard.code.symbols.nesting import (
    block_doc,
    comment_above,
    field_text,
    first_child,
    first_line,
    is_trivial,
    owned_symbols,
)
from cli_guard.code.symbols.reading import symbol_of
from cli_guard.code.syntax import find_nodes

if TYPE_CHECKING:
    from ast_grep_py import SgNode

TYPES = (
    "class_declaration",
    "interface_declaration",
    "enum_declaration",
    "record_declaration",
)
CALLED_BY_FRAMEWORKS = frozenset(
    ("Test", "Bean", "Before", "After", "BeforeEach", "AfterEach", "ExceptionHandler")
)
METHODS = ("method_declaration", "constructor_declaration")


def java_symbols(root: "SgNode") -> Iterator[Symbol]:
    """Return the types, methods and constructors of a compilation unit."""
    return owned_symbols(find_nodes(root, TYPES + METHODS), _symbol)


def _symbol(
    node: "SgNode", owner: Symbol | None, owner_node: "SgNode | None"
) -> Symbol | None:
    name = field_text(node, "name")
    if not name:
        return None
    is_type = node.kind() in TYPES
    modifiers = first_child(node, "modifiers")
    words = modifiers.children() if modifiers is not None else []
    annotations = tuple(
        field_text(w, "name")
        for w in words
        if w.kind() in ("marker_annotation", "annotation")
    )
    in_interface = owner_node is not None and owner_node.kind() == "interface_declaration"
    public = any(w.text() == "public" for w in words) or in_interface
    name_node = node.field("name")
    comments = comment_above(node, ("block_comment", "line_comment"))
    doc = block_doc(comments)
    return symbol_of(
        node,
        name,
        owner.qualname if owner else "",
        "class" if is_type else "method",
        line=first_line(name_node or node),
        public=public and (owner is None or (owner.public and owner.kind == "class")),
        doc=doc,
        quiet=_quiet(node, name, annotations, bool(comments) and doc is None),
        decorators=annotations,
    )


def _quiet(node: "SgNode", name: str, annotations: tuple[str, ...], commented: bool) -> str:
    body = node.field("body")
    if "Override" in annotations:
        return "override"
    if commented:
        return "commented"
    if name == "main" or node.kind() == "constructor_declaration":
        return "known by its name"
    if CALLED_BY_FRAMEWORKS.intersection(annotations):
        return "called by a framework"
    is_short = body is not None and node.kind() not in TYPES and is_trivial(body)
    return "trivial" if is_short else ""
