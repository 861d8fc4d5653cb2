"""Which values flow into and out of a run of Python statements.

`flow` follows the statements in order: a name is exposed when it may be read before the run itself has
surely bound it. `live_after` looks at what may be read once the run is over. Where a construct is hard to
follow, both err towards more names.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from cli_guard.reviewers.refactor.scopes import LOOPS, own_scope, reads, stores

SWALLOWS = ("suppress", "raises", "swallow", "ignor")
Suite = Sequence[ast.stmt]


@dataclass(frozen=True, slots=True)
class Flow:
    """`exposed` names are read before they are surely bound; `bound` is None if the end is never reached."""

    exposed: frozenset[str]
    bound: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class Place:
    """A suite around a run: the statement it belongs to, its field there, and where the run ends in it."""

    owner: ast.AST
    field: str
    suite: Suite
    end: int


def flow(suite: Suite, bound: frozenset[str] = frozenset()) -> Flow:
    """Follow the statements from a state in which `bound` are bound."""
    exposed: frozenset[str] = frozenset()
    for statement in suite:
        step = _step(statement, bound)
        exposed |= step.exposed
        if step.bound is None:
            return Flow(exposed, None)
        bound = step.bound
    return Flow(exposed, bound)


def live_after(places: Sequence[Place]) -> frozenset[str]:
    """What may be read after the run; `places` go from the function's own suite to the one of the run."""
    live: frozenset[str] = frozenset()
    back: frozenset[str] = frozenset()
    for place in places:
        owner = place.owner
        if isinstance(owner, LOOPS) and place.field == "body":
            back = live | flow([owner]).exposed
            live = back
        elif isinstance(owner, ast.Try):
            live |= back | _try_live(owner, place.field)
        rest = flow(place.suite[place.end :])
        jumps = any(
            isinstance(n, ast.Break | ast.Continue) for s in place.suite[place.end :] for n in ast.walk(s)
        )
        kept = live if jumps else frozenset() if rest.bound is None else live - rest.bound
        live = rest.exposed | kept
    return live


def bound_before(places: Sequence[Place], length: int, parameters: frozenset[str]) -> frozenset[str]:
    """What is surely bound when a run of `length` statements, the last in its place, begins."""
    bound = parameters
    for number, place in enumerate(places):
        bound = _entered(place, bound)
        start = place.end - (length if number == len(places) - 1 else 1)
        bound = flow(place.suite[:start], bound).bound or bound
    return bound


def _entered(place: Place, bound: frozenset[str]) -> frozenset[str]:
    """What is surely bound at the head of a suite, when `bound` is before its statement."""
    owner = place.owner
    if place.field == "handlers" and isinstance(owner, ast.Try):
        return bound | {h.name for h in owner.handlers if h.body is place.suite and h.name}
    if place.field == "cases" and isinstance(owner, ast.Match):
        return bound.union(*(stores(case.pattern) for case in owner.cases if case.body is place.suite))
    if place.field == "orelse" and isinstance(owner, ast.Try):
        return flow(owner.body, bound).bound or bound
    if place.field == "body":
        if isinstance(owner, ast.For | ast.AsyncFor):
            return bound | stores(owner.target)
        if isinstance(owner, ast.With | ast.AsyncWith):
            return bound.union(*(stores(item) for item in owner.items))
        if isinstance(owner, ast.If | ast.While):
            return bound | _sure(owner.test)
    return bound


def _try_live(owner: ast.Try, field: str) -> frozenset[str]:
    parts: list[Suite] = [owner.finalbody]
    if field == "body":
        parts += [owner.orelse, *(handler.body for handler in owner.handlers)]
    return frozenset(name for part in parts for name in flow(part).exposed)


