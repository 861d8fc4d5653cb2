"""What a piece of Python reads and binds, by the language's own rules of scope.

Names are those of one function's scope: nested functions, lambdas, comprehensions and classes count with
what they read from it (https://docs.python.org/3/reference/executionmodel.html#naming-and-binding).
"""

import ast
from collections.abc import Iterable, Iterator, Sequence

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def reads(node: ast.AST) -> set[str]:
    """The names that a node reads from the scope around it."""
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
    """The names that a node, or a run of statements, binds in its own scope."""
    if not isinstance(node, ast.AST):
        return {name for statement in node for name in stores(statement)}
    found: set[str] = set()
    for part in own_scope(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, (ast.Store, ast.Del)):
            found.add(part.id)
        elif isinstance(part, (*DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and part.name:
            found.add(part.name)
        elif isinstance(part, ast.MatchMapping) and part.rest:
            found.add(part.rest)
        elif isinstance(part, ast.alias):
            found.add((part.asname or part.name).split(".")[0])
    return found


def own_scope(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is in it, but not what has a scope of its own (comprehension targets included)."""
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


def _function_reads(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    own = {a.arg for a in every}
    for part in body:
        own |= stores(part)
        own -= {name for inner in own_scope(part) if isinstance(inner, ast.Nonlocal) for name in inner.names}
    outside: list[ast.AST] = [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]
    if not isinstance(node, ast.Lambda):
        outside += node.decorator_list
        outside += [a.annotation for a in every if a.annotation] + ([node.returns] if node.returns else [])
    return (_all_reads(body) - own) | _all_reads(outside)


def _all_reads(nodes: Iterable[ast.AST]) -> set[str]:
    return {name for node in nodes for name in reads(node)}


def _plain_stores(target: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
