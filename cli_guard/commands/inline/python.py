"""What a piece of Python does: its syntax tree is walked, and what it does on any path through it is collected.

A harmful function must be called by its own name: passing a function not known to be harmless to other code is reported
as not understood.
"""

import ast
import warnings
from collections.abc import Callable, Iterable

from cli_guard.commands.inline import python_calls as python
from cli_guard.commands.inline.model import Act, NotUnderstood, unknown
from cli_guard.commands.inline.program import Key, Program
from cli_guard.commands.inline.python_handlers import PATH
from cli_guard.commands.inline.values import (
    ANY,
    MANY,
    Function,
    Literal,
    Reference,
    Sequence,
    Value,
    Values,
    alternatives,
    as_text,
    combine,
    is_firm,
    is_open,
    join_values,
    path_of,
    raw_text,
    text_of,
)

PASSES, STEPS, UNROLLED, MOST_SPREAD = 24, 60_000, 64, 9
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def acts(text: str) -> tuple[Act, ...]:
    """Return what the code does, in its order."""
    walk = Walk()
    try:
        walk.run_passes(read(text))
    except NotUnderstood as error:
        walk.program.note(unknown(str(error)))
    except (RecursionError, MemoryError):
        walk.program.note(unknown("code that is nested too deeply"))
    return tuple(walk.program.acts)


