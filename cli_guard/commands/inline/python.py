"""What a piece of Python does: what its names may stand for is found by repetition, and then what its calls do.

The order of the statements and the branches between them do not matter: every expression is taken to run. A harmful
function must be called by its own name: passing one not known to be harmless to other code is reported as not
understood.
"""

import ast
from collections.abc import Iterable
from itertools import product
from math import prod

from cli_guard.commands.inline import python_calls as python
from cli_guard.commands.inline.model import Act, NotUnderstood, unknown
from cli_guard.commands.inline.program import Program
from cli_guard.commands.inline.python_handlers import PATH
from cli_guard.commands.inline.python_tree import (
    Definition,
    find_detours,
    name_parameters,
    nodes_of,
    read,
    suspects,
)
from cli_guard.commands.inline.values import (
    ANY,
    MANY,
    MOST_COMBINATIONS,
    InlineFunction,
    Literal,
    Reference,
    Sequence,
    Value,
    Values,
    alternatives,
    as_text,
    combine,
    is_found,
    join_values,
    path_of,
    raw_text,
    text_of,
)
from cli_guard.commands.model import EffectKind

PASSES = 24
STEPS = 100_000
MOST_TEXTS = 20


def acts(text: str) -> tuple[Act, ...]:
    """Return what the code does."""
    walk = PythonWalk()
    try:
        walk.run(text)
    except NotUnderstood as error:
        walk.program.note(unknown(str(error)))
    except (RecursionError, MemoryError):
        walk.program.note(unknown("code that is nested too deeply"))
    for detour in find_detours(walk.nodes):
        walk.program.note(unknown(detour))
    found = walk.program.list_acts()
    if any(
        act.kind is EffectKind.EXEC and act.target is act.shell is None and not act.remote
        for act in found
    ):
        return (*found, *suspects(walk.nodes))
    return found


