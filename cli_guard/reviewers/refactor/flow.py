"""Compute which values flow into and out of a run of Python statements.

A name is exposed if it may be read before the run itself has certainly bound it. Each statement is followed once: what
is bound before a run only takes names away from what the run exposes, so the parts add up. Where a construct is hard to
follow, the result has too many names rather than too few.
"""

import ast
from collections.abc import Sequence

from cli_guard.lazy import dataclass
from cli_guard.reviewers.refactor.facts import LOOPS, own_scope, reads, stores

SWALLOWS = ("suppress", "raises", "swallow", "ignor")
NOTHING: frozenset[str] = frozenset()
Suite = Sequence[ast.stmt]


@dataclass(frozen=True, slots=True)
class ControlFlow:
    """`exposed` names are read before they are certainly bound; `bound` is None if the end is unreachable."""

    exposed: frozenset[str] = NOTHING
    bound: frozenset[str] | None = NOTHING

    def after(self, bound: frozenset[str]) -> "ControlFlow":
        """Return the same flow with `bound` already bound at its start."""
        return ControlFlow(
            self.exposed - bound, None if self.bound is None else self.bound | bound
        )


@dataclass(frozen=True, slots=True)
class Position:
    """A suite around a run: its statement, its field there, and where the run ends in it."""

    owner: ast.AST
    field: str
    suite: Suite
    end: int


