"""What a piece of Python does."""

import ast
import warnings
from collections.abc import Iterable

from cli_guard.commands.inline import code, evaluate
from cli_guard.commands.inline.code import NOTHING, Node
from cli_guard.commands.inline.model import Act, NotUnderstood
from cli_guard.commands.inline.python_calls import language

OPERATORS = {ast.Add: "+", ast.Mod: "%", ast.Div: "/", ast.Mult: "*", ast.Sub: "-", ast.BitXor: "^"}


def acts(text: str) -> tuple[Act, ...]:
    """Return what the code does, in its order."""
    return evaluate.acts(LANGUAGE, text)


def read(text: str) -> Node:
    """Parse a program. Raises NotUnderstood."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip())
    except (SyntaxError, ValueError) as error:
        raise NotUnderstood("text that is not Python") from error
    return code.steps(*map(node, tree.body))


def nodes(trees: Iterable[ast.AST | None]) -> tuple[Node, ...]:
    return tuple(node(tree) for tree in trees if tree is not None)


def node(tree: ast.AST) -> Node:
    match tree:
        case ast.Constant(value=bool() | None):
            return code.Const(None)
        case ast.Constant(value=str() | bytes() | int() | float() as value):
            return code.Const(value)
        case ast.Name():
            return code.Name(tree.id)
        case ast.Attribute():
            return code.Member(node(tree.value), tree.attr)
        case ast.Subscript():
            return subscript(tree)
        case ast.Call():
            return call(tree)
        case ast.Starred():
            return code.Spread(node(tree.value))
        case ast.BinOp(op=operator) if type(operator) in OPERATORS:
            return code.Infix(OPERATORS[type(operator)], node(tree.left), node(tree.right))
        case ast.JoinedStr():
            return code.Text(tuple(map(piece, tree.values)))
        case ast.List() | ast.Tuple() | ast.Set():
            return code.Items(nodes(tree.elts))
        case ast.BoolOp():
            return code.Either(nodes(tree.values))
        case ast.IfExp():
            return code.steps(code.Mix((node(tree.test),)), code.Either((node(tree.body), node(tree.orelse))))
        case ast.Compare():
            return code.Mix(nodes((tree.left, *filter(not_a_look_up, tree.comparators))))
        case ast.NamedExpr():
            return code.Assign(node(tree.target), node(tree.value))
        case ast.Lambda():
            return function(tree.args, code.Return(node(tree.body)))
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            return comprehension(tree.generators, node(tree.elt))
        case ast.DictComp():
            return comprehension(tree.generators, code.Mix((node(tree.key), node(tree.value))))
        case ast.Await():
            return node(tree.value)
        case ast.Yield() | ast.YieldFrom() | ast.Return():
            return code.Return(node(tree.value) if tree.value else NOTHING)
        case ast.expr() | ast.expr_context():
            return code.Mix(
                nodes(child for child in ast.iter_child_nodes(tree) if isinstance(child, ast.expr))
            )
        case ast.stmt():
            return statement(tree)
    return NOTHING


def not_a_look_up(tree: ast.expr) -> bool:
    """Return whether this is not `os.environ`: `"X" in os.environ` shows nothing of it."""
    return not (isinstance(tree, ast.Attribute) and tree.attr == "environ")


def piece(tree: ast.expr) -> Node:
    if isinstance(tree, ast.FormattedValue):
        plain = tree.conversion == -1 and tree.format_spec is None
        return node(tree.value) if plain else code.Mix(nodes((tree.value, tree.format_spec)))
    return node(tree)


def subscript(tree: ast.Subscript) -> Node:
    value = node(tree.value)
    if not isinstance(tree.slice, ast.Slice):
        return code.Member(value, None, node(tree.slice))
    bounds = nodes((tree.slice.lower, tree.slice.upper, tree.slice.step))
    if not isinstance(tree.ctx, ast.Load):
        return code.Member(value, None, code.Mix(bounds))
    turned = ast.unparse(tree.slice) == "::-1"
    return (
        code.Call(code.Member(value, "reversed"))
        if turned
        else code.Call(code.Member(value, "slice"), bounds)
    )


def call(tree: ast.Call) -> Node:
    named = tuple((keyword.arg or "*", node(keyword.value)) for keyword in tree.keywords)
    return code.Call(node(tree.func), nodes(tree.args), named)


def comprehension(generators: list[ast.comprehension], element: Node) -> Node:
    for generator in reversed(generators):
        body = code.steps(*nodes(generator.ifs), element)
        some = bool(generator.ifs) or len(generators) > 1
        element = code.Each(node(generator.target), node(generator.iter), body, gathers=True, some=some)
    return element


def parameters(arguments: ast.arguments) -> tuple[str, ...]:
    named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return tuple(each.arg for each in (*named, arguments.vararg, arguments.kwarg) if each)


def defaults(arguments: ast.arguments) -> tuple[Node, ...]:
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    late = names[len(names) - len(arguments.defaults) :]
    pairs = list(zip(late, arguments.defaults, strict=True))
    pairs += [(a.arg, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d]
    return tuple(code.Assign(code.Name(name), node(value)) for name, value in pairs)


def block(trees: Iterable[ast.stmt]) -> Node:
    return code.steps(*nodes(trees))


def statement(tree: ast.stmt) -> Node:
    match tree:
        case ast.Expr():
            return node(tree.value)
        case ast.Assign():
            return code.steps(*(code.Assign(node(target), node(tree.value)) for target in tree.targets))
        case ast.AnnAssign():
            made = [code.Assign(node(tree.target), node(tree.value))] if tree.value else []
            return code.steps(node(tree.annotation), *made)
        case ast.AugAssign():
            operator = OPERATORS.get(type(tree.op), "?")
            value = node(tree.value)
            # A list is changed in place; for anything else it is no method.
            key = "extend" if isinstance(tree.target, ast.Attribute) else "+="
            changed = [code.Call(code.Member(node(tree.target), key), (value,))] if operator == "+" else []
            return code.steps(
                code.Assign(node(tree.target), code.Infix(operator, node(tree.target), value)), *changed
            )
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return definition(tree)
        case ast.ClassDef():
            return class_definition(tree)
        case ast.Import():
            return code.steps(*(import_alias(name) for name in tree.names))
        case ast.ImportFrom():
            module = "." * tree.level + (tree.module or "")
            return code.steps(*(code.Import(module, n.asname or n.name, n.name) for n in tree.names))
        case ast.For() | ast.AsyncFor():
            body = block((*tree.body, *tree.orelse))
            return code.Each(node(tree.target), node(tree.iter), body)
        case ast.With() | ast.AsyncWith():
            opened = (
                code.Assign(node(item.optional_vars), node(item.context_expr))
                if item.optional_vars
                else node(item.context_expr)
                for item in tree.items
            )
            return code.steps(*opened, block(tree.body))
        case ast.Delete():
            return code.steps(*(code.Assign(node(target), NOTHING) for target in tree.targets))
        case ast.Match():
            return match_statement(tree)
        case ast.Global() | ast.Nonlocal() | ast.Pass() | ast.Break() | ast.Continue():
            return NOTHING
        case ast.If() | ast.While() | ast.Raise() | ast.Try() | ast.Assert() | ast.Return():
            return parts(tree)
    return code.UnknownNode(f"Python's {type(tree).__name__}")


def parts(tree: ast.AST) -> Node:
    """Read a statement as nothing but its parts."""
    found: list[Node] = []
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.ExceptHandler):
            found += [code.Assign(code.Name(child.name), NOTHING)] if child.name else []
            found.append(parts(child))
        elif isinstance(child, ast.expr):
            found.append(code.Mix((node(child),)))
        else:
            found.append(node(child))
    return code.steps(*found)


def match_statement(tree: ast.Match) -> Node:
    """Read a match statement, whose patterns may bind names to any part of its subject."""
    names = [
        name
        for part in ast.walk(tree)
        if isinstance(part, ast.MatchAs | ast.MatchStar | ast.MatchMapping)
        and (name := part.rest if isinstance(part, ast.MatchMapping) else part.name)
    ]
    subject = node(tree.subject)
    bound = [code.Assign(code.Name(name), subject) for name in names]
    bodies = [block(case.body) for case in tree.cases]
    return code.steps(*bound, *nodes(case.guard for case in tree.cases), *bodies)


def import_alias(alias: ast.alias) -> Node:
    """Read `import a.b`, which binds `a`, or `import a.b as c`, which binds `c` to `a.b`."""
    if alias.asname:
        return code.Import(alias.name, alias.asname)
    top = alias.name.partition(".")[0]
    inner = (code.Import(alias.name, ""),) if top != alias.name else ()
    return code.steps(code.Import(top, top), *inner)


def definition(tree: ast.FunctionDef | ast.AsyncFunctionDef) -> Node:
    made = function(tree.args, block(tree.body))
    return code.steps(
        code.Assign(code.Name(tree.name), made), *call_decorators(tree.name, tree.decorator_list)
    )


def function(arguments: ast.arguments, body: Node) -> Node:
    """Read a function. One that takes any number of arguments may be called with anything."""
    made = code.Function(parameters(arguments), code.steps(*defaults(arguments), body))
    return code.steps(code.Mix((made,)), made) if arguments.vararg or arguments.kwarg else made


def call_decorators(name: str, decorators: list[ast.expr]) -> tuple[Node, ...]:
    return tuple(code.Call(node(each), (code.Name(name),)) for each in decorators)


def class_definition(tree: ast.ClassDef) -> Node:
    """Read the body of a class; its instances are data."""
    inner = map(of_class, tree.body)
    bases = code.Mix(nodes((*tree.bases, *(keyword.value for keyword in tree.keywords))))
    made = code.Assign(code.Name(tree.name), code.Function(("*",), NOTHING))
    return code.steps(bases, *inner, made, *call_decorators(tree.name, tree.decorator_list))


def of_class(tree: ast.stmt) -> Node:
    """Read a statement in a class: what it binds is reachable through instances, so it must be harmless."""
    match tree:
        case ast.Assign() | ast.AnnAssign() | ast.Expr() if tree.value:
            return code.Mix((node(tree.value),))
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return code.Mix((node(tree), code.Name(tree.name)))
        case ast.ClassDef() | ast.AnnAssign() | ast.Pass():
            return node(tree)
    return code.UnknownNode("a statement in a class")


LANGUAGE = language(read)
