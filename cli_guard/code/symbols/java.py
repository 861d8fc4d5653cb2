"""Symbols of Java source."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli_guard.code.symbols.model import Parameter, Symbol
from cli_guard.code.symbols.nesting import (
    block_doc,
    comment_above,
    field_text,
    first_line,
    last_line,
    squeeze,
    with_enclosing,
)

if TYPE_CHECKING:
    from ast_grep_py import SgNode

TYPES = ("class_declaration", "interface_declaration", "enum_declaration", "record_declaration")
METHODS = ("method_declaration", "constructor_declaration")
SIMPLE = frozenset({"expression_statement", "return_statement", "throw_statement"})


def java_symbols(root: "SgNode", text: str) -> Iterator[Symbol]:
    """The types, methods and constructors of a compilation unit."""
    del text
    known: dict[int, Symbol] = {}
    for node, around in with_enclosing(root.find_all(any=[{"kind": kind} for kind in TYPES + METHODS])):
        outer = [known[n.range().start.index] for n in around if n.range().start.index in known]
        symbol = _symbol(node, outer[-1] if outer else None, around[-1] if outer else None)
        if symbol is not None:
            known[node.range().start.index] = symbol
            yield symbol


def _symbol(node: "SgNode", owner: Symbol | None, owner_node: "SgNode | None") -> Symbol | None:
    name = field_text(node, "name")
    if not name:
        return None
    is_type = node.kind() in TYPES
    modifiers = next((c for c in node.children() if c.kind() == "modifiers"), None)
    words = modifiers.children() if modifiers is not None else []
    annotations = tuple(
        field_text(w, "name") for w in words if w.kind() in ("marker_annotation", "annotation")
    )
    in_interface = owner_node is not None and owner_node.kind() == "interface_declaration"
    public = any(w.text() == "public" for w in words) or in_interface
    body = node.field("body")
    name_node = node.field("name")
    comments = comment_above(node, ("block_comment", "line_comment"))
    doc = block_doc(comments)
    return Symbol(
        kind="class" if is_type else "method",
        name=name,
        qualname=f"{owner.qualname}.{name}" if owner else name,
        top=first_line(node),
        line=first_line(name_node) if name_node is not None else first_line(node),
        head_end=first_line(body) if body is not None else last_line(node),
        body=first_line(body) if body is not None else last_line(node),
        end_line=last_line(node),
        public=public and (owner is None or (owner.public and owner.kind == "class")),
        parameters=() if is_type else tuple(_parameters(node)),
        returns=squeeze(field_text(node, "type")) if node.kind() == "method_declaration" else "",
        doc=doc,
        quiet=_quiet(node, name, body, annotations, bool(comments) and doc is None),
        owner=owner.name if owner else "",
        decorators=annotations,
        node=node,
    )


def _quiet(
    node: "SgNode", name: str, body: "SgNode | None", annotations: tuple[str, ...], commented: bool
) -> str:
    if "Override" in annotations:
        return "override"
    if commented:
        return "commented"
    if name == "main" or node.kind() == "constructor_declaration":
        return "known by its name"
    if {"Test", "Bean", "Before", "After", "BeforeEach", "AfterEach", "ExceptionHandler"} & set(annotations):
        return "called by a framework"
    if node.kind() == "method_declaration" and body is not None:
        statements = [c for c in body.named_children() if "comment" not in c.kind()]
        if not statements:
            return "trivial"
        only = statements[0]
        if len(statements) == 1 and only.kind() in SIMPLE and first_line(only) == last_line(only):
            return "trivial"
    return ""


def _parameters(node: "SgNode") -> Iterator[Parameter]:
    parameters = node.field("parameters")
    for child in parameters.named_children() if parameters is not None else ():
        if child.kind() == "formal_parameter":
            yield Parameter(field_text(child, "name"), squeeze(field_text(child, "type")))
        elif child.kind() == "spread_parameter":
            declarator = next((c for c in child.children() if c.kind() == "variable_declarator"), None)
            kind = next((c for c in child.named_children() if c.kind() != "modifiers"), child)
            yield Parameter(
                field_text(declarator, "name") if declarator is not None else "",
                squeeze(kind.text()),
                star="*",
                optional=True,
            )
