"""Symbols of Go source. Names with a capital are exported (https://go.dev/ref/spec#Exported_identifiers)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli_guard.code.symbols.model import Symbol
from cli_guard.code.symbols.nesting import (
    comment_above,
    doc_of,
    field_text,
    first_line,
    last_line,
)
from cli_guard.code.symbols.reading import symbol_of
from cli_guard.code.syntax import find_nodes
from cli_guard.rules.catalog import read_table

if TYPE_CHECKING:
    from ast_grep_py import SgNode

INTERFACE_METHODS = frozenset(
    read_table("languages/documentation.toml")["interface_methods"].split()
)


def go_symbols(root: "SgNode") -> Iterator[Symbol]:
    """Return the functions, methods and types of a file of a package; those of package main are not public."""
    package = root.find(kind="package_identifier")
    library = package is None or package.text() != "main"
    kinds = ("function_declaration", "method_declaration", "type_spec", "type_alias")
    for node in find_nodes(root, kinds):
        name = field_text(node, "name")
        if name:
            yield _symbol(node, name, library)


def _symbol(node: "SgNode", name: str, library: bool) -> Symbol:
    is_type = node.kind() in ("type_spec", "type_alias")
    statement = _statement(node) if is_type else node
    receiver = _receiver(node)
    local = is_type and _local(statement)
    comments = comment_above(statement, ("comment",))
    if all(c.text().startswith(("//go:", "//nolint", "//line")) for c in comments):
        comments = []
    exported = name[0].isupper() and (not receiver or receiver[0].isupper())
    kind = "method" if receiver else "function"
    begin = first_line(node.field("body") or node)
    return symbol_of(
        node,
        name,
        receiver,
        "class" if is_type else kind,
        top=first_line(statement),
        head_end=begin,
        body=begin,
        public=library and exported and not local,
        doc=doc_of(comments),
        quiet=_quiet(name, receiver, node.field("body")),
    )


def _statement(node: "SgNode") -> "SgNode":
    """Return the documented node: `type X ...` alone has its comment above `type`, one in a group above its line."""
    parent = node.parent()
    if parent is None or any(c.kind() == "(" for c in parent.children()):
        return node
    return parent


def _local(statement: "SgNode") -> bool:
    return any(a.kind() in ("block", "statement_list") for a in statement.ancestors())


def _receiver(node: "SgNode") -> str:
    receiver = node.field("receiver")
    if receiver is None:
        return ""
    identifier = receiver.find(kind="type_identifier")
    return identifier.text() if identifier is not None else ""


def _quiet(name: str, receiver: str, body: "SgNode | None") -> str:
    if receiver and name in INTERFACE_METHODS:
        return "known by its name"
    if body is not None and last_line(body) - first_line(body) <= 2:
        statements = [c for part in body.named_children() for c in part.named_children()]
        if len(statements) <= 1 and "block" not in {
            c.kind() for s in statements for c in s.named_children()
        }:
            return "trivial"
    return ""