def read(text: str) -> ast.Module:
    """Parse a program. Raises NotUnderstood."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.strip())
    except (SyntaxError, ValueError) as error:
        raise NotUnderstood("text that is not Python") from error


class Walk:
    """A walk through a syntax tree."""

    def __init__(self) -> None:
        self.program = Program(self.run_text)
        self.memory = self.program.memory
        self.trees: dict[str, ast.Module] = {}
        self.functions: dict[ast.AST, Function] = {}
        self.steps = 0
        self.final = False

    def run_passes(self, tree: ast.Module) -> None:
        """Walk until nothing new is found, then once more for the acts."""
        for _ in range(PASSES):
            self.memory.changed = False
            self.run_block(tree.body)
            self.program.acts.clear()
            # What the code itself never calls is called with anything.
            uncalled = set(self.functions.values()) - self.program.entered
            self.program.data(uncalled)
            if not self.memory.changed and not uncalled:
                break
        else:
            raise NotUnderstood("code whose values go in circles")
        self.final = True
        self.run_block(tree.body)

    def run_text(self, text: str) -> Values:
        if text not in self.trees:
            self.trees[text] = read(text)
        return self.run_block(self.trees[text].body)

    def run_block(self, nodes: Iterable[ast.AST]) -> Values:
        """Run statements; return the values of the last."""
        found = ANY
        for node in nodes:
            found = self.value(node)
        return found

    def value(self, node: ast.AST) -> Values:
        """Return the possible values of a node, and record what it does."""
        self.steps += 1
        if self.steps > STEPS:
            raise NotUnderstood("code that is too long")
        found = self.expression(node) if isinstance(node, ast.expr) else self.statement(node)
        return tuple(map(self.memory.settle, found)) if self.memory.altered else found

    def values(self, nodes: Iterable[ast.AST | None]) -> list[Values]:
        return [self.value(node) for node in nodes if node is not None]

    def mix(self, nodes: Iterable[ast.AST | None]) -> Values:
        """Return data made of the values of some nodes."""
        return (self.program.data(value for values in self.values(nodes) for value in values),)

    def expression(self, node: ast.expr) -> Values:
        match node:
            case ast.Constant():
                return (Literal(node.value),)
            case ast.Name():
                return self.name(node.id)
            case ast.Attribute():
                return self.parts(self.value(node.value), (node.attr,), by_key=False)
            case ast.Subscript(slice=ast.Slice()):
                return self.cut(node)
            case ast.Subscript():
                return self.parts(self.value(node.value), self.keys(node.slice), by_key=True)
            case ast.Call():
                return self.call(node)
            case ast.Starred() | ast.Await() | ast.FormattedValue(conversion=-1, format_spec=None):
                return self.value(node.value)
            case ast.BinOp():
                return self.operate(node.op, self.value(node.left), self.value(node.right))
            case ast.JoinedStr():
                return combine(text_of, self.values(node.values))
            case ast.List() | ast.Tuple() | ast.Set():
                return (self.make_items(node.elts),)
            case ast.Compare():
                return self.mix((node.left, *filter(is_more_than_look_up, node.comparators)))
            case ast.NamedExpr():
                return self.assign(node.target, self.value(node.value))
            case ast.Lambda():
                return self.define(node, lambda: self.give(self.value(node.body)))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self.comprehend(node.generators, lambda: self.value(node.elt))
            case ast.DictComp():
                return self.comprehend(node.generators, lambda: self.mix((node.key, node.value)))
        return self.mix(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))

    def statement(self, node: ast.AST) -> Values:
        match node:
            case ast.Expr():
                return self.value(node.value)
            case ast.Assign():
                for target in node.targets:
                    self.assign(target, self.value(node.value))
            case ast.AnnAssign():
                self.value(node.annotation)
                if node.value:
                    self.assign(node.target, self.value(node.value))
            case ast.AugAssign():
                self.add_to(node)
            case ast.Return():
                return self.give(self.value(node.value) if node.value else ANY)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if node.decorator_list:
                    self.program.note(unknown("a function with a decorator"))
                self.mix(node.decorator_list)
                self.memory.assign(node.name, self.define(node, lambda: self.run_block(node.body)))
            case ast.Import():
                for alias in node.names:
                    module = self.program.load_module(alias.name)
                    top = Reference(python.own_name(alias.name.partition(".")[0]))
                    self.memory.assign(alias.asname or top.name, (module if alias.asname else top,))
            case ast.ImportFrom():
                module = self.program.load_module("." * node.level + (node.module or ""))
                for alias in node.names:
                    part = python.part_of(module, alias.name)
                    self.memory.assign(alias.asname or alias.name, (part,))
                    if alias.name == "*":
                        self.program.note(unknown(f"imports all names of {module.name}"))
            case ast.For() | ast.AsyncFor():
                self.loop(node.target, self.value(node.iter), lambda: self.run_block(node.body))
                self.run_block(node.orelse)
            case ast.Delete():
                for target in node.targets:
                    self.assign(target, ANY)
            case (
                ast.If() | ast.While() | ast.With() | ast.AsyncWith() | ast.Raise() | ast.Try() | ast.Assert()
            ):
                self.walk_inside(node)
            case ast.Global() | ast.Nonlocal() | ast.Pass() | ast.Break() | ast.Continue():
                pass
            case _:
                self.program.note(unknown(f"Python's {type(node).__name__}"))
                self.walk_inside(node)
        return ANY

    def walk_inside(self, node: ast.AST) -> None:
        """Walk the parts of a statement."""
        if isinstance(node, ast.ExceptHandler) and node.name:
            self.memory.assign(node.name, ANY)
        elif isinstance(node, ast.withitem) and node.optional_vars:
            self.assign(node.optional_vars, self.value(node.context_expr))
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.mix([child])
            elif isinstance(child, ast.stmt):
                self.value(child)
            else:
                self.walk_inside(child)

    def name(self, name: str) -> Values:
        found = self.memory.look_up(name)
        own = python.own_name(name)
        unbound = self.final and not found
        return (*found, Reference(own)) if unbound or python.is_known(own) else found

    def parts(self, of: Values, keys: tuple[Key, ...], *, by_key: bool) -> Values:
        return alternatives(
            part for value in of for key in keys for part in self.program.part(value, key, by_key=by_key)
        )

    def keys(self, node: ast.expr) -> tuple[Key, ...]:
        """Return what may stand between brackets, None for an unknown key."""
        return tuple(
            value.value if isinstance(value, Literal) and type(value.value) is int else as_text(value)
            for value in self.value(node)
        )

    def cut(self, node: ast.Subscript) -> Values:
        """Take a slice: of found names it is found names, of anything else it is not known."""
        of = self.value(node.value)
        self.mix([node.slice])
        return of if all(map(is_open, of)) else (self.program.data(of),)

    def call(self, node: ast.Call) -> Values:
        arguments: list[Values] = []
        for argument in node.args:
            values = self.value(argument)
            if not isinstance(argument, ast.Starred):
                arguments.append(values)
            elif len(values) == 1 and isinstance(values[0], Sequence):
                arguments.extend((part,) for part in values[0].parts)
            else:
                arguments.extend([values] * MOST_SPREAD)
        named = {keyword.arg or "*": self.value(keyword.value) for keyword in node.keywords}
        if not isinstance(node.func, ast.Attribute):
            functions = self.value(node.func)
            return alternatives(r for f in functions for r in self.program.invoke(f, arguments, named))
        found: list[Value] = []
        for of in self.value(node.func.value):
            if isinstance(of, Reference):
                for function in self.program.part(of, node.func.attr, by_key=False):
                    found.extend(self.program.invoke(function, arguments, named))
            else:
                found.extend(self.program.call_method(of, node.func.attr, arguments, named))
        return alternatives(found)

    def operate(self, operator: ast.operator, left: Values, right: Values) -> Values:
        paths = [of for of in left if isinstance(of, Reference) and of.name == PATH]
        if paths and isinstance(operator, ast.Div):
            joined = combine(path_of, (tuple(paths), right))
            return tuple(Reference(PATH, raw_text(path)) for path in joined)
        self.program.data((*left, *right))
        return alternatives(join_values(type(operator).__name__, a, b) for a in left for b in right)

    def make_items(self, nodes: list[ast.expr]) -> Value:
        parts: list[Value] = []
        for node in nodes:
            values = self.value(node)
            only = values[0] if len(values) == 1 else self.program.data(values)
            if not isinstance(node, ast.Starred):
                parts.append(only)
            elif isinstance(only, Sequence):
                parts.extend(only.parts)
            else:
                return self.program.data([*parts, only, *self.mix(nodes)])
        return Sequence(tuple(parts)) if len(parts) <= MANY else self.program.data(parts)

    def assign(self, target: ast.expr, values: Values) -> Values:
        """Assign to a name, to several names or to a part."""
        match target:
            case ast.Name():
                self.memory.assign(target.id, values)
            case ast.Starred():
                self.assign(target.value, (self.program.data(values),))
            case ast.Tuple() | ast.List():
                for value in values:
                    self.unpack(target.elts, value)
            case ast.Attribute():
                self.change(target.value, (target.attr,), values)
            case ast.Subscript():
                self.mix([target.slice])
                self.change(target.value, self.keys(target.slice), values)
        return values

    def unpack(self, targets: list[ast.expr], value: Value) -> None:
        if isinstance(value, Sequence) and len(value.parts) == len(targets) and is_firm(value):
            for target, part in zip(targets, value.parts, strict=True):
                self.assign(target, (part,))
        else:
            for target in targets:
                self.assign(target, self.program.elements([value]))

    def change(self, whole: ast.expr, keys: tuple[Key, ...], values: Values) -> None:
        """Set a part of something."""
        self.program.data(values)
        parts = [part for value in values if isinstance(value, Sequence) for part in value.parts]
        added = tuple(parts) if all(map(is_open, values)) else None
        for of in self.value(whole):
            if isinstance(of, Reference) and of.name in python.ENVIRONMENT:
                for key in keys:
                    self.program.set_variable(key if isinstance(key, str) else None, values)
            elif isinstance(of, Reference) and of.name not in python.CHANGEABLE:
                self.program.note(unknown(f"changes {of.name}"))
            else:
                self.memory.alter(of, added)

    def add_to(self, node: ast.AugAssign) -> None:
        """Run `x += y`, which changes a list in place."""
        value = self.value(node.value)
        self.assign(node.target, self.operate(node.op, self.value(node.target), value))
        for of in self.value(node.target):
            if isinstance(of, Sequence):
                self.program.call_method(of, "extend", [value], {})

    def define(self, node: Definition, body: Callable[[], Values]) -> Values:
        """Walk a function. One that takes more than plain arguments may be called with anything."""
        given = node.args
        plain = [each.arg for each in given.args]
        special = (*given.posonlyargs, *given.kwonlyargs, given.vararg, given.kwarg)
        others = [each.arg for each in special if each]
        function = self.functions.setdefault(node, Function(len(self.functions), (*plain, *others)))
        # Annotations and defaults are code that runs at once.
        self.walk_inside(given)
        self.mix([getattr(node, "returns", None)])
        self.memory.scopes.append(function)
        for name, default in zip(reversed(plain), reversed(given.defaults), strict=False):
            self.memory.assign(name, self.value(default))
        body()
        self.memory.scopes.pop()
        if others:
            self.program.data([function])
        return (function,)

    def give(self, values: Values) -> Values:
        """Return values from the function that is walked."""
        if self.memory.scopes:
            self.memory.bind(f"return {self.memory.scopes[-1].number}", values)
        return values

    def loop(self, target: ast.expr, over: Values, body: Callable[[], Values]) -> list[Values]:
        """Run a body for each element; return what each turn gives."""
        only = over[0] if len(over) == 1 else None
        if not isinstance(target, ast.Name) or not isinstance(only, Sequence) or len(only.parts) > UNROLLED:
            self.assign(target, self.program.elements(over))
            return [body()]
        results = []
        for part in only.parts:
            with self.memory.element(target.id, part):
                results.append(body())
        return results

    def comprehend(self, generators: list[ast.comprehension], body: Callable[[], Values]) -> Values:
        first, *others = generators

        def inner() -> Values:
            self.values(first.ifs)
            return self.comprehend(others, body) if others else body()

        over = self.value(first.iter)
        results = self.loop(first.target, over, inner)
        found = tuple(value for values in results for value in values)
        each_one = all(len(values) == 1 for values in results) and not first.ifs and not others
        only = over[0] if len(over) == 1 else None
        if each_one and isinstance(only, Sequence) and len(only.parts) == len(results):
            return (Sequence(found),)
        if found and is_open(Sequence(found)):
            parts = (p for v in found for p in (v.parts if isinstance(v, Sequence) else (v,)))
            return (Sequence(tuple(dict.fromkeys(parts))),)
        return (self.program.data(found),)


def is_more_than_look_up(node: ast.expr) -> bool:
    """Return whether this is not `os.environ`: `"X" in os.environ` shows nothing of it."""
    return ast.unparse(node) != "os.environ"
