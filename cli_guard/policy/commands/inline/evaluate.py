"""Go through the tree of a program and collect what it does, whatever way it takes.

Names keep every value they are ever given, so the order of the statements and the way through them do not matter;
the program is gone through again until nothing new is found. What harms must be called by its own name: whatever
hands a function that is not harmless to something else is reported as not understood.
"""

from collections.abc import Iterable, Mapping

from cli_guard.policy.commands.inline import code
from cli_guard.policy.commands.inline.code import Node
from cli_guard.policy.commands.inline.language import Calling, Language, NotUnderstood
from cli_guard.policy.commands.inline.model import Act, unknown
from cli_guard.policy.commands.inline.names import environment, variable
from cli_guard.policy.commands.inline.values import (
    ANY,
    MANY,
    METHODS,
    Data,
    Defined,
    Literal,
    Reference,
    Sequence,
    Value,
    Values,
    alternatives,
    as_text,
    joined,
    taint,
    text_of,
    worked_out,
)
from cli_guard.policy.commands.model import Kind

PASSES, STEPS, DEPTH, MOST_ACTS, UNROLLED = 24, 60_000, 4, 200, 16
SECRET_FREE_HOME = "HOME"
# Methods that leave the list or text they belong to as it is.
PURE = frozenset(
    """join map filter slice each index count copy forEach includes indexOf reduce find some every collect select
    reject each_with_index to_a size length first last format encode decode split strip upper lower replace
    startswith endswith trim toString to_s include start_with end_with reverse sorted""".split()
)
CHANGING = frozenset("concat insert prepend clear setbyte push append".split())


def acts(language: Language, text: str) -> tuple[Act, ...]:
    """What a program does."""
    run = Run(language)
    try:
        run.whole(language.read(text))
    except NotUnderstood as error:
        run.note(unknown(str(error)))
    except (RecursionError, MemoryError):
        run.note(unknown("code that is nested too deeply"))
    return tuple(run.acts)


