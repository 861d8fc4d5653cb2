"""Find runs of statements in a Python function that can be moved unchanged into a function of their own."""

import ast
from collections.abc import Iterator, Sequence

from cli_guard.lazy import dataclass
from cli_guard.reviewers.refactor.facts import LOOPS, FunctionFacts, FunctionNode, facts_of
from cli_guard.reviewers.refactor.flow import Flows, Position, Suite
from cli_guard.reviewers.refactor.naming import spans

SUITES = ("body", "orelse", "finalbody")
OWNERS = frozenset({"self", "cls"})
MOST_IN = 4
FEWEST_LINES = 6
FEWEST_DECISIONS = 2
LONG = 8
LARGEST_SHARE = 0.8
CANDIDATES = 40
ENOUGH = 12


@dataclass(frozen=True, slots=True)
class Extraction:
    """Lines `first` to `last` as a function of their own.

    `parameters` are the values it needs, in the order in which the function first names them, `results` the one that
    is read after it, if any. `returns` means that the lines always return (or raise) themselves, so that the call
    becomes `return name(...)`. `waits` means that it must be `async`. `guard` is the condition of the branch that the
    lines are.
    """

    first: int
    last: int
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    returns: bool
    waits: bool
    decisions: int
    statements: tuple[ast.stmt, ...]
    guard: str = ""

    @property
    def worth(self) -> float:
        return gain(
            self.decisions,
            self.last - self.first + 1,
            len(self.parameters) + 2 * (not self.returns),
        )


def gain(decisions: int, lines: int, values: int) -> float:
    """Return what moving a run is worth: branches and lines removed, less the values to pass.

    Branches beyond `ENOUGH` count against it: the new function would be too complex itself.
    """
    return 3 * min(decisions, 2 * ENOUGH - decisions) + lines - 2.5 * values


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of statements and the suites around it, the function's own first."""

    places: tuple[Position, ...]
    statements: Suite

    @property
    def branch(self) -> ast.If | None:
        """Return the statement whose branch the run is, as a whole."""
        place = self.places[-1]
        whole = isinstance(place.owner, ast.If) and len(self.statements) == len(place.suite)
        return place.owner if whole and isinstance(place.owner, ast.If) else None

    @property
    def first(self) -> int:
        return self.statements[0].lineno

    @property
    def last(self) -> int:
        return self.statements[-1].end_lineno or self.statements[-1].lineno


