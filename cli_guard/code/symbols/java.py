"""Symbols of Java source."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli_guard.code.symbols.model import Parameter, Symbol
from cli_guard.code.symbols.nesting import (
    block_doc,
    comment_above,
    field_text,
    first_line,
    is_trivial,
    last_line,
    nodes_in,
    owned_symbols,
    squeeze,
)

if TYPE_CHECKING:
    from ast_grep_py import SgNode

TYPES = (
    "class_declaration",
    "interface_declaration",
    "enum_declaration",
    "record_declaration",
)
METHODS = ("method_declaration", "constructor_declaration")


def java_symbols(root: "SgNode") -> Iterator[Symbol]:
    """Return the types, methods and constructors of a compilation unit."""
    return owned_symbols(
        root.find_all(any=[{"kind": kind} for kind in TYPES + METHODS]), _symbol
    )


def _symbol(
    node: "SgNode", owner: Symbol | None, owner_node: "SgNode | None"
) -> Symbol | None:
    name = field_text(node, "name")
    if not name:
        return None
    is_type = node.kind() in TYPES
    modifiers = next((c for c in node.children() if c.kind() == "modifiers"), None)
    words = modifiers.children() if modifiers is not None else []
    annotations = tuple(
        field_text(w, "name")
        for w in words
        if w.kind() in ("marker_annotation", "annotation")
    )
    in_interface = owner_node is not None and owner_node.kind() == "interface_declaration"
    public = any(w.text() == "public" for w in words) or in_interface
    body = node.field("body")
    name_node = node.field("name")
    begin = first_line(body) if body is not None else last_line(node)
    comments = comment_above(node, ("block_comment", "line_comment"))
    doc = block_doc(comments)
    return Symbol(
        kind="class" if is_type else "method",
        name=name,
        qualname=f"{owner.qualname}.{name}" if owner else name,
        top=first_line(node),
        line=first_line(name_node) if name_node is not None else first_line(node),
        head_end=begin,
        body=begin,
        end_line=last_line(node),
        public=public and (owner is None or (owner.public and owner.kind == "class")),
        parameters=() if is_type else tuple(_parameters(node)),
        returns=squeeze(field_text(node, "type"))
        if node.kind() == "method_declaration"
        else "",
        doc=doc,
        quiet=_quiet(node, name, body, annotations, bool(comments) and doc is None),
        owner=owner.name if owner else "",
        decorators=annotations,
        node=node,
    )


def _quiet(
    node: "SgNode",
    name: str,
    body: "SgNode | None",
    annotations: tuple[str, ...],
    commented: bool,
) -> str:
    if "Override" in annotations:
        return "override"
    if commented:
        return "commented"
    if name == "main" or node.kind() == "constructor_declaration":
        return "known by its name"
    if {
        "Test",
        "Bean",
        "Before",
        "After",
        "BeforeEach",
        "AfterEach",
        "ExceptionHandler",
    } & set(annotations):
        return "called by a framework"
    if node.kind() == "method_declaration" and body is not None:
        return "trivial" if is_trivial(body) else ""
    return ""


def _parameters(node: "SgNode") -> Iterator[Parameter]:
    for child in nodes_in(node, "parameters"):
        if child.kind() == "formal_parameter":
            yield Parameter(field_text(child, "name"), squeeze(field_text(child, "type")))
        elif child.kind() == "spread_parameter":
            declarator = next(
                (c for c in child.children() if c.kind() == "variable_declarator"), None
            )
            kind = next(
                (c for c in child.named_children() if c.kind() != "modifiers"), child
            )
            yield Parameter(
                field_text(declarator, "name") if declarator is not None else "",
                squeeze(kind.text()),
                star="*",
                optional=True,
            )
