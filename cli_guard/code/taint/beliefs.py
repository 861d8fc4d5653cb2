"""Whether a function does what its name says: that it checks what it is given, or escapes it.

A name is believed for the kinds of sink for which the body has a comparison, refusal, call or replacement that the
tables list; one that returns what it was given unchanged on some path escapes nothing.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from cli_guard.code.taint.guards import (
    EQUAL,
    NOTHING,
    UNEQUAL,
    WITHIN,
    Inside,
    narrowings,
)
from cli_guard.code.taint.naming import path_of
from cli_guard.code.taint.program import FlowNode
from cli_guard.code.taint.tables import is_common
from cli_guard.code.taint.values import REPLACED, FlowScope, safe_for
from cli_guard.code.taint.walk import Walk
from cli_guard.rules.catalog import read_table

MOST_NODES = 400
CHECKING = ("test", "call", "index")
# Around a text that is compared, replaced, or a row of a table.
COMPARING = ("test", "case", "group")
QUOTES = re.compile(r"^(?:[rbuf@$]*)[\"'`]|[\"'`]$")


def kinds_checked(walk: Walk, made: Mapping[str, str]) -> dict[int, frozenset[str]]:
    """Return for each parameter the kinds of sink that a condition in the function is about."""
    names = walk.function.parameter_names
    inside = Inside(walk, [*names, *made])
    found: dict[int, frozenset[str]] = {}
    for node, _ in nodes_in(walk.function.body):
        if node.op not in CHECKING:
            continue
        for holds in (True, False):
            for narrowing in narrowings(node, holds, inside):
                of = made.get(narrowing.path, narrowing.path)
                if of in names:
                    at = names.index(of)
                    found[at] = found.get(at, frozenset()) | narrowing.kinds
    return found


def kinds_escaped(walk: Walk) -> frozenset[str]:
    """Return the kinds of sink for which a function replaces the signs that do harm there."""
    if any(REPLACED not in taint.safe for taint in walk.unchanged):
        return frozenset()
    found: set[str] = set()
    for node, parent in nodes_in(walk.function.body):
        if node.op == "call":
            found |= kinds_of_call(walk, node)
        elif node.op == "constant" and parent.op in COMPARING:
            found |= kinds_of_text(node.text)
        for key in node.keys if node.op == "group" else ():
            found |= kinds_of_text(key or "")
    return frozenset(found)


def kinds_of_call(walk: Walk, node: FlowNode) -> frozenset[str]:
    """Return the kinds for which a call replaces signs; a pattern or library that is not seen is taken at its word."""
    names = walk.names_of(node)
    if walk.function_called(node) is None and is_common("calls", "escapes", names[0]):
        return frozenset(escaping())
    if not is_common("calls", "replaces", names[0]):
        return frozenset()
    texts = [
        each.text for part in node.parts[1:] for each, _ in nodes_in(part) if each.text
    ]
    if not texts:
        return frozenset(escaping())
    return frozenset(kind for text in texts for kind in kinds_of_text(text))


def kinds_of_text(text: str) -> frozenset[str]:
    """Return the kinds of sink for which one of the signs in a text does harm."""
    inner = QUOTES.sub("", text)
    if "[^" in inner:  # all but what is allowed
        return frozenset(escaping())
    return frozenset(kind for kind, signs in escaping().items() if signs.search(inner))


@cache
def escaping() -> Mapping[str, re.Pattern[str]]:
    """Map each kind of sink to the signs that do harm there."""
    rows = read_table("flow/common.toml")["escaping"]
    return {kind: re.compile(signs) for kind, signs in rows.items()}


def nodes_in(body: FlowNode) -> Iterator[tuple[FlowNode, FlowNode]]:
    """Yield the first nodes of a body with their parents; those of the functions that are written in it, too."""
    todo = [(body, body)]
    for node, parent in todo:
        yield node, parent
        inner = (node.function.body,) if node.function is not None else node.parts
        around = parent if node.op == "group" and len(inner) == 1 else node
        todo += [(part, around) for part in inner][: MOST_NODES - len(todo)]


def mark_harmless(walk: Walk, condition: FlowNode, holds: bool, scope: FlowScope) -> None:
    """Mark the parameters in a scope where a condition leaves nothing in them to escape."""
    names = walk.function.parameter_names
    for name in names if is_harmless(condition, holds, names) else ():
        if name in scope.values:
            scope.values[name] = safe_for(scope.values[name], frozenset((REPLACED,)))


def is_harmless(node: FlowNode, holds: bool, names: list[str]) -> bool:
    """Return whether a condition says that a parameter is empty, no text, or has none of some signs in it."""
    if node.op in ("group", "block") and len(node.parts) == 1:
        return is_harmless(node.parts[0], holds, names)
    if node.op == "not" and node.parts:
        return is_harmless(node.parts[0], not holds, names)
    if node.op in ("and", "or"):
        each = [is_harmless(part, holds, names) for part in node.parts]
        return any(each) if (node.op == "and") is holds else all(each)
    if not any(path_of(inner) in names for inner, _ in nodes_in(node)):
        return False
    if node.op == "name":
        return not holds
    if node.op == "test" and len(node.parts) == 2:
        return _is_harmless_test(node, holds)
    if node.op != "call":
        return False
    called = path_of(node.parts[0]) or node.parts[0].name
    if is_common("tests", "empty", called):
        return holds
    return not holds and any(
        is_common("tests", test, called) for test in ("matches", "member", "text")
    )


def _is_harmless_test(node: FlowNode, holds: bool) -> bool:
    one, other = node.parts
    operator = node.name.strip()
    if operator in WITHIN:
        return one.op == "constant" and not holds
    is_equal = operator in EQUAL
    if not (is_equal or operator in UNEQUAL) or other.op != "constant":
        return False
    if one.op == "test" and one.name == "typeof":
        return is_equal is not holds and "string" in other.text
    is_nothing = other.text in NOTHING or not other.text.strip("\"'")
    return is_nothing and is_equal is holds
