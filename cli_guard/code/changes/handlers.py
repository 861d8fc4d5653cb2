"""Handlers of errors: what they catch, whether they only say so, and which calls they stand around."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from cli_guard.code.changes.conditions import ADMITTING, leaves, only_says
from cli_guard.code.changes.facts import (
    CONTINUING,
    ONLY_SAYS,
    CodeFact,
    FactKind,
    fold,
    short_name,
)
from cli_guard.code.changes.kinds import SourceTree
from cli_guard.code.changes.naming import callee_name
from cli_guard.code.syntax import walk_nodes

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MOST_NODES = 500
MOST_CALLS = 30
BOUND_NAME = re.compile(r"\bas\s+\w+|=>\s*\w+|\$\w+")
TYPE = re.compile(r"[\w.:\\]*\b[A-Z]\w*|\b\w+\.error\b")
BROAD = frozenset(
    "Exception BaseException Throwable Error StandardError RuntimeException Object".split()
)


def handler_fact(fact: CodeFact, node: "SgNode", tree: SourceTree) -> CodeFact:
    """Return the fact of a handler: the types that it catches, how it goes on, the calls that it stands around."""
    body = body_of(node, tree)
    header = tree.source(node)
    if body is not None:
        header = header[: body.range().start.index - node.range().start.index]
    types = sorted(set(TYPE.findall(BOUND_NAME.sub(" ", header))))
    detail = ONLY_SAYS
    if body is not None and leaves(body, tree):
        detail = tree.source(body).strip("{}: \t\n")
    elif body is not None and not only_says(body, tree):
        written = tree.source(body).strip("{}: \t\n")
        # In Ruby and Rust the last value is given back.
        detail = written if written == "true" or CONTINUING.match(written) else ""
    return replace(
        fact,
        name=fold(" ".join(types)),
        detail=fold(detail),
        operands=tuple(covered_calls(node, tree)),
    )


def body_of(node: "SgNode", tree: SourceTree) -> "SgNode | None":
    body = node.field("body")
    if body is not None:
        return body
    blocks = [n for n in node.named_children() if tree.shape(n) == "block"]
    return blocks[-1] if blocks else None


def covered_calls(handler: "SgNode", tree: SourceTree) -> Iterator[str]:
    """Yield the names of the calls whose errors a handler catches: all before it in what it belongs to."""
    parent = handler.parent()
    start = handler.range().start.index
    calls = (
        node
        for node in (walk_nodes(parent, MOST_NODES) if parent is not None else ())
        if node.range().start.index < start and tree.shape(node) == "call"
    )
    for call in islice(calls, MOST_CALLS):
        yield callee_name(tree.source(call).partition("(")[0])


def looser_handlers(
    before: Sequence[CodeFact], went: Sequence[CodeFact], came: Sequence[CodeFact]
) -> Iterator[tuple[CodeFact, CodeFact, str]]:
    """Yield what an error of a call now passes by: the handler or call before, the handler now, and why.

    `before` has all facts of the unit that the change touches, `went` and `came` those of one side alone.
    """
    fresh = {fact.name for fact in came if fact.is_call}
    old_handlers = [fact for fact in went if fact.kind is FactKind.HANDLER]
    for new in came:
        if new.kind is not FactKind.HANDLER or not lets_on(new):
            continue
        covered = set(new.operands) - fresh
        old = next((each for each in old_handlers if covered & set(each.operands)), None)
        if old is not None:
            yield from ((old, new, why) for why in reasons(old, new))
            continue
        calls = (f for f in before if f.is_call and f.name in covered)
        for call in calls:
            yield call, new, f"an error of `{call.name}` is caught here now, and it goes on"


def reasons(old: CodeFact, new: CodeFact) -> Iterator[str]:
    """Yield why a handler lets on what it did not before."""
    if not lets_on(old):
        yield "an error left here; now it goes on"
    elif is_broad(new) and not is_broad(old):
        yield "every error is caught here now, and it goes on"


def lets_on(handler: CodeFact) -> bool:
    """Return whether the program goes on after an error as if there was none."""
    detail = handler.detail
    is_admitting = ADMITTING.match(detail) or CONTINUING.match(detail)
    return detail == ONLY_SAYS or is_admitting is not None


def is_broad(handler: CodeFact) -> bool:
    types = {short_name(each) for each in handler.name.replace("\\", ".").split()}
    return not types or not types.isdisjoint(BROAD)