def parse_function(lines: Sequence[str], first: int) -> FunctionNode | None:
    """Parse the function in these lines, numbered from `first`; None if Python cannot."""
    text = "\n".join(lines)
    indented = text[:1] in (" ", "\t")
    try:
        # An enclosing `if` keeps the indentation: dedent would change strings over several lines.
        tree = ast.parse("if 1:\n" + text if indented else text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    ast.increment_lineno(tree, first - (2 if indented else 1))
    return next(
        (
            n
            for n in ast.walk(tree)
            if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
        ),
        None,
    )


def extractions(function: FunctionNode, lines: Sequence[str]) -> list[Extraction]:
    """Return the runs that can be moved, the most worthwhile first; `lines` are those of the whole file.

    Of many, only the largest and most branched are tried.
    """
    facts = facts_of(function)
    size = (function.end_lineno or function.lineno) - function.lineno + 1
    runs = [
        run
        for run in _runs(function, lines)
        if FEWEST_LINES <= run.last - run.first + 1 <= LARGEST_SHARE * size
        and _whole_lines(run, lines)
    ]
    runs.sort(
        key=lambda r: (-3 * facts.decisions_in(r.first, r.last) - r.last + r.first, r.first)
    )
    flows = Flows()
    found = [
        e for run in runs[:CANDIDATES] if (e := _extraction(facts, flows, run)) is not None
    ]
    return sorted(found, key=lambda e: (-e.worth, e.first, e.last))


def _whole_lines(run: _Run, lines: Sequence[str]) -> bool:
    """Return whether the statements share no line with others; an `elif` is an `if` that cannot be moved."""
    first = run.statements[0]
    last = run.statements[-1]
    if getattr(first, "decorator_list", None) or run.last > len(lines):
        return False
    line = lines[first.lineno - 1].encode("utf-8", "replace")
    rest = (
        lines[run.last - 1].encode("utf-8", "replace")[last.end_col_offset or 0 :].strip()
    )
    if line[: first.col_offset].strip() or line.lstrip().startswith(b"elif"):
        return False
    return not rest or rest.startswith(b"#")


def _runs(function: FunctionNode, lines: Sequence[str]) -> Iterator[_Run]:
    """Yield every branch, every compound statement, and the runs that build a value or have a comment."""
    stack: list[tuple[tuple[Position, ...], ast.AST, str, Suite]] = [
        ((), function, "body", function.body)
    ]
    while stack:
        around, owner, field, suite = stack.pop()
        statements = [
            (_first_value(each), each.lineno, each.end_lineno or each.lineno)
            for each in suite
        ]
        found = set(spans(statements, lines))
        if isinstance(owner, ast.If):
            found.add((0, len(suite)))
        for start, end in sorted(found):
            yield _Run((*around, Position(owner, field, suite, end)), suite[start:end])
        for number, statement in enumerate(suite):
            places = (*around, Position(owner, field, suite, number + 1))
            inner = list(_suites(statement))
            if inner and len(suite) > 1:
                yield _Run(places, [statement])
            stack += [(places, statement, name, part) for name, part in inner]


def _first_value(statement: ast.stmt) -> str:
    """Return the name that a statement gives a value, if it does nothing else."""
    targets = (
        statement.targets
        if isinstance(statement, ast.Assign)
        else [getattr(statement, "target", None)]
    )
    plain = isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(
        targets[0], ast.Name
    )
    return targets[0].id if plain and isinstance(targets[0], ast.Name) else ""


def _suites(statement: ast.stmt) -> Iterator[tuple[str, Suite]]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for name in SUITES:
        suite = getattr(statement, name, None)
        if suite:
            yield name, suite
    for handler in getattr(statement, "handlers", ()):
        yield "handlers", handler.body
    if isinstance(statement, ast.Match):
        for case in statement.cases:
            yield "cases", case.body


def _extraction(facts: FunctionFacts, flows: Flows, run: _Run) -> Extraction | None:
    decisions = facts.decisions_in(run.first, run.last)
    if facts.has("refused", run.first, run.last):
        return None
    if decisions < FEWEST_DECISIONS and run.last - run.first + 1 < LONG:
        return None
    if facts.has("jumps", run.first, run.last) and _jumps_out(run.statements):
        return None
    has_return = facts.has("returns", run.first, run.last)
    moved = flows.of(run.statements)
    if has_return != (moved.bound is None):
        return (
            None  # it returns only sometimes; or it always raises, which a call would hide
        )
    own = facts.bound_in(run.first, run.last)
    results = frozenset() if has_return else flows.live_after(run.places) & own
    needed = (moved.exposed & facts.local) | (results - (moved.bound or frozenset()))
    if len(needed - OWNERS) > MOST_IN or len(results) > 1 or (own | needed) & facts.foreign:
        return None
    if run.branch and results:
        return None  # parted from its condition
    if not needed <= flows.bound_before(run.places, len(run.statements), facts.parameters):
        return None  # a value that may be unbound cannot be passed
    if _seen_by_closures(facts, run, own) or _watched(flows, run.places, own):
        return None
    return Extraction(
        first=run.first,
        last=run.last,
        parameters=tuple(sorted(needed, key=lambda n: (facts.order.get(n, 0), n))),
        results=tuple(sorted(results, key=lambda n: (facts.order.get(n, 0), n))),
        returns=has_return,
        waits=facts.has("waits", run.first, run.last),
        decisions=decisions,
        statements=tuple(run.statements),
        guard=ast.unparse(run.branch.test)
        if run.branch and run.places[-1].field == "body"
        else "",
    )


def _jumps_out(run: Suite) -> bool:
    todo: list[ast.AST] = list(run)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Break | ast.Continue):
            return True
        if isinstance(node, LOOPS):
            todo += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            todo += list(ast.iter_child_nodes(node))
    return False


def _watched(flows: Flows, places: Sequence[Position], own: frozenset[str]) -> bool:
    """Return whether a handler, or code after one, reads values bound by the run before it failed."""
    for number, place in enumerate(places):
        if isinstance(place.owner, ast.Try) and place.field == "body":
            suites = [
                place.owner.finalbody,
                *(handler.body for handler in place.owner.handlers),
            ]
            if any(flows.of(suite).exposed & own for suite in suites):
                return True
            if place.owner.handlers and flows.live_after(places[:number]) & own:
                return True
        if (
            isinstance(place.owner, ast.With | ast.AsyncWith)
            and flows.live_after(places[:number]) & own
        ):
            entered = flows.of([place.owner]).bound or frozenset()
            if not own <= entered and place.field == "body":
                return True
    return False


def _seen_by_closures(facts: FunctionFacts, run: _Run, own: frozenset[str]) -> bool:
    """Return whether a nested function would read another value because a name moves to another scope."""
    loop = min(
        (p.owner.lineno for p in run.places if isinstance(p.owner, LOOPS)), default=0
    )
    for line, names in facts.closures:
        inside = run.first <= line <= run.last
        if not inside and (loop or line <= run.last) and names & own:
            return True
        if inside and names & facts.bound_outside(
            run.first, run.last, since=loop or run.first
        ):
            return True
    return False
