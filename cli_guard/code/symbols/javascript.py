"""Symbols of JavaScript, TypeScript and TSX source."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli_guard.code.symbols.model import Symbol
from cli_guard.code.symbols.nesting import (
    block_doc,
    comment_above,
    field_text,
    first_line,
    is_trivial,
    last_line,
    owned_symbols,
)
from cli_guard.code.symbols.reading import symbol_of

if TYPE_CHECKING:
    from ast_grep_py import SgNode

DEFINITIONS = (
    "function_declaration",
    "generator_function_declaration",
    "class_declaration",
    "method_definition",
)
# A kind that a grammar does not know is an error, and JavaScript has no abstract class.
TYPESCRIPT_DEFINITIONS = (*DEFINITIONS, "abstract_class_declaration")
VALUES = ("arrow_function", "function_expression", "generator_function")
COMMON_JS_LIST = re.compile(r"module\.exports\s*=\s*\{([^{}]*)\}")
COMMON_JS_NAME = re.compile(r"\bexports(?:\.[\w$]+)?\s*=\s*([\w$]+)")
WORD = re.compile(r"[\w$]+")


def typescript_symbols(root: "SgNode") -> Iterator[Symbol]:
    """Return the same of TypeScript and TSX."""
    return javascript_symbols(root, TYPESCRIPT_DEFINITIONS)


def javascript_symbols(
    root: "SgNode", kinds: tuple[str, ...] = DEFINITIONS
) -> Iterator[Symbol]:
    """Return the named functions, classes and methods of a module; `public` are the exported ones."""
    exported = _exported_names(root, root.text())
    value = {"any": [{"kind": kind} for kind in VALUES]}
    rules = [{"kind": kind} for kind in kinds]
    rules.append({"kind": "variable_declarator", "has": {"field": "value", **value}})  # type: ignore[dict-item]

    def make(
        node: "SgNode", owner: Symbol | None, owner_node: "SgNode | None"
    ) -> Symbol | None:
        return _symbol(node, owner, owner_node, exported)

    return owned_symbols(root.find_all(any=rules), make)  # type: ignore[arg-type]


def _exported_names(root: "SgNode", text: str) -> frozenset[str]:
    names = set()
    if "export" in text:
        for specifier in root.find_all(kind="export_specifier"):
            names.add(field_text(specifier, "name"))
        for statement in root.find_all(kind="export_statement"):
            value = statement.field("value")
            if value is not None and value.kind() == "identifier":
                names.add(value.text())
    if "exports" in text:
        for match in COMMON_JS_LIST.finditer(text):
            names.update(WORD.findall(match[1]))
        names.update(COMMON_JS_NAME.findall(text))
    return frozenset(names)


def _symbol(
    node: "SgNode",
    owner: Symbol | None,
    owner_node: "SgNode | None",
    exported: frozenset[str],
) -> Symbol | None:
    function = node.field("value") if node.kind() == "variable_declarator" else node
    name = field_text(node, "name")
    body = function.field("body") if function is not None else None
    if function is None or body is None or not WORD.fullmatch(name.lstrip("#")):
        return None
    is_class = "class" in node.kind()
    is_method = node.kind() == "method_definition"
    statement = _statement(node)
    comments = comment_above(_first(statement), ("comment",))
    doc = block_doc(comments)
    kind = "method" if is_method else "function"
    has_block = is_class or "block" in body.kind()
    return symbol_of(
        node,
        name,
        owner.qualname if owner else "",
        "class" if is_class else kind,
        top=first_line(_first(statement)),
        head_end=first_line(body) if has_block else _arrow_line(function),
        body=first_line(body),
        public=_public(node, name, statement, owner, exported),
        doc=doc,
        quiet=_quiet(node, name, body, () if doc else tuple(comments), owner, owner_node),
        node=function,
    )


def _statement(node: "SgNode") -> "SgNode":
    """Return the whole statement of a definition, with `export`: comments are above that."""
    parent = node.parent()
    if node.kind() == "variable_declarator" and parent is not None:
        node = parent
        parent = parent.parent()
    return parent if parent is not None and parent.kind() == "export_statement" else node


def _first(statement: "SgNode") -> "SgNode":
    """Return the first decorator of a method (a sibling in the class body), or the statement itself."""
    previous = statement.prev()
    while previous is not None and previous.kind() == "decorator":
        statement = previous
        previous = previous.prev()
    return statement


def _arrow_line(function: "SgNode") -> int:
    arrow = next((c for c in function.children() if c.kind() == "=>"), function)
    return first_line(arrow)


def _public(
    node: "SgNode",
    name: str,
    statement: "SgNode",
    owner: Symbol | None,
    exported: frozenset[str],
) -> bool:
    if node.kind() == "method_definition":
        if owner is None or owner.kind != "class" or name.startswith(("#", "_")):
            return False
        modifier = next(
            (c.text() for c in node.children() if c.kind() == "accessibility_modifier"),
            "public",
        )
        return owner.public and modifier == "public"
    return owner is None and (statement.kind() == "export_statement" or name in exported)


def _quiet(
    node: "SgNode",
    name: str,
    body: "SgNode",
    comments: tuple["SgNode", ...],
    owner: Symbol | None,
    owner_node: "SgNode | None",
) -> str:
    if owner is not None and owner.is_function:
        return "nested"
    if _overloaded(node, name):
        return "overload"
    if any(
        not c.text().startswith(("/* eslint", "// eslint", "// @ts", "/* istanbul"))
        for c in comments[-1:]
    ):
        return "commented"
    kinds = {c.kind() for c in node.children()}
    if name == "constructor" or kinds & {"get", "set", "override_modifier"}:
        return "known by its name"
    if owner_node is not None and node.kind() == "method_definition":
        heritage = any(c.kind() == "class_heritage" for c in owner_node.children())
        if heritage:
            return "may override"
    one_line = first_line(body) == last_line(body)
    if "class" not in node.kind() and (
        is_trivial(body) if body.kind() == "statement_block" else one_line
    ):
        return "trivial"
    return ""


def _overloaded(node: "SgNode", name: str) -> bool:
    """Return whether a signature of the same name is right before it; that one carries the documentation."""
    before = _statement(node).prev()
    if before is None or before.kind() not in (
        "export_statement",
        "function_signature",
        "method_signature",
    ):
        return False
    signature = (
        before.field("declaration") if before.kind() == "export_statement" else before
    )
    return (
        signature is not None
        and "signature" in signature.kind()
        and field_text(signature, "name") == name
    )
