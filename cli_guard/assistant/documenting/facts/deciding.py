"""What depends on a parameter: the branch that it switches, and what stands in for it when it is not given."""

from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.facts.code import code, names_credential
from cli_guard.assistant.documenting.facts.nodes import (
    CALLS,
    NOTHING,
    STRINGS,
    TRUTHS,
    callee,
    same,
    unwrapped,
)
from cli_guard.assistant.documenting.facts.use import Use

if TYPE_CHECKING:
    from ast_grep_py import SgNode

TESTS = frozenset({"not_operator", "unary_expression", "boolean_operator", "parenthesized_expression"})


def replaced(node: "SgNode", parent: "SgNode", line: int) -> list[Use]:
    """`x or Y`, and `if x is None: x = Y`: what stands in for it."""
    kind = parent.kind()
    if kind in ("boolean_operator", "binary_expression"):
        sign = next((c.text() for c in parent.children() if not c.is_named()), "")
        right = parent.field("right")
        if (
            sign in ("or", "||", "??")
            and same(parent.field("left"), node)
            and right is not None
            and not _tested(parent)
        ):
            what = _shown_default(node.text(), right)
            return (
                [Use(10, f"If it is {'null' if sign == '??' else 'empty'}, {what} is used", line)]
                if what
                else []
            )
    if kind in ("assignment", "assignment_expression") and same(parent.field("left"), node):
        statement = parent.parent()
        block = statement.parent() if statement is not None else None
        above = block.parent() if block is not None else None
        condition = above.field("condition") if above is not None and above.kind() == "if_statement" else None
        right = parent.field("right")
        if condition is not None and right is not None:
            text = unwrapped(condition).text()
            what = _shown_default(node.text(), right)
            if what and text in (f"{node.text()} is None", f"not {node.text()}", f"!{node.text()}"):
                return [Use(10, f"If it is {'None' if 'is None' in text else 'empty'}, {what} is used", line)]
    return []


def _shown_default(name: str, value: "SgNode") -> str:
    if names_credential(name) and value.kind() in STRINGS:
        return ""
    if value.kind() in NOTHING:
        return ""
    return code(value.text(), 44)


def _tested(node: "SgNode") -> bool:
    parent = node.parent()
    while parent is not None and parent.kind() in TESTS:
        node, parent = parent, parent.parent()
    return parent is not None and same(parent.field("condition"), node)


def switch(node: "SgNode", parent: "SgNode", line: int) -> list[Use]:
    """A parameter that alone decides a branch: what the branch does."""
    negated, at = False, node
    while parent is not None and parent.kind() in (
        "not_operator",
        "unary_expression",
        "parenthesized_expression",
    ):
        negated = negated is not (parent.kind() != "parenthesized_expression")
        at, above = parent, parent.parent()
        if above is None:
            return []
        parent = above
    if parent.kind() in ("conditional_expression", "ternary_expression"):
        parts = parent.named_children()
        condition = parts[1] if parent.kind() == "conditional_expression" else parts[0]
        return _either(parts, condition, at, line) if len(parts) == 3 else []
    if parent.kind() not in ("if_statement", "elif_clause", "if_expression", "while_statement"):
        return []
    if not same(parent.field("condition"), at):
        return []
    then = parent.field("consequence") or parent.field("body")
    doing = _doing(then) if then is not None else ""
    if not doing:
        return []
    state = "falsy" if negated else "truthy"
    return [Use(2, f"If {state}, {doing}", line)]


def _either(parts: list["SgNode"], condition: "SgNode", at: "SgNode", line: int) -> list[Use]:
    """`a if x else b`, `x ? a : b`."""
    if not same(condition, at):
        return []
    first, second = [code(part.text(), 30) for part in parts if not same(part, condition)]
    if not first or not second or at.text().startswith(("not", "!")):
        return []
    return [Use(5, f"If truthy, {first} is used, otherwise {second}", line)]


def _doing(block: "SgNode") -> str:
    """The first statement of a branch in words, if it is a simple one."""
    statements = [c for c in block.named_children() if "comment" not in c.kind()]
    if len(statements) == 1 and statements[0].kind() == "statement_list":
        statements = statements[0].named_children()
    if block.kind() == "return_statement":
        statements = [block]
    if not statements:
        return ""
    first, more = statements[0], len(statements) > 1
    if first.kind() == "return_statement":
        value = next(iter(first.named_children()), None)
        if value is None:
            return "nothing is done" if not more else ""
        shown = code(value.text(), 44)
        return f"{shown} is returned" if shown else ""
    inner = next(iter(first.named_children()), None) if first.kind() == "expression_statement" else None
    inner = unwrapped(inner) if inner is not None else None
    if inner is not None and inner.kind() in CALLS:
        name = code(callee(inner), 44)
        return f"{name} is called" if name else ""
    if inner is not None and inner.kind() in ("assignment", "assignment_expression"):
        left, right = inner.field("left"), inner.field("right")
        if left is None or right is None or right.kind() in TRUTHS:
            return ""
        a, b = code(left.text(), 30), code(right.text(), 30)
        return f"{a} becomes {b}" if a and b else ""
    return ""