class Flows:
    """The flows of one function; each statement's is computed once."""

    def __init__(self) -> None:
        self._steps: dict[ast.stmt, ControlFlow] = {}
        self._jumps: dict[ast.stmt, bool] = {}

    def of(self, suite: Suite) -> ControlFlow:
        """Return the flow through a run of statements."""
        exposed = NOTHING
        bound = NOTHING
        for statement in suite:
            step = self._steps.get(statement)
            if step is None:
                step = self._steps[statement] = self._step(statement)
            exposed |= step.exposed - bound
            if step.bound is None:
                return ControlFlow(exposed, None)
            bound |= step.bound
        return ControlFlow(exposed, bound)

    def live_after(self, places: Sequence[Position]) -> frozenset[str]:
        """Return what may be read after the run; `places` go from the function's own suite to that of the run."""
        live = NOTHING
        back = NOTHING
        for place in places:
            owner = place.owner
            if isinstance(owner, LOOPS) and place.field == "body":
                back = live | self.of([owner]).exposed
                live = back
            elif isinstance(owner, ast.Try):
                live |= back | self._try_live(owner, place.field)
            following = place.suite[place.end :]
            rest = self.of(following)
            if not any(map(self._jumping, following)):
                live = NOTHING if rest.bound is None else live - rest.bound
            live |= rest.exposed
        return live

    def bound_before(
        self, places: Sequence[Position], length: int, parameters: frozenset[str]
    ) -> frozenset[str]:
        """Return what is certainly bound before a run of `length` statements, the last in its place."""
        bound = parameters
        for number, place in enumerate(places):
            bound |= self._bound_by_head(place)
            start = place.end - (length if number == len(places) - 1 else 1)
            bound |= self.of(place.suite[:start]).bound or NOTHING
        return bound

    def _jumping(self, statement: ast.stmt) -> bool:
        if statement not in self._jumps:
            walked = ast.walk(statement)
            self._jumps[statement] = any(
                isinstance(node, ast.Break | ast.Continue) for node in walked
            )
        return self._jumps[statement]

    def _bound_by_head(self, place: Position) -> frozenset[str]:
        """Return what the head of a statement certainly binds for one of its suites."""
        owner = place.owner
        if isinstance(owner, ast.Try) and place.field == "handlers":
            return frozenset(
                h.name for h in owner.handlers if h.body is place.suite and h.name
            )
        if isinstance(owner, ast.Try) and place.field == "orelse":
            return self.of(owner.body).bound or NOTHING
        if isinstance(owner, ast.Match):
            return NOTHING.union(
                *(stores(case.pattern) for case in owner.cases if case.body is place.suite)
            )
        if place.field != "body":
            return NOTHING
        if isinstance(owner, ast.For | ast.AsyncFor):
            return frozenset(stores(owner.target))
        if isinstance(owner, ast.With | ast.AsyncWith):
            return NOTHING.union(*(stores(item) for item in owner.items))
        return _sure(owner.test) if isinstance(owner, ast.If | ast.While) else NOTHING

    def _try_live(self, owner: ast.Try, field: str) -> frozenset[str]:
        parts: list[Suite] = [owner.finalbody]
        if field == "body":
            parts += [owner.orelse, *(handler.body for handler in owner.handlers)]
        return NOTHING.union(*(self.of(part).exposed for part in parts))

    def _step(self, statement: ast.stmt) -> ControlFlow:
        match statement:
            case ast.If():
                sure = _sure(statement.test)
                flows = [
                    self.of(suite).after(sure)
                    for suite in (statement.body, statement.orelse)
                ]
                return _join(reads(statement.test) - sure, flows)
            case ast.For() | ast.AsyncFor():
                first = reads(statement.iter) | reads(statement.target)
                inner = self.of(statement.body).exposed - stores(statement.target)
                return ControlFlow(inner | first | self.of(statement.orelse).exposed)
            case ast.While():
                sure = _sure(statement.test)
                inner = self.of(statement.body).exposed | reads(statement.test)
                return ControlFlow((inner - sure) | self.of(statement.orelse).exposed)
            case ast.With() | ast.AsyncWith():
                return self._with(statement)
            case ast.Try():
                return self._try(statement)
            case ast.Match():
                return self._match(statement)
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                return ControlFlow(frozenset(reads(statement)), None)
            case ast.AnnAssign() if statement.value is None:
                return ControlFlow()
        sure = _sure(statement)
        maybe = {
            n.target.id for n in own_scope(statement) if isinstance(n, ast.NamedExpr)
        } - sure
        return ControlFlow(
            frozenset(reads(statement) - sure), frozenset(stores(statement) - maybe)
        )

    def _with(self, statement: ast.With | ast.AsyncWith) -> ControlFlow:
        exposed: set[str] = set()
        entered = NOTHING
        swallows = False
        for item in statement.items:
            exposed |= reads(item) - entered
            entered |= stores(item)
            swallows = swallows or any(
                w in ast.unparse(item.context_expr).lower() for w in SWALLOWS
            )
        inner = self.of(statement.body).after(entered)
        return ControlFlow(inner.exposed | exposed, entered if swallows else inner.bound)

    def _try(self, statement: ast.Try) -> ControlFlow:
        body = self.of(statement.body)
        exposed = set(body.exposed)
        ends: list[frozenset[str] | None] = []
        if body.bound is not None:
            rest = self.of(statement.orelse).after(body.bound)
            exposed |= rest.exposed
            ends.append(rest.bound)
        for handler in statement.handlers:
            named = frozenset({handler.name} if handler.name else ())
            inner = self.of(handler.body).after(named)
            exposed |= inner.exposed | (
                reads(handler.type) if handler.type is not None else set()
            )
            # The name of the exception is unbound again when the handler ends.
            ends.append(None if inner.bound is None else inner.bound - named)
        final = self.of(statement.finalbody)
        end = _meet(ends)
        reached = end is not None and final.bound is not None
        return ControlFlow(
            final.exposed | exposed,
            (end or NOTHING) | (final.bound or NOTHING) if reached else None,
        )

    def _match(self, statement: ast.Match) -> ControlFlow:
        exposed = reads(statement.subject)
        flows: list[ControlFlow] = []
        sure = False
        for case in statement.cases:
            named = frozenset(stores(case.pattern))
            exposed |= reads(case.pattern)
            exposed |= (reads(case.guard) if case.guard is not None else set()) - named
            flows.append(self.of(case.body).after(named))
            wildcard = (
                isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
            )
            sure = sure or (wildcard and case.guard is None)
        return _join(exposed, flows if sure else [*flows, ControlFlow()])


def _join(first: set[str], flows: Sequence[ControlFlow]) -> ControlFlow:
    return ControlFlow(
        frozenset(first).union(*(f.exposed for f in flows)), _meet([f.bound for f in flows])
    )


def _meet(ends: Sequence[frozenset[str] | None]) -> frozenset[str] | None:
    reached = [end for end in ends if end is not None]
    return frozenset.intersection(*reached) if reached else None


def _sure(node: ast.AST) -> frozenset[str]:
    """Return the names that `:=` binds in any evaluation of the node before anything else reads them."""
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
