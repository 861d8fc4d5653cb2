"""Facts of a function body: does it return or yield a value, and which errors does it raise by name?"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ast_grep_py import SgNode

ERROR_NAME = re.compile(r"(?:\w{1,60}\.){0,4}[A-Z]\w{0,80}")
# A statement in one of these belongs to another function than the one that is documented.
SCOPES = frozenset(
    "function_definition lambda class_definition function_declaration function_expression arrow_function"
    " generator_function generator_function_declaration method_definition class_declaration class_body"
    " method_declaration constructor_declaration lambda_expression function_item closure_expression".split()
)
NOTHING = frozenset({"", "None", "void", "NoReturn", "Never", "never", "undefined"})
CREATES = ("call", "new_expression", "object_creation_expression")


def find_own_nodes(function: "SgNode", kind: str) -> Iterator["SgNode"]:
    """Find the nodes of one kind that belong to a function itself and to none within it."""
    span = function.range()
    for node in function.find_all(kind=kind):
        around = next((a for a in node.ancestors() if a.kind() in SCOPES), None)
        if around is not None and around.range() == span:
            yield node


def find_raised_errors(function: "SgNode", language: str) -> list[str]:
    """Find the error types that a function raises by name and does not itself catch, in their order."""
    found: dict[str, None] = {}
    kind = "raise_statement" if language == "python" else "throw_statement"
    for statement in find_own_nodes(function, kind):
        value = _find_value(statement)
        if value is None or _is_guarded(statement, function):
            continue
        if value.kind() in CREATES:
            value = (
                value.field("function")
                or value.field("constructor")
                or value.field("type")
                or value
            )
        name = value.text()
        if ERROR_NAME.fullmatch(name) and name != "NotImplementedError":
            found[name] = None
    return list(found)


def _is_guarded(statement: "SgNode", function: "SgNode") -> bool:
    """Is a statement in the tried part of a try statement, whose handlers may catch what it raises?"""
    for outer in statement.ancestors():
        if outer.range() == function.range():
            break
        tried = outer.field("body") if "try" in outer.kind() else None
        if tried is not None and statement.range().end.index <= tried.range().end.index:
            return True
    return False


def returns_value(function: "SgNode") -> bool:
    """Does a function return anything but nothing?"""
    for statement in find_own_nodes(function, "return_statement"):
        value = _find_value(statement)
        if value is not None and value.text() not in ("None", "undefined", "null"):
            return True
    body = function.field("body")
    return (
        function.kind() == "arrow_function"
        and body is not None
        and body.kind() != "statement_block"
    )


def yields_value(function: "SgNode", language: str) -> bool:
    """Is a function a generator?"""
    # A grammar refuses to be asked for a kind that it does not have.
    kind = "yield" if language == "python" else "yield_expression"
    return language != "java" and next(find_own_nodes(function, kind), None) is not None


def _find_value(statement: "SgNode") -> "SgNode | None":
    return next((c for c in statement.named_children() if "comment" not in c.kind()), None)
