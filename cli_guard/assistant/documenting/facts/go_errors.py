"""When a Go function returns an error: under which condition, or when which call fails."""

from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.facts.bodies import Body
from cli_guard.assistant.documenting.facts.code import code
from cli_guard.assistant.documenting.facts.nodes import CALLS, callee, expressions, line_of
from cli_guard.assistant.documenting.facts.origin import origin_of
from cli_guard.assistant.documenting.facts.results import traced

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MOST = 4
FAILED = "`err` is not nil"
ASSIGNS = ("short_var_declaration", "assignment_statement")


def go_errors(body: Body) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The cases in words, as far as they can be told, and the lines; for a function whose last result is an error."""
    origin = origin_of(body)
    whens: dict[str, None] = {}
    lines: list[int] = []
    failing = ""
    for step in body.steps:
        if step.node.kind() in ASSIGNS:
            called = _called(step.node)
            failing = called if called is not None else failing
        if step.node.kind() != "return_statement":
            continue
        values = [v for each in step.node.named_children() for v in expressions(each)]
        if not values or values[-1].text() == "nil":
            continue
        lines.append(line_of(step.node))
        last = values[-1]
        if step.when == FAILED or (last.text() == "err" and not step.when):
            whens[f"{failing} fails" if failing else ""] = None
        elif last.kind() in CALLS and not step.when and callee(last) not in ("fmt.Errorf", "errors.New"):
            whens[f"{code(callee(last))} fails" if code(callee(last)) else ""] = None
        else:
            whens[traced(step.when, origin)] = None
    told = tuple(when for when in whens if when)
    return told[:MOST], tuple(lines)


def _called(node: "SgNode") -> str | None:
    """The call whose error a statement keeps as `err`, None if it keeps none."""
    left, right = node.field("left"), node.field("right")
    if left is None or right is None or not any(n.text() == "err" for n in expressions(left)):
        return None
    value = next(iter(expressions(right)), None)
    return code(callee(value), 44) if value is not None and value.kind() in CALLS else ""


def go_values(returns: str) -> bool:
    """Is the last result an error?"""
    return returns.strip("()").rsplit(",", 1)[-1].split()[-1:] == ["error"]
