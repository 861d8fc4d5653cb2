"""The state of a walk through a program: its language, the values of its names, the acts found so far."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from cli_guard.commands.inline import code
from cli_guard.commands.inline.code import Node
from cli_guard.commands.inline.model import Act, NotUnderstood, environment, unknown, variable
from cli_guard.commands.inline.paths import (
    PATH_PARTS,
    as_path,
    is_found,
    is_open,
    taint_of,
)
from cli_guard.commands.inline.texts import ALTERNATIVES, METHODS, alternatives, as_text, compute, text_of
from cli_guard.commands.inline.values import ANY, Data, Function, Literal, Reference, Sequence, Value, Values
from cli_guard.commands.model import Kind
from cli_guard.rules import tables

DEPTH, MOST_ACTS = 4, 200
HOME = "HOME"
# Methods of lists, by what they do to them.
PURE, CHANGING, KEEPING, TAKING, CALLING = (
    frozenset(tables.words("methods")[each]) for each in ("pure", "changing", "keeping", "taking", "calling")
)


@dataclass(frozen=True)
class FunctionCall:
    """A call of a function in the tables."""

    run: "State"
    function: Reference
    arguments: list[Values]
    named: Mapping[str, Values]

    def given(self, place: int, name: str = "") -> Values:
        """Return the possible values of an argument by position or name; none if it is left out."""
        if name in self.named:
            return self.named[name]
        if 0 <= place < len(self.arguments):
            return self.arguments[place]
        return ANY if "*" in self.named else ()

    def only(self, place: int, name: str = "") -> Value:
        """Return the value of an argument, plain data if it has none or several."""
        values = self.given(place, name)
        return values[0] if len(values) == 1 else taint_of(values)

    def texts(self, values: Values) -> list[str | None]:
        """Return the possible texts of values, None for an unknown one."""
        return [as_text(value) for value in values] or [None]

    def paths(self, values: Values) -> list[str | None]:
        """Return the possible paths that values name, None for an unknown one."""
        return [as_path(value) for value in values] or [None]

    def note(self, *acts: Act) -> None:
        for act in acts:
            self.run.note(act)

    def everything(self) -> list[Value]:
        return [value for values in (*self.arguments, *self.named.values()) for value in values]


Handler = Callable[[FunctionCall], Values]


@dataclass(frozen=True)
class Language:
    """A language: how its text is read and what its names mean."""

    read: Callable[[str], Node]
    calls: Mapping[str, Handler]
    harmless: Callable[[str], bool]
    modules: frozenset[str] = frozenset()
    methods: Mapping[str, Handler] = field(default_factory=dict)
    is_internal_name: Callable[[str], bool] = lambda name: False
    same: Callable[[str], str] = lambda name: name
    environment: frozenset[str] = frozenset()
    environment_members: bool = False
    takes_functions: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    between: str = ""
    changeable: frozenset[str] = frozenset()
    known: Mapping[str, str] = field(default_factory=dict)
    packages: str = ""
    built_in: frozenset[str] = frozenset()

    def part_of(self, of: Reference, name: str) -> Reference:
        full = self.same(f"{of.name}.{name}"[:300])
        about = self.known.get(full, of.about if full.startswith(of.name) else None)
        if about is not None and of.name in self.paths and name in PATH_PARTS:
            about = PATH_PARTS[name](about)
        return Reference(full, about)


class State:
    """A program, the values of its names, and the acts found so far."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.names: dict[str, Values] = {}
        self.wide: set[str] = set()
        self.here: dict[str, Values] = {}
        self.scopes: list[tuple[int, tuple[str, ...]]] = []
        self.entered: set[int] = set()
        self.functions: dict[int, tuple[int, code.Function]] = {}
        self.texts: dict[str, Node] = {}
        self.stars: set[str] = set()
        self.foreign: set[str] = set()
        self.acts: dict[Act, None] = {}
        self.changed = self.final = False
        # Lists that became plain data, and those changed in place, with what they are from then on.
        self.hidden: dict[Value, None] = {}
        self.altered: dict[Value, Value] = {}
        self.steps = self.depth = 0

    def note(self, act: Act) -> None:
        self.acts[act if len(self.acts) < MOST_ACTS else unknown("code that does too many things")] = None

    def data(self, values: Iterable[Value], given: Values = ANY) -> Data:
        """Use values as plain data; a function among them may be called with `given`."""
        each = tuple(values)
        for value in each:
            if isinstance(value, Sequence):
                self.changed = self.changed or value not in self.hidden
                self.hidden[value] = None
                self.data(value.parts, given)
            elif isinstance(value, Function):
                self.enter(value, [given] * len(self.function_of(value).parameters))
            elif isinstance(value, Reference):
                self.hand_on(value, given)
        return taint_of(each)

    def alter(self, of: Value, added: Iterable[Value] | None = None) -> None:
        """Record that a list is changed in place. One of found names stays one if only such are `added`."""
        for value in self.hidden if isinstance(of, Data) and not of.altered else (of,):
            made: Value = Data(altered=True)
            if added is not None and isinstance(value, Sequence) and is_open(value):
                made = Sequence(tuple(dict.fromkeys((*value.parts, *added))))
                made = made if is_open(made) and len(made.parts) <= ALTERNATIVES else Data(altered=True)
            if isinstance(value, Sequence | Literal) and self.settle(value) != self.settle(made):
                self.altered[self.settle(value)] = made
                self.changed = True

    def settle(self, value: Value) -> Value:
        """Return what a list is once all changes in place are made."""
        if isinstance(value, Sequence):
            value = Sequence(tuple(map(self.settle, value.parts)))
        return self.settle(self.altered[value]) if value in self.altered else value

    def hand_on(self, value: Reference, given: Values) -> None:
        if value.name in self.language.environment:
            self.note(environment())
        elif not self.language.harmless(value.name) and value.name.split(".")[0] not in self.foreign:
            self.note(unknown(f"hands on {value.name}"))
            if value.name in self.language.calls and self.depth < DEPTH:
                self.depth += 1
                self.invoke(value, [given], {})
                self.depth -= 1

    def key(self, name: str) -> str:
        return next((f"{name} {number}" for number, own in reversed(self.scopes) if name in own), name)

    def bind(self, name: str, values: Values) -> None:
        known = self.names.get(name, ())
        found = (
            tuple(v if not isinstance(v, Literal) else Data() for v in values)
            if name in self.wide
            else values
        )
        merged = alternatives((*known, *found))
        if len({*known, *found}) > len(merged):
            self.wide.add(name)
        if set(merged) != set(known):
            self.names[name] = merged
            self.changed = True

    def is_known(self, name: str) -> bool:
        """Return whether the language itself has such a name."""
        return name in self.language.calls or name in self.language.modules or self.language.harmless(name)

    def part(self, of: Value, key: "str | int | None", by_key: bool) -> Values:
        if isinstance(of, Sequence):
            if is_open(of) or any(map(is_found, of.parts)):
                return of.parts if is_open(of) and of.parts else (*of.parts, taint_of([of]))
            inside = isinstance(key, int) and -len(of.parts) <= key < len(of.parts)
            return (of.parts[int(key)],) if inside and key is not None else (*of.parts, taint_of([of]))
        whole = self.language.part_of(of, key) if isinstance(of, Reference) and isinstance(key, str) else None
        known = whole is not None and whole.name in self.language.calls
        if isinstance(key, str) and self.language.is_internal_name(key) and not known:
            self.note(unknown(f"reaches for {key[:40]}"))
        if not isinstance(of, Reference):
            return (of,) if key == "name" and is_found(of) else (taint_of([of]),)
        if of.name in self.language.environment and (by_key or self.language.environment_members):
            return self.variable(key)
        if whole is None:
            self.data([of])
            return ANY
        return (whole,)

    def variable(self, key: "str | int | None") -> Values:
        for act in variable(key if isinstance(key, str) else None):
            self.note(act)
        return (Literal("~"),) if key == HOME else (Data(local=True),)

    def set_variable(self, name: str | None, values: Values) -> None:
        """Record that an environment variable is set."""
        for value in values or ANY:
            made = (
                Act(Kind.EXEC, as_text(value), variable=name) if name else unknown("changes the environment")
            )
            self.note(made)

    def function_of(self, value: Function) -> code.Function:
        return next(function for number, function in self.functions.values() if number == value.number)

    def enter(
        self, function: Function, arguments: list[Values], named: Mapping[str, Values] | None = None
    ) -> None:
        parameters = self.function_of(function).parameters
        self.entered.add(function.number)
        arguments = [*arguments, *[ANY] * len(parameters)] if "*" in (named or {}) else arguments
        for name, values in zip(parameters, arguments, strict=False):
            self.bind(f"{name} {function.number}", values)
        self.data(value for values in arguments[len(parameters) :] for value in values)
        for name, values in (named or {}).items():
            if name in parameters:
                self.bind(f"{name} {function.number}", values)
            else:
                self.data(values)

    def elements(self, values: Iterable[Value]) -> Values:
        found: list[Value] = []
        for value in values:
            found.extend(value.parts if isinstance(value, Sequence) else (self.data([value]),))
        return alternatives(found) or ANY

    def invoke(self, function: Value, arguments: list[Values], named: Mapping[str, Values]) -> Values:
        if isinstance(function, Function):
            self.enter(function, arguments, named)
            return self.names.get(f"return {function.number}", ANY)
        given = [value for values in (*arguments, *named.values()) for value in values]
        if not isinstance(function, Reference):
            remote = isinstance(function, Data) and function.remote
            what = "calls something that the text does not tell"
            self.note(Act(Kind.EXEC, None, what, remote=True) if remote else unknown(what))
            return (self.data(given),)
        handler = self.language.calls.get(function.name)
        if handler:
            result = handler(FunctionCall(self, function, arguments, named))
            if function.name not in self.language.takes_functions:
                self.data(given, result)
            return result
        if function.name.rpartition(".")[0] in self.language.environment:
            self.note(environment())
        elif not self.language.harmless(function.name) and function.name.split(".")[0] not in self.foreign:
            self.note(unknown(f"calls {function.name[:60]}"))
        if "." in function.name:
            for value in given:
                if isinstance(value, Sequence):
                    self.alter(value)
        return (self.data(given, (taint_of(given),)),)

    def method(
        self, of: Value, key: "str | int | None", arguments: list[Values], named: Mapping[str, Values]
    ) -> Values:
        """Call a method of a value that is not a module."""
        given = [value for values in (*arguments, *named.values()) for value in values]
        if not isinstance(key, str) or self.language.is_internal_name(key):
            self.note(
                unknown(f"calls {str(key)[:40]} of something" if key else "calls a method made while it runs")
            )
            return (self.data([of, *given]),)
        if isinstance(of, Function):
            self.data([of])
        elif isinstance(of, Sequence) and (key in CALLING or (key in KEEPING | TAKING and is_open(of))):
            return self.walk_list(of, key, given)
        elif key in CHANGING or (isinstance(of, Sequence) and key not in PURE):
            added = given[-1:] if key in ("append", "push") else None
            self.alter(of, given[0].parts if key == "extend" and isinstance(given[0], Sequence) else added)
        if key == "join":
            made = self.join(of, given)
        else:
            made = compute(METHODS[key], [of, *given]) if key in METHODS else None
        if made is not None:
            return (made,)
        handler = self.language.methods.get(key)
        if handler:
            handler(FunctionCall(self, Reference(key), arguments, named))
        elements = of.parts if isinstance(of, Sequence) else ()
        if any("__" in (as_text(value) or "") for value in (of, *given)) and key in ("format", "format_map"):
            self.note(unknown("formats names of the interpreter"))
        passed = self.data(given, (*elements, taint_of([of])))
        whole = taint_of([of, passed])
        return (*elements, whole)

    def walk_list(self, of: Sequence, key: str, given: list[Value]) -> Values:
        """Call a method that goes through a list, calls a function for each element, or takes elements away."""
        results = []
        for value in given:
            if isinstance(value, Function) and key in CALLING:
                results += [self.invoke(value, [(part,), ANY, ANY], {}) for part in of.parts]
            else:
                self.data([value], (*of.parts, taint_of([of])))
        if key == "map" and results and all(len(values) == 1 for values in results):
            return (Sequence(tuple(values[0] for values in results)),)
        if is_open(of) and key in KEEPING | TAKING:
            return (of,) if key in KEEPING else of.parts
        return (*of.parts, taint_of([of]))

    def join(self, of: Value, given: list[Value]) -> Value | None:
        between, parts = (
            (given[0], of) if isinstance(of, Sequence) and given else (of, given[0] if given else of)
        )
        if isinstance(of, Sequence) and not given:
            between = Literal(self.language.between)
        text = as_text(between)
        if text is None or not isinstance(parts, Sequence):
            return None
        pieces = [piece for part in parts.parts for piece in (part, Literal(text))]
        return text_of(pieces[:-1])

    def module(self, name: str) -> tuple[Reference]:
        """Load a module; one that is not of the language itself runs its own code."""
        full = self.language.same(name)
        root = full.split(".")[0]
        if full not in self.language.modules and root not in self.language.modules:
            self.foreign.add(root)
            own = full.startswith((".", "/", "_")) or full.split("/")[0] in self.language.built_in
            target = full if own else f"{self.language.packages}{full}"
            self.note(Act(Kind.EXEC, target[:200], f"imports {full[:60]}, whose code runs"))
        return (Reference(full),)

    def code(self, values: Iterable[Value], reason: str) -> Values:
        results: list[Value] = []
        for value in values:
            text = as_text(value)
            if text is None:
                self.note(Act(Kind.EXEC, None, reason, remote=taint_of([value]).remote))
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

    def value(self, node: Node) -> Values:
        """Return the possible values of a node, and record what it does."""
        raise NotImplementedError
