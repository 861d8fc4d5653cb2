"""When a Rust function gives an error back, and when it panics."""

from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.facts.bodies import Body, Step
from cli_guard.assistant.documenting.facts.code import code
from cli_guard.assistant.documenting.facts.nodes import CALLS, arguments, callee, line_of, unwrapped
from cli_guard.assistant.documenting.facts.origin import origin_of
from cli_guard.assistant.documenting.facts.results import traced

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MOST = 4


def rust_errors(body: Body) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The cases in words, as far as they can be told, and the lines."""
    origin = origin_of(body)
    whens: dict[str, None] = {}
    lines: list[int] = []
    for step in body.steps:
        if step.node.kind() == "try_expression":
            value = next(iter(step.node.named_children()), None)
            name = _short(callee(value)) if value is not None and value.kind() in CALLS else ""
            whens[f"{code(name, 44)} fails" if code(name, 44) else ""] = None
            lines.append(line_of(step.node))
        elif step.node.kind() in CALLS and callee(step.node) == "Err" and _given_back(step.node):
            given = arguments(step.node)
            kind = code(given[0].text(), 40) if given else ""
            when = traced(step.when, origin) if not step.after else ""
            whens[f"{when} ({kind})" if when and kind else when] = None
            lines.append(line_of(step.node))
    return tuple(when for when in whens if when)[:MOST], tuple(lines)


def panics(body: Body) -> tuple[str, ...]:
    """The conditions of `panic!`, as far as they can be told."""
    origin = origin_of(body)
    found: list[Step] = [s for s in body.of("macro_invocation") if s.node.text().startswith("panic!")]
    whens = [traced(step.when, origin) for step in found if not step.after]
    return tuple(dict.fromkeys(when for when in whens if when))[:MOST]


def _given_back(call: "SgNode") -> bool:
    """Is it what the function returns: in a `return`, or the last expression of a block?"""
    parent = call.parent()
    return parent is not None and (parent.kind() in ("return_expression", "block") or same_last(parent, call))


def same_last(parent: "SgNode", call: "SgNode") -> bool:
    """Is a call all that a match arm gives?"""
    return parent.kind() == "match_arm" and unwrapped(parent.named_children()[-1]).range() == call.range()


def _short(name: str) -> str:
    """A call without what it is called on: `self.db.get(x)?` is told by its name alone."""
    return name if len(name) <= 44 and "(" not in name else name.rsplit(".", 1)[-1]
