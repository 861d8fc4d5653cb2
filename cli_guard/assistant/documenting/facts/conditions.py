"""Conditions in words: `not path.exists()` -> "`path.exists()` is false"."""

import re
from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.facts.code import code
from cli_guard.assistant.documenting.facts.nodes import (
    CALLS,
    NOTHING,
    arguments,
    callee,
    descendant,
    unwrapped,
)

if TYPE_CHECKING:
    from ast_grep_py import SgNode

LONGEST = 110
DEEPEST = 4
PREDICATE = re.compile(
    r"(is|has|can|should|are|exists|contains|starts|ends|startswith|endswith|match|equals|any|all)([A-Z_]|$)"
)
COMPARED = {
    "==": ("is", "is not"),
    "===": ("is", "is not"),
    "!=": ("is not", "is"),
    "!==": ("is not", "is"),
    "<>": ("is not", "is"),
    "is": ("is", "is not"),
    "is not": ("is not", "is"),
    "in": ("is in", "is not in"),
    "not in": ("is not in", "is in"),
    "<": ("is less than", "is at least"),
    ">": ("is greater than", "is at most"),
    "<=": ("is at most", "is greater than"),
    ">=": ("is at least", "is less than"),
    "instanceof": ("is a", "is not a"),
}
AND, OR = ("and", "&&"), ("or", "||")
BOTH = ("comparison_operator", "binary_expression", "boolean_operator", "instanceof_expression")
NEGATIONS = ("not_operator", "unary_expression")
CATCHES_ALL = ("Exception", "BaseException")


def said(condition: "SgNode", *, loose: bool = False) -> str:
    """The condition in words, "" if it is too long for that.

    `loose` holds for languages in which any value may be a condition: what is empty counts as false there.
    """
    return _words(unwrapped(condition), False, 0, loose)


def denied(condition: "SgNode", *, loose: bool = False) -> str:
    """The contrary of the condition in words, "" if it is too long for that."""
    return _words(unwrapped(condition), True, 0, loose)


def caught(clause: "SgNode") -> str:
    """When a handler of errors runs, "" if it does not say of what."""
    if clause.kind() == "catch_clause":
        kinds = descendant(clause, "catch_type")
        return f"{code(kinds.text())} is thrown" if kinds is not None and code(kinds.text()) else ""
    value = clause.field("value") or next((c for c in clause.named_children() if c.kind() != "block"), None)
    if value is not None and value.kind() == "as_pattern":
        value = value.child(0)
    if value is None or value.kind() in ("block", "comment"):
        return ""
    names = [n.strip() for n in value.text().strip("()").split(",") if n.strip()]
    quoted = [code(name) for name in names]
    if not quoted or not all(quoted) or len(quoted) > 3:
        return "an error occurs" if quoted else ""
    if names[0] in CATCHES_ALL:
        return "any error occurs"
    return f"{_or(quoted)} is raised on the way"


def _or(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"


def _words(node: "SgNode", negated: bool, depth: int, loose: bool) -> str:
    kind = node.kind()
    if kind in NEGATIONS and node.text().startswith(("not", "!")):
        inner = node.field("argument") or node.field("operand") or node.child(1)
        if inner is None or depth > DEEPEST:
            return ""
        return _words(unwrapped(inner), not negated, depth + 1, loose)
    if kind in BOTH:
        return _binary(node, negated, depth, loose)
    if kind in CALLS:
        return _call(node, negated, loose)
    whole = code(node.text())
    return f"{whole} is {_truth(negated, loose)}" if whole else ""


def _truth(negated: bool, loose: bool) -> str:
    if loose:
        return "falsy" if negated else "truthy"
    return "false" if negated else "true"


def _call(node: "SgNode", negated: bool, loose: bool) -> str:
    given, name = arguments(node), callee(node)
    if name == "isinstance" and len(given) == 2:
        what, kinds = code(given[0].text()), _kinds(given[1])
        return f"{what} {'is not a' if negated else 'is a'} {kinds}" if what and kinds else ""
    if name == "callable" and given:
        what = code(given[0].text())
        return f"{what} {'cannot' if negated else 'can'} be called" if what else ""
    whole = code(node.text())
    asks = PREDICATE.match(name.rsplit(".", 1)[-1])
    return f"{whole} is {_truth(negated, loose and not asks)}" if whole else ""


def _kinds(node: "SgNode") -> str:
    if node.kind() == "tuple":
        parts = [code(child.text()) for child in node.named_children()]
        return _or(parts) if parts and all(parts) else ""
    return code(node.text())


def _binary(node: "SgNode", negated: bool, depth: int, loose: bool) -> str:
    parts = [child for child in node.named_children() if "comment" not in child.kind()]
    if len(parts) != 2 or depth > DEEPEST:
        whole = code(node.text())
        return (f"{whole} is {'false' if negated else 'true'}") if whole else ""
    left, right = unwrapped(parts[0]), unwrapped(parts[1])
    sign = next((c.text() for c in node.children() if not c.is_named()), "")
    if node.kind() == "comparison_operator":
        sign = " ".join(c.text() for c in node.children() if not c.is_named())
    if node.kind() == "instanceof_expression":
        sign = "instanceof"
    if sign in AND or sign in OR:
        joint = "and" if (sign in AND) is not negated else "or"
        first, second = _words(left, negated, depth + 1, loose), _words(right, negated, depth + 1, loose)
        text = f"{first} {joint} {second}"
        return text if first and second and len(text) <= LONGEST else ""
    verb = COMPARED.get(sign)
    a, b = code(left.text()), "None" if right.text() == "None" else code(right.text())
    if right.kind() in NOTHING and right.kind() != "none":
        b = right.text()
    if verb is None or not a or not b:
        whole = code(node.text())
        return f"{whole} is {'false' if negated else 'true'}" if whole else ""
    if right.text() in ('""', "''") and sign in ("==", "===", "!=", "!=="):
        return f"{a} {verb[negated]} empty"
    return f"{a} {verb[negated]} {b}"
