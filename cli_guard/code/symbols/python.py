"""Symbols of Python source."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from cli_guard.code.symbols.model import Doc, Symbol
from cli_guard.code.symbols.nesting import (
    field_text,
    first_line,
    is_trivial,
    last_line,
    owned_symbols,
)
from cli_guard.code.symbols.reading import symbol_of
from cli_guard.code.syntax import find_nodes
from cli_guard.rules.catalog import read_table

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_TABLE = read_table("languages/documentation.toml")
QUIET_DECORATORS: dict[str, str] = {
    name: reason
    for reason, names in _TABLE["quiet_decorators"].items()
    for name in names.split()
}
PLAIN_BASES = frozenset(_TABLE["plain_bases"].split())
BASE_NAME = re.compile(r"([\w.]+)")


def python_symbols(root: "SgNode") -> Iterator[Symbol]:
    """Return the functions and classes of a module, outer before inner."""
    kinds = ("function_definition", "class_definition")
    return owned_symbols(find_nodes(root, kinds), _symbol)


def _symbol(
    node: "SgNode", owner: Symbol | None, owner_node: "SgNode | None"
) -> Symbol | None:
    name = field_text(node, "name")
    body = node.field("body")
    colon = next((c for c in reversed(node.children()) if c.kind() == ":"), None)
    if not name or body is None or colon is None:
        return None
    is_class = node.kind() == "class_definition"
    method = not is_class and owner is not None and owner.kind == "class"
    parent = node.parent()
    decorated = parent is not None and parent.kind() == "decorated_definition"
    outermost = parent if decorated and parent is not None else node
    decorators = tuple(
        c.text()[1:].split("(")[0].strip()
        for c in outermost.children()
        if c.kind() == "decorator"
    )
    doc = _doc(body)
    kind = "method" if method else "function"
    symbol = symbol_of(
        node,
        name,
        owner.qualname if owner else "",
        "class" if is_class else kind,
        top=first_line(outermost),
        head_end=first_line(colon),
        public=not name.startswith("_") and (owner is None or owner.public),
        doc=doc,
        quiet=_quiet(name, body, first_line(colon), decorators, owner, owner_node),
        decorators=decorators,
    )
    if method and "staticmethod" not in decorators:
        symbol = replace(symbol, parameters=symbol.parameters[1:])
    return symbol


def _doc(body: "SgNode") -> Doc | None:
    first = next((c for c in body.named_children() if c.kind() != "comment"), None)
    if first is None or first.kind() != "expression_statement":
        return None
    inner = first.child(0)
    if inner is None or inner.kind() not in ("string", "concatenated_string"):
        return None
    return Doc(inner.text(), first_line(inner), last_line(inner))


def _quiet(
    name: str,
    body: "SgNode",
    head_end: int,
    decorators: tuple[str, ...],
    owner: Symbol | None,
    owner_node: "SgNode | None",
) -> str:
    if owner is not None and owner.is_function:
        return "nested"
    for decorator in decorators:
        reason = QUIET_DECORATORS.get(decorator.rsplit(".", 1)[-1])
        if reason:
            return reason
    if name == "main" or (name.startswith("__") and name.endswith("__")):
        return "known by its name"
    if first_line(body) <= head_end:
        return "trivial"
    if (
        owner_node is not None
        and owner is not None
        and owner.kind == "class"
        and _may_override(owner_node)
    ):
        return "may override"
    is_stub = all(c.kind() == "comment" for c in body.named_children())
    return "trivial" if not is_stub and is_trivial(body) else ""


def _may_override(owner: "SgNode") -> bool:
    bases = owner.field("superclasses")
    if bases is None:
        return False
    names = [
        BASE_NAME.match(b.text())
        for b in bases.named_children()
        if b.kind() != "keyword_argument"
    ]
    return any(m is None or m[1].rsplit(".", 1)[-1] not in PLAIN_BASES for m in names)