class PythonWalk:
    """The syntax tree of a program, and of the texts that it runs."""

    def __init__(self) -> None:
        self.program = Program(self.run_text)
        self.nodes: list[ast.AST] = []
        self.trees: dict[str, ast.Module] = {}
        self.functions: dict[ast.AST, InlineFunction] = {}
        # The values of the expressions in this pass.
        self.found: dict[ast.AST, Values] = {}
        self.steps = 0

    def run(self, text: str) -> None:
        """Visit every node until nothing new is found; the acts are those of the last time."""
        self.run_text(text)
        for _ in range(PASSES):
            self.program.changed = False
            self.program.acts.clear()
            self.found.clear()
            for node in self.nodes:
                self.visit(node)
            # What the code itself never calls is called with anything.
            uncalled = set(self.functions.values()) - self.program.entered
            self.program.data(uncalled)
            if self.program.changed or uncalled:
                continue
            if self.program.final:
                return
            self.program.final = True
        raise NotUnderstood("code whose values go in circles")

    def run_text(self, text: str) -> Values:
        """Add the nodes of a text; return the value of its last statement."""
        if text not in self.trees:
            if len(self.trees) > MOST_TEXTS:
                raise NotUnderstood("code in code in code")
            self.trees[text] = read(text)
            name_parameters(self.trees[text], self.functions)
            self.nodes.extend(nodes_of(self.trees[text]))
            self.program.changed = True
        last = self.trees[text].body[-1:]
        return self.value(last[0].value) if last and isinstance(last[0], ast.Expr) else ANY

    def visit(self, node: ast.AST) -> None:
        """Bind the names that a node gives values, and record what it does."""
        match node:
            case ast.Name() | ast.Attribute() | ast.Subscript() if not isinstance(
                node.ctx, ast.Load
            ):
                pass
            case ast.expr():
                self.value(node)
            case ast.Assign():
                for target in node.targets:
                    self.assign(target, self.value(node.value))
            case ast.AnnAssign():
                if node.value:
                    self.assign(node.target, self.value(node.value))
            case ast.AugAssign():
                self.add_to(node)
            case ast.Return():
                self.program.bind("return", self.mix([node.value]) if node.value else ANY)
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                self.assign(node.target, self.program.elements(self.value(node.iter)))
            case ast.withitem():
                if node.optional_vars:
                    self.assign(node.optional_vars, self.value(node.context_expr))
            case ast.arg() if node.annotation:
                self.mix([node.annotation])
            case ast.ExceptHandler():
                self.program.bind(node.name or "", ANY)
            case ast.Delete():
                for target in node.targets:
                    self.assign(target, ANY)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.program.bind(node.name, self.define(node))
                if node.decorator_list:
                    self.program.note(unknown("a function with a decorator"))
            case ast.Import():
                for alias in node.names:
                    module = self.program.load_module(alias.name)
                    top = Reference(python.own_name(alias.name.partition(".")[0]))
                    self.program.bind(
                        alias.asname or top.name, (module if alias.asname else top,)
                    )
            case ast.ImportFrom():
                module = self.program.load_module("." * node.level + (node.module or ""))
                for alias in node.names:
                    self.program.bind(
                        alias.asname or alias.name, (python.part_of(module, alias.name),)
                    )
                    if alias.name == "*":
                        self.program.note(unknown(f"imports all names of {module.name}"))
            case ast.ClassDef() | ast.Match() | ast.TryStar():
                self.program.note(unknown(f"Python's {type(node).__name__}"))

    def value(self, node: ast.expr) -> Values:
        """Return the possible values of an expression, and record what it does."""
        if node not in self.found:
            self.steps += 1
            if self.steps > STEPS:
                raise NotUnderstood("code that is too long")
            # Code that runs itself has no value.
            self.found[node] = ()
            values = self.expression(node)
            self.found[node] = tuple(
                self.program.settle(value, id(node)) for value in values
            )
        return self.found[node]

    def mix(self, nodes: Iterable[ast.expr]) -> Values:
        """Return data made of the values of some nodes."""
        return (self.program.data(value for node in nodes for value in self.value(node)),)

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
                return self.parts(
                    self.value(node.value), self.keys(node.slice), by_key=True
                )
            case ast.Call():
                return self.call(node)
            case (
                ast.Starred()
                | ast.Await()
                | ast.FormattedValue(conversion=-1, format_spec=None)
            ):
                return self.value(node.value)
            case ast.BinOp():
                return self.operate(node.op, self.value(node.left), self.value(node.right))
            case ast.JoinedStr():
                return combine(text_of, map(self.value, node.values))
            case ast.List() | ast.Tuple() | ast.Set():
                return self.make_items(node.elts)
            case ast.Compare():
                return self.mix(
                    (node.left, *filter(is_more_than_look_up, node.comparators))
                )
            case ast.NamedExpr():
                return self.assign(node.target, self.value(node.value))
            case ast.Lambda():
                self.program.bind("return", self.mix([node.body]))
                return self.define(node)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self.comprehend(node)
        return self.mix(
            child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)
        )

    def name(self, name: str) -> Values:
        found = self.program.names.get(name, ())
        own = python.own_name(name.partition(" ")[0])
        if python.is_known(own):
            return (*found, Reference(own))
        if self.program.final and not found:
            self.program.note(unknown(f"uses {name}"))
            return ANY
        return found

    def parts(self, of: Values, keys: tuple[str | None, ...], *, by_key: bool) -> Values:
        return alternatives(
            part
            for value in of
            for key in keys
            for part in self.program.part(value, key, by_key=by_key)
        )

    def keys(self, node: ast.expr) -> tuple[str | None, ...]:
        """Return what may stand between brackets, None for an unknown key."""
        return tuple(map(as_text, self.value(node)))

    def cut(self, node: ast.Subscript) -> Values:
        """Take a slice: of a list without order it is another, of anything else it is not known."""
        of = self.value(node.value)
        loose = all(isinstance(each, Sequence) and each.loose for each in of)
        return of if loose else (self.program.data(of, keeps=True),)

    def call(self, node: ast.Call) -> Values:
        arguments = [self.value(argument) for argument in node.args]
        named = {keyword.arg or "*": self.value(keyword.value) for keyword in node.keywords}
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            # What stands beside an unknown number of arguments has no known position.
            named["*"] = tuple(value for values in arguments for value in values)
            arguments = []
        if not isinstance(node.func, ast.Attribute):
            functions = self.value(node.func)
            return alternatives(
                r for f in functions for r in self.program.invoke(f, arguments, named)
            )
        # A method that is called is not handed on.
        self.found[node.func] = ()
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
        self.program.data((*left, *right), keeps=True)
        return alternatives(
            join_values(type(operator).__name__, a, b) for a in left for b in right
        )

    def make_items(self, nodes: list[ast.expr]) -> Values:
        parts = [self.value(node) for node in nodes]
        spread = any(isinstance(node, ast.Starred) for node in nodes)
        if spread or len(parts) > MANY or prod(map(len, parts)) > MOST_COMBINATIONS:
            return self.mix(nodes)
        return tuple(map(Sequence, product(*parts)))

    def assign(self, target: ast.expr, values: Values) -> Values:
        """Assign to a name, to several names or to a part."""
        match target:
            case ast.Name():
                self.program.bind(target.id, values)
            case ast.Starred():
                self.assign(target.value, (self.program.data(values),))
            case ast.Tuple() | ast.List():
                for value in values:
                    self.unpack(target.elts, value)
            case ast.Attribute():
                self.change(target.value, (target.attr,), values)
            case ast.Subscript():
                self.change(target.value, self.keys(target.slice), values)
        return values

    def unpack(self, targets: list[ast.expr], value: Value) -> None:
        if (
            isinstance(value, Sequence)
            and len(value.parts) == len(targets)
            and not value.loose
        ):
            for target, part in zip(targets, value.parts, strict=True):
                self.assign(target, (part,))
        else:
            for target in targets:
                self.assign(target, self.program.elements([value]))

    def change(self, whole: ast.expr, keys: tuple[str | None, ...], values: Values) -> None:
        """Set a part of something."""
        self.program.data(values)
        added: list[Value] = []
        for value in values:
            added.extend(
                value.parts if isinstance(value, Sequence) and value.loose else ANY
            )
        for of in self.value(whole):
            if isinstance(of, Reference) and of.name in python.ENVIRONMENT:
                for key in keys:
                    self.program.set_variable(key if isinstance(key, str) else None, values)
            elif isinstance(of, Reference):
                self.program.note(unknown(f"changes {of.name}"))
            else:
                self.program.alter(of, tuple(added))

    def add_to(self, node: ast.AugAssign) -> None:
        """Run `x += y`, which changes a list in place."""
        value = self.value(node.value)
        before = self.value(node.target)
        made = self.operate(node.op, before, value)
        self.assign(
            node.target, tuple(each for each in made if not isinstance(each, Sequence))
        )
        for of in before:
            if isinstance(of, Sequence):
                self.program.call_method(of, "extend", [value], {})

    def define(self, node: Definition) -> Values:
        """Make a function. The parameters of one that takes more than plain arguments may be anything."""
        function = self.functions[node]
        given = node.args
        for name, default in zip(
            reversed(given.args), reversed(given.defaults), strict=False
        ):
            self.program.bind(f"{name.arg} {function.number}", self.value(default))
        if not function.parameters:
            for each in ast.walk(given):
                if isinstance(each, ast.arg):
                    self.program.bind(f"{each.arg} {function.number}", ANY)
        return (function,)

    def comprehend(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Values:
        """Make a list without order; one from which elements are left out is followed if it is of found names."""
        found = self.value(node.elt)
        plain = len(node.generators) == 1 and not node.generators[0].ifs
        if plain or all(map(is_found, found)):
            return (Sequence(found, loose=True),)
        return (self.program.data(found),)


def is_more_than_look_up(node: ast.expr) -> bool:
    """Return whether this is not `os.environ`: `"X" in os.environ` shows nothing of it."""
    return ast.unparse(node) != "os.environ"