def _step(statement: ast.stmt, bound: frozenset[str]) -> Flow:
    match statement:
        case ast.If():
            sure = bound | _sure(statement.test)
            return _branches(
                reads(statement.test) - _sure(statement.test), [statement.body, statement.orelse], bound, sure
            )
        case ast.For() | ast.AsyncFor():
            inner = flow(statement.body, bound | stores(statement.target))
            first = frozenset((reads(statement.iter) | reads(statement.target)) - bound)
            return Flow(first | inner.exposed | flow(statement.orelse, bound).exposed, bound)
        case ast.While():
            inner = flow(statement.body, bound | _sure(statement.test))
            first = frozenset(reads(statement.test) - bound - _sure(statement.test))
            return Flow(first | inner.exposed | flow(statement.orelse, bound).exposed, bound)
        case ast.With() | ast.AsyncWith():
            return _with(statement, bound)
        case ast.Try():
            return _try(statement, bound)
        case ast.Match():
            return _match(statement, bound)
        case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
            return Flow(frozenset(reads(statement) - bound), None)
        case ast.AnnAssign() if statement.value is None:
            return Flow(frozenset(), bound)
    maybe = {n.target.id for n in own_scope(statement) if isinstance(n, ast.NamedExpr)} - _sure(statement)
    return Flow(frozenset(reads(statement) - bound - _sure(statement)), bound | (stores(statement) - maybe))


def _sure(node: ast.AST) -> frozenset[str]:
    """The names that `:=` binds whenever the node is evaluated, before anything else reads them."""
    if isinstance(node, ast.NamedExpr):
        return frozenset({node.target.id}) | _sure(node.value)
    parts: list[ast.AST] = []
    if isinstance(node, ast.BoolOp):
        parts = [node.values[0]]
    elif isinstance(node, ast.Compare):
        parts = [node.left]
    elif isinstance(node, ast.UnaryOp):
        parts = [node.operand]
    return frozenset(name for part in parts for name in _sure(part))


def _branches(first: set[str], suites: Sequence[Suite], bound: frozenset[str], sure: frozenset[str]) -> Flow:
    flows = [flow(suite, sure) for suite in suites]
    exposed = frozenset(first - bound).union(*(f.exposed for f in flows))
    return Flow(exposed, _meet([f.bound for f in flows]))


def _meet(ends: Sequence[frozenset[str] | None]) -> frozenset[str] | None:
    reached = [end for end in ends if end is not None]
    return frozenset.intersection(*reached) if reached else None


def _with(statement: ast.With | ast.AsyncWith, bound: frozenset[str]) -> Flow:
    exposed: set[str] = set()
    entered = bound
    swallows = False
    for item in statement.items:
        exposed |= reads(item) - entered
        entered |= stores(item)
        swallows = swallows or any(word in ast.unparse(item.context_expr).lower() for word in SWALLOWS)
    inner = flow(statement.body, entered)
    return Flow(inner.exposed | exposed, entered if swallows else inner.bound)


def _try(statement: ast.Try, bound: frozenset[str]) -> Flow:
    body = flow(statement.body, bound)
    flows = [body]
    ends: list[frozenset[str] | None] = []
    if body.bound is not None:
        flows.append(flow(statement.orelse, body.bound))
        ends.append(flows[-1].bound)
    exposed: set[str] = set()
    for handler in statement.handlers:
        named = frozenset({handler.name} if handler.name else ())
        exposed |= (reads(handler.type) if handler.type is not None else set()) - bound
        flows.append(flow(handler.body, bound | named))
        # The name of the exception is unbound again when the handler ends.
        ends.append(flows[-1].bound - named if flows[-1].bound is not None else None)
    final = flow(statement.finalbody, bound)
    end = _meet(ends)
    end = end | final.bound if end is not None and final.bound is not None else None
    return Flow(frozenset(exposed).union(final.exposed, *(f.exposed for f in flows)), end)


def _match(statement: ast.Match, bound: frozenset[str]) -> Flow:
    exposed = reads(statement.subject) - bound
    ends: list[frozenset[str] | None] = []
    sure = False
    for case in statement.cases:
        named = bound | stores(case.pattern)
        exposed |= reads(case.pattern) - bound
        exposed |= (reads(case.guard) if case.guard is not None else set()) - named
        inner = flow(case.body, named)
        exposed |= inner.exposed
        ends.append(inner.bound)
        wildcard = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
        sure = sure or (wildcard and case.guard is None)
    return Flow(frozenset(exposed), _meet(ends if sure else [*ends, bound]))