class Run:
    """One program, the values its names have, and the acts found so far."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.names: dict[str, Values] = {}
        self.wide: set[str] = set()
        self.here: dict[str, Values] = {}
        self.scopes: list[tuple[int, tuple[str, ...]]] = []
        self.functions: dict[int, tuple[int, code.Function]] = {}
        self.texts: dict[str, Node] = {}
        self.stars: set[str] = set()
        self.foreign: set[str] = set()
        self.acts: dict[Act, None] = {}
        self.changed = self.final = self.mutates = False
        self.steps = self.depth = 0
        self.ways = {
            code.Const: lambda node: (Literal(node.value),),
            code.Name: self.name,
            code.Member: self.member,
            code.Call: self.call,
            code.Spread: lambda node: self.value(node.of),
            code.Infix: self.infix,
            code.Text: lambda node: (text_of(self.single(part) for part in node.parts),),
            code.Items: lambda node: (self.items(node),),
            code.Mix: lambda node: (self.data(value for part in node.parts for value in self.value(part)),),
            code.Either: self.either,
            code.Assign: lambda node: self.assign(node.target, self.value(node.value)),
            code.Function: self.function,
            code.Return: self.returned,
            code.Each: self.each,
            code.Import: self.imported,
            code.Odd: lambda node: self.note(unknown(node.what)) or ANY,
        }

    def whole(self, tree: Node) -> None:
        """Go through the program until nothing new is found, then once more for the acts."""
        for _ in range(PASSES):
            self.changed = False
            self.value(tree)
            self.acts.clear()
            if not self.changed:
                break
        else:
            raise NotUnderstood("code whose values go in circles")
        self.final = True
        self.value(tree)

    def note(self, act: Act) -> None:
        """Keep an act."""
        if len(self.acts) < MOST_ACTS:
            self.acts[act] = None

    def value(self, node: Node) -> Values:
        """What a piece of the program may be; what it does is noted."""
        self.steps += 1
        if self.steps > STEPS:
            raise NotUnderstood("code that is too long")
        return self.ways[type(node)](node)

    def single(self, node: Node) -> Value:
        """The one value of a piece, or data where there are several."""
        values = self.value(node)
        return values[0] if len(values) == 1 else self.data(values)

    def data(self, values: Iterable[Value], given: Values = ANY) -> Data:
        """Use values as plain data; a function among them may be called with what is `given`."""
        each = tuple(values)
        for value in each:
            if isinstance(value, Sequence):
                self.data(value.parts, given)
            elif isinstance(value, Defined):
                self.enter(value, [given] * len(self.function_of(value).parameters))
            elif isinstance(value, Reference):
                self.hand_on(value, given)
        return taint(each)

    def hand_on(self, value: Reference, given: Values) -> None:
        """A name used as a value."""
        if value.name in self.language.environment:
            self.note(environment())
        elif not self.language.harmless(value.name) and value.name.split(".")[0] not in self.foreign:
            self.note(unknown(f"hands on {value.name}"))
            if value.name in self.language.calls and self.depth < DEPTH:
                self.depth += 1
                self.invoke(value, [given], {})
                self.depth -= 1

    def key(self, name: str) -> str:
        """The name in the function it belongs to."""
        return next((f"{name} {number}" for number, own in reversed(self.scopes) if name in own), name)

    def bind(self, name: str, values: Values) -> None:
        """Give a name more values."""
        known = self.names.get(name, ())
        found = tuple(v if not isinstance(v, Literal) else Data() for v in values) if name in self.wide else values
        merged = alternatives((*known, *found))
        if len({*known, *found}) > len(merged):
            self.wide.add(name)
        if set(merged) != set(known):
            self.names[name] = merged
            self.changed = True

    def name(self, node: code.Name) -> Values:
        """What a name stands for."""
        if node.name in self.here:
            return self.here[node.name]
        found = self.names.get(self.key(node.name), ())
        if self.language.variable(node.name):
            return found or ANY
        own = self.language.reference(node.name)
        stars = [f"{module}.{node.name}" for module in sorted(self.stars)]
        starred = tuple(Reference(name) for name in stars if self.known(name))
        if self.known(own) or (self.final and not found and not starred):
            return (*found, Reference(own))
        return (*found, *starred)

    def known(self, name: str) -> bool:
        """Is there such a name in the language itself?"""
        return name in self.language.calls or name in self.language.modules or self.language.harmless(name)

    def member(self, node: code.Member) -> Values:
        """A part of something."""
        keys = self.keys(node)
        return alternatives(
            part for of in self.value(node.of) for key in keys for part in self.part(of, key, node.key is not None)
        )

    def keys(self, node: code.Member) -> "tuple[str | int | None, ...]":
        """The names that a part may have, None for one that the text does not tell."""
        if node.name is not None or node.key is None:
            return (node.name,)
        values = self.value(node.key)
        return tuple(v.value if isinstance(v, Literal) and type(v.value) is int else as_text(v) for v in values)

    def part(self, of: Value, key: "str | int | None", by_key: bool) -> Values:
        """One part of one value."""
        if isinstance(of, Sequence):
            inside = isinstance(key, int) and -len(of.parts) <= key < len(of.parts)
            return (of.parts[int(key)],) if inside and key is not None else (*of.parts, taint([of]))
        if isinstance(key, str) and self.language.odd_member(key):
            self.note(unknown(f"reaches for {key[:40]}"))
        if not isinstance(of, Reference):
            return (taint([of]),)
        if of.name in self.language.environment and (by_key or self.language.environment_members):
            return self.variable(key)
        if not isinstance(key, str):
            self.data([of])
            return ANY
        return (self.language.part_of(of, key),)

    def variable(self, key: "str | int | None") -> Values:
        """A variable of the environment."""
        for act in variable(key if isinstance(key, str) else None):
            self.note(act)
        return (Literal("~"),) if key == SECRET_FREE_HOME else (Data(local=True),)

    def call(self, node: code.Call) -> Values:
        """A call, of a method or of a function."""
        arguments: list[Values] = []
        for argument in node.arguments:
            values = self.value(argument)
            only = values[0] if len(values) == 1 else None
            if isinstance(argument, code.Spread) and isinstance(only, Sequence):
                arguments.extend((part,) for part in only.parts)
            else:
                arguments.append(values)
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
                if isinstance(of, Reference):
                    for function in self.part(of, key, node.function.key is not None):
                        found.extend(self.invoke(function, arguments, named))
                else:
                    found.extend(self.method(of, key, arguments, named))
        return alternatives(found)

    def invoke(self, function: Value, arguments: list[Values], named: Mapping[str, Values]) -> Values:
        """Call one function."""
        if isinstance(function, Defined):
            self.enter(function, arguments, named)
            return self.names.get(f"return {function.number}", ANY)
        given = [value for values in (*arguments, *named.values()) for value in values]
        if isinstance(function, Literal) and self.language.calls_by_text and isinstance(function.value, str):
            function = Reference(function.value.strip("\\").lower())
        if not isinstance(function, Reference):
            remote = isinstance(function, Data) and function.remote
            what = "calls something that the text does not tell"
            self.note(Act(Kind.EXEC, None, what, remote=True) if remote else unknown(what))
            return (self.data(given),)
        handler = self.language.calls.get(function.name)
        if handler:
            result = handler(Calling(self, function, arguments, named))
            if function.name not in self.language.takes_functions:
                self.data(given, result)
            return result
        if not self.language.harmless(function.name) and function.name.split(".")[0] not in self.foreign:
            self.note(unknown(f"calls {function.name[:60]}"))
        if "." in function.name and any(isinstance(value, Sequence) for value in given):
            self.mutates = True
        return (self.data(given, (taint(given),)),)

    def method(
        self, of: Value, key: "str | int | None", arguments: list[Values], named: Mapping[str, Values]
    ) -> Values:
        """Call a method of a value that is no module."""
        given = [value for values in (*arguments, *named.values()) for value in values]
        if not isinstance(key, str) or self.language.odd_member(key):
            self.note(unknown(f"calls {str(key)[:40]} of something" if key else "calls a method made while it runs"))
            return (self.data([of, *given]),)
        if (isinstance(of, Sequence) and key not in PURE) or key in CHANGING or key.endswith("!"):
            self.mutates = True
        if key == "join":
            made = self.join(of, given)
        else:
            made = worked_out(METHODS[key], [of, *given]) if key in METHODS else None
        if made is not None:
            return (made,)
        handler = self.language.methods.get(key)
        if handler:
            handler(Calling(self, Reference(key), arguments, named))
        elements = of.parts if isinstance(of, Sequence) else ()
        if any("__" in (as_text(value) or "") for value in (of,)) and key in ("format", "format_map"):
            self.note(unknown("formats names of the interpreter"))
        passed = self.data(given, (*elements, taint([of])))
        whole = taint([of, passed])
        return (*elements, whole)

    def join(self, of: Value, given: list[Value]) -> Value | None:
        """The elements of a list with a text between them."""
        between, parts = (given[0], of) if isinstance(of, Sequence) and given else (of, given[0] if given else of)
        if isinstance(of, Sequence) and not given:
            between = Literal(self.language.between)
        text = as_text(between)
        if text is None or not isinstance(parts, Sequence):
            return None
        pieces = [piece for part in parts.parts for piece in (part, Literal(text))]
        return text_of(pieces[:-1])

    def infix(self, node: code.Infix) -> Values:
        """Two values made one."""
        left, right = self.value(node.left), self.value(node.right)
        if node.operator == "<<":
            self.mutates = True
        paths = [of for of in left if isinstance(of, Reference) and node.operator == "/" and of.name in self.language.paths]
        if paths:
            return tuple(self.language.longer_path(path, other) for path in paths for other in right[:4])
        self.data(value for value in (*left, *right) if not isinstance(value, Sequence))
        return alternatives(joined(node.operator, a, b) for a in left for b in right)

    def items(self, node: code.Items) -> Value:
        """A list."""
        parts: list[Value] = []
        for part in node.parts:
            values = self.value(part)
            only = values[0] if len(values) == 1 else taint(values)
            if len(values) > 1:
                self.data(values)
            spread = isinstance(part, code.Spread)
            parts.extend(only.parts if spread and isinstance(only, Sequence) else (only,))
            if spread and not isinstance(only, Sequence):
                return self.data([*parts, *(v for p in node.parts for v in self.value(p))])
        return Sequence(tuple(parts)) if len(parts) <= MANY else self.data(parts)

    def either(self, node: code.Either) -> Values:
        """One of several values, or that of the last of several steps."""
        every = [self.value(part) for part in node.parts]
        if node.last:
            return every[-1] if every else ANY
        return alternatives(value for values in every for value in values)

    def assign(self, target: Node, values: Values) -> Values:
        """Give a name, several names or a part of something a value."""
        if isinstance(target, code.Name):
            self.bind(self.key(target.name), values)
        elif isinstance(target, code.Spread):
            self.assign(target.of, (self.data(values),))
        elif isinstance(target, code.Items):
            for value in values:
                fits = isinstance(value, Sequence) and len(value.parts) == len(target.parts)
                for index, each in enumerate(target.parts):
                    own = (value.parts[index],) if fits and isinstance(value, Sequence) else self.elements([value])
                    self.assign(each, own)
        elif isinstance(target, code.Member):
            self.change(target, values)
        else:
            self.value(target)
        return values

    def change(self, target: code.Member, values: Values) -> None:
        """Give a part of something a value."""
        self.data(values)
        if target.key:
            self.data(self.value(target.key))
        for of in self.value(target.of):
            if isinstance(of, Reference) and of.name in self.language.environment:
                self.note(unknown("changes the environment"))
            elif isinstance(of, Reference) and not self.language.may_change(of.name):
                self.note(unknown(f"changes {of.name}"))
            elif isinstance(of, Sequence | Literal):
                self.mutates = True

    def elements(self, values: Iterable[Value]) -> Values:
        """What a value may hold."""
        found: list[Value] = []
        for value in values:
            found.extend(value.parts if isinstance(value, Sequence) else (self.data([value]),))
        return alternatives(found) or ANY

    def function_of(self, value: Defined) -> code.Function:
        """The function of a number."""
        return next(function for number, function in self.functions.values() if number == value.number)

    def function(self, node: code.Function) -> Values:
        """A function is made; its body is gone through at once, as somebody may call it."""
        number, _ = self.functions.setdefault(id(node), (len(self.functions), node))
        for parameter in node.parameters:
            self.bind(f"{parameter} {number}", ANY)
        self.scopes.append((number, node.parameters))
        self.value(node.body)
        self.scopes.pop()
        return (Defined(number),)

    def returned(self, node: code.Return) -> Values:
        """A function gives something back."""
        values = self.value(node.value)
        if self.scopes:
            self.bind(f"return {self.scopes[-1][0]}", values)
        return values

    def enter(self, function: Defined, arguments: list[Values], named: Mapping[str, Values] | None = None) -> None:
        """Give the parameters of a function values."""
        parameters = self.function_of(function).parameters
        for index, values in enumerate(arguments):
            if parameters:
                self.bind(f"{parameters[min(index, len(parameters) - 1)]} {function.number}", values)
        for name, values in (named or {}).items():
            if name in parameters:
                self.bind(f"{name} {function.number}", values)
            else:
                self.data(values)

    def each(self, node: code.Each) -> Values:
        """A body for every element."""
        over = self.value(node.over)
        only = over[0] if len(over) == 1 else None
        target = node.target
        most = MANY if node.gathers else UNROLLED
        if isinstance(target, code.Name) and isinstance(only, Sequence) and len(only.parts) <= most:
            results, outer = [], dict(self.here)
            for part in only.parts:
                self.bind(self.key(target.name), (part,))
                self.here[target.name] = (part,)
                results.append(self.value(node.body))
            self.here = outer
            if node.gathers and all(len(values) == 1 for values in results):
                return (Sequence(tuple(values[0] for values in results)),)
            return (self.data(value for values in results for value in values),) if node.gathers else ANY
        self.assign(target, self.elements(over))
        values = self.value(node.body)
        return (self.data(values),) if node.gathers else values

    def imported(self, node: code.Import) -> Values:
        """A module, or a part of one, gets a name here."""
        module = self.language.module(node.module)
        root = module.split(".")[0]
        if module not in self.language.modules and root not in self.language.modules:
            self.foreign.add(root)
            self.note(Act(Kind.EXEC, module[:200], f"imports {module[:60]}, whose code runs"))
        if node.part == "*":
            self.stars.add(module)
            return ANY
        value: Value = Reference(module)
        if node.part:
            value = self.language.part_of(Reference(module), node.part)
        if node.name:
            self.bind(self.key(node.name), (value,))
        return (value,)

    def code(self, values: Iterable[Value], reason: str) -> Values:
        """Run text as code of the same language."""
        results: list[Value] = []
        for value in values:
            text = as_text(value)
            if text is None:
                self.note(Act(Kind.EXEC, None, reason, remote=taint([value]).remote))
                results.append(Data())
            elif self.depth >= DEPTH or len(self.texts) > 20:
                raise NotUnderstood("code in code in code")
            else:
                if text not in self.texts:
                    self.texts[text] = self.language.read(text)
                self.depth += 1
                results.extend(self.value(self.texts[text]))
                self.depth -= 1
        return tuple(results)
