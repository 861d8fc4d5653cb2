"""What a function raises, and when: only what its own body raises by name."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.facts.bodies import Body, Step, both
from cli_guard.assistant.documenting.facts.code import quotable
from cli_guard.assistant.documenting.facts.nodes import CALLS, arguments, callee, line_of, string_value
from cli_guard.assistant.documenting.facts.origin import origin_of
from cli_guard.assistant.documenting.facts.results import traced

if TYPE_CHECKING:
    from ast_grep_py import SgNode

TYPE = re.compile(r"[A-Za-z_][\w.]{0,80}")
THROWS = ("raise_statement", "throw_statement")
MOST = 6
MOST_GUARDS = 2
SMALL = 12
WITH = "with the message "
# Raised to say that a subclass has to write something, where that is all that the body does.
PLACEHOLDERS = frozenset({"NotImplementedError"})


@dataclass(frozen=True, slots=True)
class Raised:
    """An error type, the conditions in words ("" for one that cannot be told), and the lines."""

    type: str
    when: tuple[str, ...]
    lines: tuple[int, ...]


def raised(body: Body) -> tuple[Raised, ...]:
    """The errors, in the order in which they stand, those of one type together."""
    origin = origin_of(body)
    found: dict[str, tuple[list[str], list[int]]] = {}
    for step in body.of(*THROWS):
        for name, when in _named(step):
            if name in PLACEHOLDERS and len(body.steps) < SMALL:
                continue
            when = traced(when, origin) or _message(step.node)
            whens, lines = found.setdefault(name, ([], []))
            if when not in whens:
                whens.append(when)
            lines.append(line_of(step.node))
    return tuple(
        Raised(name, tuple(whens), tuple(lines)) for name, (whens, lines) in list(found.items())[:MOST]
    )


def _named(step: Step) -> list[tuple[str, str]]:
    value = _value(step.node)
    if value is None:
        return []
    name = callee(value) if value.kind() in CALLS else value.text()
    if not TYPE.fullmatch(name) or not name.rsplit(".", 1)[-1][0].isupper():
        return []  # a variable: which type it has, the body does not say
    if not all(step.after) or len(step.after) > MOST_GUARDS:
        return [(name, "")]
    return [(name, both(step.when, " and ".join(step.after), step.certain) if step.after else step.when)]


def _value(statement: "SgNode") -> "SgNode | None":
    return next((c for c in statement.named_children() if "comment" not in c.kind()), None)


def _message(statement: "SgNode") -> str:
    """The message of an error whose condition cannot be said; `WITH` marks that it is none."""
    error = _value(statement)
    given = arguments(error) if error is not None and error.kind() in CALLS else []
    text = string_value(given[0]) if given else None
    shown = quotable(text or "", 80)
    return f'{WITH}"{shown.rstrip(".")}"' if shown and '"' not in shown else ""
