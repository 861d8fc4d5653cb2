"""Walk the tree of a program and collect what it does on any path through it.

Names keep every value they are ever given, so the order of the statements and the path do not matter; the walk is
repeated until it finds nothing new. A harmful function must be called by its own name: passing a function not known to
be harmless to other code is reported as not understood.
"""

from collections.abc import Callable

from cli_guard.commands.inline import code
from cli_guard.commands.inline.code import Node
from cli_guard.commands.inline.model import Act, NotUnderstood, unknown
from cli_guard.commands.inline.paths import is_firm, is_open, path_of, raw_text, taint_of
from cli_guard.commands.inline.state import Language, State
from cli_guard.commands.inline.texts import MANY, alternatives, as_text, combine, join_values, text_of
from cli_guard.commands.inline.values import ANY, Function, Literal, Reference, Sequence, Value, Values

PASSES, STEPS, UNROLLED = 24, 60_000, 16


def acts(language: Language, text: str) -> tuple[Act, ...]:
    run = Run(language)
    try:
        run.run_passes(language.read(text))
    except NotUnderstood as error:
        run.note(unknown(str(error)))
    except (RecursionError, MemoryError):
        run.note(unknown("code that is nested too deeply"))
    return tuple(run.acts)


class Run(State):
    """A walk through a program."""

    def __init__(self, language: Language) -> None:
        super().__init__(language)
        self.ways: dict[type, Callable[..., Values]] = {
            code.Const: lambda node: (Literal(node.value),),
            code.Name: self.name,
            code.Member: self.member,
            code.Call: self.call,
            code.Spread: lambda node: self.value(node.of),
            code.Infix: self.infix,
            code.Text: lambda node: combine(text_of, map(self.value, node.parts)),
            code.Items: lambda node: (self.items(node),),
            code.Mix: lambda node: (self.data(value for part in node.parts for value in self.value(part)),),
            code.Either: self.either,
            code.Assign: lambda node: self.assign(node.target, self.value(node.value)),
            code.Function: self.function,
            code.Return: self.return_value,
            code.Each: self.each,
            code.Import: self.import_module,
            code.UnknownNode: self.odd,
        }

    def run_passes(self, tree: Node) -> None:
        """Walk until nothing new is found, then once more for the acts."""
        for _ in range(PASSES):
            self.changed = False
            self.value(tree)
            self.acts.clear()
            if not self.changed and not self.enter_uncalled():
                break
        else:
            raise NotUnderstood("code whose values go in circles")
        self.final = True
        self.value(tree)

    def enter_uncalled(self) -> bool:
        """Call the functions that the code itself never calls, with anything; return whether there are any."""
        found = [Function(n) for n, _ in self.functions.values() if n not in self.entered]
        self.data(found)
        return bool(found)

    def value(self, node: Node) -> Values:
        """Return the possible values of a node, and record what it does."""
        self.steps += 1
        if self.steps > STEPS:
            raise NotUnderstood("code that is too long")
        found = self.ways[type(node)](node)
        return tuple(map(self.settle, found)) if self.altered else found

    def name(self, node: code.Name) -> Values:
        if node.name in self.here:
            return self.here[node.name]
        found = self.names.get(self.key(node.name), ())
        own = self.language.same(node.name)
        stars = [f"{module}.{node.name}" for module in sorted(self.stars)]
        starred = tuple(Reference(name) for name in stars if self.is_known(name))
        if self.is_known(own) or (self.final and not found and not starred):
            return (*found, Reference(own, self.language.known.get(own)))
        return (*found, *starred)

    def member(self, node: code.Member) -> Values:
        keys = self.keys(node)
        return alternatives(
            part
            for of in self.value(node.of)
            for key in keys
            for part in self.part(of, key, node.key is not None)
        )

    def keys(self, node: code.Member) -> "tuple[str | int | None, ...]":
        """Return the possible names of a part, None for an unknown one."""
        if node.name is not None or node.key is None:
            return (node.name,)
        values = self.value(node.key)
        return tuple(
            v.value if isinstance(v, Literal) and type(v.value) is int else as_text(v) for v in values
        )

    def call(self, node: code.Call) -> Values:
        arguments: list[Values] = []
        for argument in node.arguments:
            values = self.value(argument)
            only = values[0] if len(values) == 1 else None
            if isinstance(argument, code.Spread) and isinstance(only, Sequence):
                arguments.extend((part,) for part in only.parts)
            else:
                arguments.extend([values] * (9 if isinstance(argument, code.Spread) else 1))
        named = {name: self.value(value) for name, value in node.named}
        if not isinstance(node.function, code.Member):
            return alternatives(
                result
                for function in self.value(node.function)
                for result in self.invoke(function, arguments, named)
            )
        keys = self.keys(node.function)
        found: list[Value] = []
        for of in self.value(node.function.of):
            for key in keys:
                if isinstance(of, Reference) or (isinstance(of, Sequence) and isinstance(key, int)):
                    for function in self.part(of, key, node.function.key is not None):
                        found.extend(self.invoke(function, arguments, named))
                else:
                    found.extend(self.method(of, key, arguments, named))
        return alternatives(found)

    def infix(self, node: code.Infix) -> Values:
        left, right = self.value(node.left), self.value(node.right)
        paths = [
            of
            for of in left
            if isinstance(of, Reference) and node.operator == "/" and of.name in self.language.paths
        ]
        if paths:
            return tuple(Reference(of.name, raw_text(path_of((of, v)))) for of in paths for v in right[:4])
        self.data((*left, *right))
        return alternatives(join_values(node.operator, a, b) for a in left for b in right)

    def items(self, node: code.Items) -> Value:
        parts: list[Value] = []
        for part in node.parts:
            values = self.value(part)
            only = values[0] if len(values) == 1 else taint_of(values)
            if len(values) > 1:
                self.data(values)
            spread = isinstance(part, code.Spread)
            parts.extend(only.parts if spread and isinstance(only, Sequence) else (only,))
            if spread and not isinstance(only, Sequence):
                return self.data([*parts, *(v for p in node.parts for v in self.value(p))])
        return Sequence(tuple(parts)) if len(parts) <= MANY else self.data(parts)

    def either(self, node: code.Either) -> Values:
        every = [self.value(part) for part in node.parts]
        if node.last:
            return every[-1] if every else ANY
        return alternatives(value for values in every for value in values)

    def assign(self, target: Node, values: Values) -> Values:
        """Assign to a name, to several names or to a part."""
        if isinstance(target, code.Name):
            self.bind(self.key(target.name), values)
        elif isinstance(target, code.Spread):
            self.assign(target.of, (self.data(values),))
        elif isinstance(target, code.Items):
            for value in values:
                fits = (
                    isinstance(value, Sequence) and len(value.parts) == len(target.parts) and is_firm(value)
                )
                for index, each in enumerate(target.parts):
                    own = (
                        (value.parts[index],)
                        if fits and isinstance(value, Sequence)
                        else self.elements([value])
                    )
                    self.assign(each, own)
        elif isinstance(target, code.Member):
            self.change(target, values)
        else:
            self.value(target)
        return values

    def change(self, target: code.Member, values: Values) -> None:
        self.data(values)
        if target.key:
            self.data(self.value(target.key))
        for of in self.value(target.of):
            if isinstance(of, Reference) and of.name in self.language.environment:
                for key in self.keys(target):
                    self.set_variable(key if isinstance(key, str) else None, values)
            elif isinstance(of, Reference) and of.name not in self.language.changeable:
                self.note(unknown(f"changes {of.name}"))
            else:
                part = [value for value in values if isinstance(value, Sequence) and is_open(value)]
                self.alter(
                    of, (x for value in part for x in value.parts) if len(part) == len(values) else None
                )

    def function(self, node: code.Function) -> Values:
        number, _ = self.functions.setdefault(id(node), (len(self.functions), node))
        self.scopes.append((number, node.parameters))
        self.value(node.body)
        self.scopes.pop()
        return (Function(number),)

    def odd(self, node: code.UnknownNode) -> Values:
        self.note(unknown(node.what))
        return ANY

    def return_value(self, node: code.Return) -> Values:
        values = self.value(node.value)
        if self.scopes:
            self.bind(f"return {self.scopes[-1][0]}", values)
        return values

    def each(self, node: code.Each) -> Values:
        over = self.value(node.over)
        only = over[0] if len(over) == 1 else None
        target, exact = node.target, node.gathers and not node.some
        most = MANY if node.gathers else UNROLLED
        if isinstance(target, code.Name) and isinstance(only, Sequence) and len(only.parts) <= most:
            results, outer = [], dict(self.here)
            for part in only.parts:
                self.bind(self.key(target.name), (part,))
                self.here[target.name] = (part,)
                results.append(self.value(node.body))
            self.here = outer
            if exact and all(len(values) == 1 for values in results):
                return (Sequence(tuple(values[0] for values in results)),)
        else:
            self.assign(target, self.elements(over))
            results = [self.value(node.body)]
        found = [value for values in results for value in values]
        if node.gathers and found and is_open(Sequence(tuple(found))):
            parts = (p for v in found for p in (v.parts if isinstance(v, Sequence) else (v,)))
            return (Sequence(tuple(dict.fromkeys(parts))),)
        return (self.data(found),) if node.gathers else ANY

    def import_module(self, node: code.Import) -> Values:
        """Bind a name to a module, or to a part of one."""
        (module,) = self.module(node.module)
        if node.part == "*":
            self.stars.add(module.name)
            return ANY
        value = self.language.part_of(module, node.part) if node.part else module
        if node.name:
            self.bind(self.key(node.name), (value,))
        return (value,)
