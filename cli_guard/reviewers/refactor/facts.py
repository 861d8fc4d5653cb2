"""Facts about a whole Python function, collected once; a run of statements inside is found by its lines."""

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from cli_guard.lazy import dataclass

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
CLOSURES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.GeneratorExp)
DECIDES = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.IfExp,
    ast.BoolOp,
)
DECIDES_TOO = (ast.comprehension, ast.match_case)
# Calls whose meaning changes in another function; those of FRAMES read the frames of their callers.
REFUSED = (ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.Delete)
REFUSED_NAMES = frozenset(
    {"locals", "vars", "eval", "exec", "super", "dir", "__class__", "inspect"}
)
FRAMES = frozenset(
    {
        "_getframe",
        "_current_frames",
        "currentframe",
        "extract_stack",
        "print_stack",
        "stacklevel",
    }
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class FunctionFacts:
    """The names of a function: its parameters, where each is bound, what closures read, and in which order.

    `bindings` and `closures` pair a line with a name, and with the names that a closure reads. `foreign` are names
    declared global or nonlocal, here or in a function inside. `marks` are the lines of "decisions", and of "refused",
    "returns", "waits" and "jumps" in the function's own scope.
    """

    parameters: frozenset[str]
    bindings: tuple[tuple[int, str], ...]
    closures: tuple[tuple[int, frozenset[str]], ...]
    foreign: frozenset[str]
    marks: dict[str, list[int]]
    order: dict[str, int]

    @property
    def local(self) -> frozenset[str]:
        """Return every name of the function's own scope."""
        return self.parameters | {name for _, name in self.bindings}

    def bound_in(self, first: int, last: int) -> frozenset[str]:
        """Return the names that lines `first` to `last` bind."""
        return frozenset(name for line, name in self.bindings if first <= line <= last)

    def bound_outside(self, first: int, last: int, since: int = 0) -> frozenset[str]:
        """Return the names that other lines bind, from line `since` on."""
        outside = (
            pair
            for pair in self.bindings
            if pair[0] >= since and not first <= pair[0] <= last
        )
        return frozenset(name for _, name in outside)

    def decisions_in(self, first: int, last: int) -> int:
        """Return the number of branches and loops that begin there."""
        return bisect_right(self.marks["decisions"], last) - bisect_left(
            self.marks["decisions"], first
        )

    def has(self, mark: str, first: int, last: int) -> bool:
        lines = self.marks[mark]
        place = bisect_left(lines, first)
        return place < len(lines) and lines[place] <= last


def facts_of(function: FunctionNode) -> FunctionFacts:
    """Collect the facts in two walks over the function."""
    parameters = [a.arg for a in _arguments(function.args)]
    bindings: list[tuple[int, str]] = []
    marks: dict[str, list[int]] = {
        m: [] for m in ("decisions", "refused", "returns", "waits", "jumps")
    }
    for statement in function.body:
        line = statement.lineno
        for part in own_scope(statement):
            line = getattr(part, "lineno", line)
            bindings += [(line, name) for name in _binds(part)]
            for mark in _marks(part):
                marks[mark].append(line)
    closures: list[tuple[int, frozenset[str]]] = []
    foreign: set[str] = set()
    order = {name: place - len(parameters) for place, name in enumerate(parameters)}
    for statement in function.body:
        line = statement.lineno
        for part in ast.walk(statement):
            line = getattr(part, "lineno", line)
            if isinstance(part, CLOSURES):
                closures.append((line, frozenset(reads(part))))
            elif isinstance(part, ast.Global | ast.Nonlocal):
                foreign.update(part.names)
                marks["refused"].append(line)
            elif isinstance(part, ast.Name) and order.get(part.id, 1) >= 0:
                place = part.lineno * 10_000 + part.col_offset
                order[part.id] = min(place, order.get(part.id, place))
            if isinstance(part, (*DECIDES, *DECIDES_TOO)):
                marks["decisions"].append(line)
    for lines in marks.values():
        lines.sort()
    return FunctionFacts(
        frozenset(parameters),
        tuple(bindings),
        tuple(closures),
        frozenset(foreign),
        marks,
        order,
    )


def _marks(part: ast.AST) -> Iterator[str]:
    names = {getattr(part, field, None) for field in ("id", "attr", "arg")}
    if (
        isinstance(part, REFUSED)
        or names & FRAMES
        or (isinstance(part, ast.Name) and part.id in REFUSED_NAMES)
    ):
        yield "refused"
    elif isinstance(part, ast.Return):
        yield "returns"
    elif isinstance(part, ast.Break | ast.Continue):
        yield "jumps"
    elif isinstance(part, ast.Await | ast.AsyncFor | ast.AsyncWith) or _waits(part):
        yield "waits"


def _waits(part: ast.AST) -> bool:
    """Return whether it is an asynchronous comprehension; a coroutine defined inside does its own waiting."""
    if not isinstance(part, COMPREHENSIONS):
        return False
    inside = ast.walk(part)
    return any(
        isinstance(p, ast.Await) or (isinstance(p, ast.comprehension) and p.is_async)
        for p in inside
    )


def _binds(part: ast.AST) -> list[str]:
    if isinstance(part, ast.Name):
        return [] if isinstance(part.ctx, ast.Load) else [part.id]
    if isinstance(part, ast.alias):
        return [(part.asname or part.name).split(".")[0]]
    if isinstance(part, (*DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return [part.name] if part.name else []
    return [part.rest] if isinstance(part, ast.MatchMapping) and part.rest else []


def reads(node: ast.AST) -> set[str]:
    """Return the names that a node reads from its enclosing scope."""
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    if isinstance(node, FUNCTIONS):
        return _function_reads(node)
    if isinstance(node, COMPREHENSIONS):
        own: set[str] = set()
        for generator in node.generators:
            own |= _plain_stores(generator.target)
        return _all_reads(ast.iter_child_nodes(node)) - own
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return reads(node.value) | {node.target.id}
    return _all_reads(ast.iter_child_nodes(node))


def stores(node: ast.AST | Sequence[ast.stmt]) -> set[str]:
    """Return the names that a node, or a run of statements, binds in its own scope."""
    if not isinstance(node, ast.AST):
        return {name for statement in node for name in stores(statement)}
    return {name for part in own_scope(node) for name in _binds(part)}


def own_scope(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and its descendants in the same scope (of a comprehension only the targets of `:=`)."""
    yield node
    if isinstance(node, (*DEFINITIONS, ast.Lambda)):
        return
    if isinstance(node, COMPREHENSIONS):
        for part in ast.walk(node):
            if isinstance(part, ast.NamedExpr):
                yield part.target
        return
    for child in ast.iter_child_nodes(node):
        yield from own_scope(child)


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [*named, *(a for a in (arguments.vararg, arguments.kwarg) if a is not None)]


def _function_reads(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    arguments = node.args
    every = _arguments(node.args)
    body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    own = {a.arg for a in every}
    for part in body:
        own |= stores(part)
        own -= {
            name
            for inner in own_scope(part)
            if isinstance(inner, ast.Nonlocal)
            for name in inner.names
        }
    outside: list[ast.AST] = [
        *arguments.defaults,
        *(d for d in arguments.kw_defaults if d is not None),
    ]
    if not isinstance(node, ast.Lambda):
        outside += node.decorator_list
        outside += [a.annotation for a in every if a.annotation] + (
            [node.returns] if node.returns else []
        )
    return (_all_reads(body) - own) | _all_reads(outside)


def _all_reads(nodes: Iterable[ast.AST]) -> set[str]:
    return {name for node in nodes for name in reads(node)}


def _plain_stores(target: ast.AST) -> set[str]:
    return {
        n.id
        for n in ast.walk(target)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
