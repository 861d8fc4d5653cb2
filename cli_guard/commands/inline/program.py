"""What a Python program does when it calls a function, reads a part of an object or loads a module."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from cli_guard.commands.effects.paths import EMPTIES
from cli_guard.commands.inline import python_calls as python
from cli_guard.commands.inline.effects import FunctionCall
from cli_guard.commands.inline.model import (
    Act,
    NotUnderstood,
    environment,
    unknown,
    variable,
)
from cli_guard.commands.inline.values import (
    ANY,
    AT_ONCE,
    LOCAL,
    Data,
    InlineFunction,
    Literal,
    Reference,
    Sequence,
    Value,
    Values,
    alternatives,
    as_text,
    is_found,
    merge,
    taint_of,
    text_of,
)
from cli_guard.commands.model import EffectKind
from cli_guard.rules import tables

MOST_ACTS = 200
DEPTH = 2
# These keep nothing of what they are given.
READING = frozenset("print len any all bool isinstance str repr".split())
# Methods of an open file that put nothing into it.
LEAVING = frozenset("close flush seek truncate read readline readlines".split())
# Methods of lists: these leave a list as it is, these leave found names found.
PURE, KEEPING = (
    frozenset(tables.words("python")["list_methods"][each]) for each in ("pure", "keeping")
)


class Program:
    """What is known of a program, and the acts found so far. `run_text` runs a text as code.

    Names have no scopes and keep every value that they are ever given, so the order of the statements does not matter.
    """

    def __init__(self, run_text: Callable[[str], Values]) -> None:
        self.run_text = run_text
        self.names: dict[str, Values] = {}
        # What is put into each list in place, by the list's number.
        self.added: dict[int, Values] = {}
        self.changed = False
        # Whether a name without a value never has one.
        self.final = False
        self.entered: set[InlineFunction] = set()
        # Modules that are not Python's own; that their code runs is known.
        self.foreign: set[str] = set()
        self.acts: dict[Act, None] = {}
        # Paths of files that are opened anew, and of those that something may be written into, None for any.
        self.emptied: set[str | None] = set()
        self.filled: set[str | None] = set()

    def list_acts(self) -> tuple[Act, ...]:
        """Return the acts so far; a file that is opened anew and gets nothing is emptied."""
        emptied = set() if None in self.filled else self.emptied - self.filled
        return tuple(
            replace(act, reason=EMPTIES)
            if act.kind is EffectKind.WRITE and act.target in emptied
            else act
            for act in self.acts
        )

    def note(self, act: Act) -> None:
        self.acts[
            act if len(self.acts) < MOST_ACTS else unknown("code that does too many things")
        ] = None

    def bind(self, name: str, values: Values) -> None:
        """Add values to those of a name."""
        known = self.names.get(name, ())
        self.names[name] = merge(known, values)
        if len(self.names[name]) > 2 * AT_ONCE:
            raise NotUnderstood("a name with too many values")
        self.changed = self.changed or self.names[name] != known

    def alter(self, of: Value, added: Values = ANY) -> None:
        """Record that a list is changed in place: it may hold these, too, and has no order any more."""
        if isinstance(of, Sequence) and not (of.loose and set(added) <= set(of.parts)):
            known = self.added.get(of.number)
            self.added[of.number] = merge(known or (), added)
            self.changed = self.changed or self.added[of.number] != known

    def settle(self, value: Value, number: int, depth: int = 0) -> Value:
        """Return a list with what is ever put into it; `number` is for one that has none yet."""
        if not isinstance(value, Sequence):
            return value
        if depth > DEPTH:
            return self.data([value])
        number = value.number or number
        parts = tuple(self.settle(part, number, depth + 1) for part in value.parts)
        added = self.added.get(number)
        if added is None:
            return Sequence(parts, value.loose, number)
        return Sequence(merge(parts, added), loose=True, number=number)

    def data(self, values: Iterable[Value], *, keeps: bool = False) -> Data:
        """Use values as plain data; a function among them may be called with anything.

        A list may be changed by what has it, unless that `keeps` lists as they are.
        """
        each = tuple(values)
        for value in each:
            if isinstance(value, Sequence):
                self.data(value.parts)
                if not keeps:
                    self.alter(value)
            elif isinstance(value, InlineFunction):
                self.enter(value, [ANY] * len(value.parameters), {})
            elif isinstance(value, Reference):
                self.hand_on(value)
            elif isinstance(value, Data) and value.local:
                self.filled.add(value.opened)
        return taint_of(each)

    def hand_on(self, value: Reference) -> None:
        if value.name in python.ENVIRONMENT:
            self.note(environment())
        elif not self.is_harmless(value.name):
            self.note(unknown(f"hands on {value.name}"))

    def is_harmless(self, name: str) -> bool:
        return python.is_harmless(name) or name.split(".")[0] in self.foreign

    def part(self, of: Value, key: str | None, *, by_key: bool) -> Values:
        """Return the possible values of a part of a value: an attribute, or what stands under a key."""
        if not by_key and not isinstance(of, Reference) and key in python.METHODS:
            self.note(unknown(f"hands on {key}"))
        if isinstance(of, Sequence):
            # What has its method may change it.
            self.data([] if by_key else [of])
            if of.loose and of.parts:
                return of.parts
            return (*of.parts, taint_of([of]))
        whole = (
            python.part_of(of, key)
            if isinstance(of, Reference) and isinstance(key, str)
            else None
        )
        known = whole is not None and whole.name in python.CALLS
        if isinstance(key, str) and python.is_internal(key) and not known:
            self.note(unknown(f"reaches for {key[:40]}"))
        if not isinstance(of, Reference):
            return (of,) if key == "name" and is_found(of) else (taint_of([of]),)
        if by_key and of.name in python.ENVIRONMENT:
            return self.read_variable(key if isinstance(key, str) else None)
        return (whole or self.data([of]),)

    def read_variable(self, name: str | None) -> Values:
        for act in variable(name):
            self.note(act)
        return (Literal("~"),) if name == "HOME" else LOCAL

    def set_variable(self, name: str | None, values: Values) -> None:
        """Record that an environment variable is set."""
        for value in values or ANY:
            act = (
                Act(EffectKind.EXEC, as_text(value), variable=name)
                if name
                else unknown("changes the environment")
            )
            self.note(act)

    def elements(self, values: Iterable[Value]) -> Values:
        found: list[Value] = []
        for value in values:
            found.extend(
                value.parts if isinstance(value, Sequence) else (self.data([value]),)
            )
        return alternatives(found) or (ANY if self.final else ())

    def enter(
        self, function: InlineFunction, arguments: list[Values], named: Mapping[str, Values]
    ) -> None:
        """Give the parameters of a function these values; its body is walked where it is defined."""
        self.entered.add(function)
        if "*" in named:
            self.data([function])
        for name, values in (
            *zip(function.parameters, arguments, strict=False),
            *named.items(),
        ):
            self.bind(f"{name} {function.number}", values)
        self.data(
            value
            for values in (*arguments[len(function.parameters) :], *named.values())
            for value in values
        )

    def invoke(
        self, function: Value, arguments: list[Values], named: Mapping[str, Values]
    ) -> Values:
        """Call a function; return its possible values."""
        if not self.final and () in (*arguments, *named.values()):
            return ()
        given = [value for values in (*arguments, *named.values()) for value in values]
        if isinstance(function, InlineFunction):
            self.enter(function, arguments, named)
            return self.names.get("return", ANY)
        if not isinstance(function, Reference):
            remote = isinstance(function, Data) and function.remote
            what = "calls something that the text does not tell"
            self.note(
                Act(EffectKind.EXEC, None, what, remote=True) if remote else unknown(what)
            )
            return (self.data(given),)
        handler = python.CALLS.get(function.name)
        if handler:
            result = handler(FunctionCall(self, function, arguments, named))
            if function.name not in python.CALLING:
                self.data(given, keeps=True)
            return result
        if function.name.rpartition(".")[0] in python.ENVIRONMENT:
            self.note(environment())
        elif not self.is_harmless(function.name):
            self.note(unknown(f"calls {function.name[:60]}"))
        return (self.data(given, keeps=function.name in READING),)

    def call_method(
        self, of: Value, key: str, arguments: list[Values], named: Mapping[str, Values]
    ) -> Values:
        """Call a method of a value that is not a module."""
        given = [value for values in (*arguments, *named.values()) for value in values]
        if python.is_internal(key):
            self.note(unknown(f"calls {key[:40]} of something"))
            return (self.data([of, *given]),)
        if isinstance(of, InlineFunction):
            self.data([of])
        elif isinstance(of, Data) and of.local:
            if key not in LEAVING and any(as_text(value) != "" for value in given):
                self.filled.add(of.opened)
        elif isinstance(of, Sequence) and key in KEEPING and of.loose:
            self.data(given)
            return of.parts if key == "pop" else (of,)
        elif isinstance(of, Sequence) and key not in PURE:
            self.alter(of, added_by(key, given))
        made = compute_method(of, key, given)
        if made is not None:
            return (made,)
        handler = python.METHODS.get(key)
        if handler:
            handler(FunctionCall(self, Reference(key), arguments, named))
        if key in ("format", "format_map") and any(
            "__" in (as_text(value) or "") for value in (of, *given)
        ):
            self.note(unknown("formats names of the interpreter"))
        elements = of.parts if isinstance(of, Sequence) else ()
        return (*elements, taint_of([of, self.data(given, keeps=isinstance(of, Literal))]))

    def load_module(self, name: str) -> Reference:
        """Load a module; one that is not Python's own runs its own code."""
        full = python.own_name(name)
        top = full.split(".")[0]
        if full not in python.NAMES and top not in python.NAMES:
            self.foreign.add(top)
            self.note(
                Act(EffectKind.EXEC, full[:200], f"imports {full[:60]}, whose code runs")
            )
        return Reference(full)

    def run_code(self, values: Iterable[Value]) -> Values:
        """Run texts as Python code. Raises NotUnderstood."""
        results: list[Value] = []
        for value in values:
            text = as_text(value)
            if text is None:
                reason = "runs code that the text does not tell"
                self.note(
                    Act(EffectKind.EXEC, None, reason, remote=taint_of([value]).remote)
                )
                continue
            results.extend(self.run_text(text))
        return tuple(results) or ANY


def added_by(key: str, given: list[Value]) -> Values:
    """Return what a method adds to a list; any value if it may do anything else to it."""
    if key == "append":
        return tuple(given)
    last = given[-1] if given else None
    return last.parts if key == "extend" and isinstance(last, Sequence) else ANY


def compute_method(of: Value, key: str, given: list[Value]) -> Value | None:
    """Return the result of a method of a text, None if it is not known."""
    text = as_text(of)
    parts = given[0] if given else None
    if key in ("decode", "encode") and isinstance(of, Literal):
        return of
    if key != "join" or text is None or not isinstance(parts, Sequence) or parts.loose:
        return None
    return text_of([piece for part in parts.parts for piece in (part, Literal(text))][:-1])
