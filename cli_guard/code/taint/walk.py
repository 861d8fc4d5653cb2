"""Walk one function in the order in which it runs, and keep for each variable where its value comes from."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from cli_guard.code.taint import control
from cli_guard.code.taint.calls import call_value
from cli_guard.code.taint.guards import narrowings
from cli_guard.code.taint.naming import dotted_name, path_of
from cli_guard.code.taint.program import Function, Node
from cli_guard.code.taint.tables import Entry, Tables
from cli_guard.code.taint.values import (
    CLEAN,
    SHOWN,
    TABLE,
    Origin,
    Reached,
    Scope,
    Summary,
    Taint,
    Value,
    safe_for,
    source_of,
    union,
)

NUMBERS = re.compile(
    r"(?:unsigned |signed )?(?:int|integer|long|short|float|double|bool|boolean|byte|[iuf](?:8|16|32|64|size)|u?int\d*"
    r"|Int\d*|Long|Integer|Double|Boolean|number|Guid|UUID)\??"
)
# `https://host/` or `/path`: what follows chooses neither another host nor another site.
FIXED_START = re.compile(
    r"[rbuf$@]*[\"'`]?(?:redirect:|forward:)?(?:(?:https?:)?//[^/\s\"'{$%]+[/?#]|/[^/\s\"'`\\]|(?!redirect:|forward:)[a-z]+:(?!/)[^/\"'])"
)
HAS_SLASH = re.compile(r"(?<![/:])/(?!/)|[?#]")
# What follows an empty line is the body of a message.
HEADERS_END = re.compile(r"(?:(?:\\r)?\\n){2}|\n\r?\n")
LINE_END = re.compile(r"[\"'`]?(?:(?:\\r)?\\n|\r?\n)[\"'`]?")
NUMBERS_OF = frozenset(("length", "Length", "byteLength", "Count"))
FIELD_OWNERS = ("self", "this")
ERRORS = ("err", "error", "e", "ok")
PLAIN = ("assign", "group", "constant")


class File(Protocol):
    """What a walk asks of the file around the function."""

    tables: Tables
    text: str
    imports: Mapping[str, str]
    globals: set[str]
    implicit_self: bool

    def summary(
        self, names: tuple[str, ...], owner: str
    ) -> tuple[Function, Summary] | None:
        """Return the function of the file that a call by one of these dotted names runs, and what it does."""

    def walk_function(
        self, function: Function, scope: Scope, given: Value, called: str
    ) -> Summary:
        """Walk a function where it is defined, with the variables around it."""

    def store(self, name: str, value: Value) -> None:
        """Keep what is stored in `Class.field`."""

    def spend(self, steps: int = 1) -> None:
        """Count steps. Raises TooBigError when too many were made."""


class Walk:
    """The walk through one function; `summary` is its result."""

    def __init__(self, file: File, function: Function, scope: Scope) -> None:
        self.file = file
        self.function = function
        self.scope = scope
        self.summary = Summary()
        self.returned: list[Value] = []
        self.breaks: list[list[Scope]] = []
        self._bound = frozenset(scope.values)
        receiver = (
            function.parameters[0].names if function.heading.startswith("func (") else ()
        )
        self._self = frozenset((*FIELD_OWNERS, *receiver[:1]))

    def run(self) -> Summary:
        body = self.function.body
        value = self.value(body)
        if body.op == "block" and not self.scope.dead and self.function.name != "":
            self.returned.append(value)
        self.summary.returns = union(self.returned)
        if body.op == "return" and body.parts:
            self.summary.test = body.parts[0]
        elif (
            body.op == "block"
            and body.parts
            and all(part.op in PLAIN for part in body.parts[:-1])
        ):
            last = body.parts[-1]
            self.summary.test = (
                last.parts[0] if last.op == "return" and last.parts else last
            )
            self.summary.made_of = control.made_of_parameters(self)
        control.note_checked(self)
        return self.summary

    # Expressions and statements: each returns its value.

    def value(self, node: Node) -> Value:
        op = node.op
        if op == "constant":
            return CLEAN
        self.file.spend()
        if self.scope.dead and op != "function":
            return CLEAN
        method = METHODS.get(op)
        return method(self, node) if method else self.union(node)

    def union(self, node: Node) -> Value:
        return union([self.value(part) for part in node.parts if part.op != "constant"])

    def _name(self, node: Node) -> Value:
        name = node.name
        if name and (known := self.scope.values.get(name)) is not None:
            return (
                union((known, self.scope.inside(name)))
                if name in self.scope.owners
                else known
            )
        return self._read_stored(node) if name else CLEAN

    def _read_stored(self, node: Node) -> Value:
        """Return the value of a variable, member or subscript: what was written to it, else what it is by itself."""
        path = path_of(node)
        if path and (known := self.scope.values.get(path)) is not None:
            return known if node.op != "name" else union((known, self.scope.inside(path)))
        names = self.names_of(node)
        if source := self.source(node, names):
            return source
        inside = self.scope.inside(path) if path else CLEAN
        if node.op == "name":
            return inside or self._outer(node)
        first, _, rest = path.partition(".")
        if path and rest and self.function.owner and first in self._self:
            name = f"{self.function.owner}.{rest.partition('.')[0]}"
            return union((inside, (Taint(Origin("field", name, node.line, node.start)),)))
        value = self.value(node.parts[0])
        for part in node.parts[1:]:
            self.value(part)
        member = node.name if node.op == "member" else path.rpartition(".")[2]
        if member in NUMBERS_OF:
            return CLEAN
        for entry in self.file.tables.find(
            "sanitizer", "call", names
        ):  # a getter that is written as a property
            value = safe_for(value, entry.kinds)
        # A member of what was given a secret is another thing.
        return union(
            (
                inside,
                tuple(taint.piece(member) for taint in value if not taint.origin.secret),
            )
        )

    def _outer(self, node: Node) -> Value:
        """Return the value of a name that this function does not bind: a variable of the file, or a field."""
        name = node.name
        if name in self.file.globals and self.function.name:
            return (Taint(Origin("field", f".{name}", node.line, node.start)),)
        if self.file.implicit_self and self.function.owner and not name[:1].isupper():
            return (
                Taint(
                    Origin("field", f"{self.function.owner}.{name}", node.line, node.start)
                ),
            )
        return CLEAN

    def names_of(self, node: Node) -> tuple[str, ...]:
        """Return the dotted names by which tables may know an expression."""
        written = dotted_name(node)
        first, dot, rest = written.partition(".")
        bare = first.removeprefix("new ")
        names = [written]
        if bare in self.file.imports:
            prefix = "new " if bare != first else ""
            names.append(f"{prefix}{self.file.imports[bare]}{dot}{rest}")
        of = self.scope.types.get(first)
        if first in FIELD_OWNERS and rest:
            of, (_, dot, rest) = (
                self.scope.types.get(f"this.{rest.split('.')[0]}"),
                rest.partition("."),
            )
        if of and rest:
            names += [
                f"{of}.{rest}",
                *([f"{of.rsplit('.', 1)[-1]}.{rest}"] if "." in of else []),
            ]
        return tuple(dict.fromkeys(names))

    def source(self, node: Node, names: tuple[str, ...]) -> Value:
        found = self.file.tables.find("source", "reads", names)
        return union(
            (self.origin(entry, node),) for entry in found if self.allows(entry, node)
        )

    def origin(self, entry: Entry, node: Node) -> Taint:
        whole = "object" in entry.patterns and any(
            map(entry.patterns["object"].fullmatch, self.names_of(node))
        )
        return replace(
            source_of(entry, node.line, node.start, self.line_of(node)), whole=whole
        )

    def allows(self, entry: Entry, node: Node) -> bool:
        return entry.allows(self.file.text[node.start : node.end])

    def line_of(self, node: Node) -> str:
        line_start = self.file.text.rfind("\n", 0, node.start) + 1
        line_end = self.file.text.find("\n", node.start)
        line = self.file.text[line_start : line_end if line_end >= 0 else None].strip()
        return line[:SHOWN]

    def _text(self, node: Node) -> Value:
        """Unite the pieces of a text; after a constant host or path the rest chooses neither."""
        found: list[Value] = []
        safe: set[str] = set()
        for number, part in enumerate(node.parts):
            value = self.value(part)
            found.append(safe_for(value, frozenset(safe)))
            if part.op == "constant":
                begun = FIXED_START.match(part.text) or any(
                    mark in part.text for mark in "?#"
                )
                if begun if number == 0 else HAS_SLASH.search(part.text):
                    safe |= {"ssrf", "redirect"}
                if HEADERS_END.search(part.text) or (
                    number and LINE_END.fullmatch(part.text)
                ):
                    safe.add("header")
        if node.name == "<<" and node.parts and (path := path_of(node.parts[0])):
            self.scope.write(path, union(found), add=True)
        return tuple(replace(t, whole=False) for t in union(found))

    def _cast(self, node: Node) -> Value:
        value = self.union(node)
        return CLEAN if NUMBERS.fullmatch(node.name) else value

    def _test(self, node: Node) -> Value:
        self.union(node)
        return CLEAN

    def _assign(self, node: Node) -> Value:
        target, *rest = node.parts
        if not rest:
            if node.text and (path := path_of(target)):
                self.scope.types[path] = node.text
            return CLEAN
        value = self.value(rest[0])
        self._write(
            target,
            value,
            rest[0],
            add=node.name not in ("=", ":=", ""),
            type_=node.text,
            whole=node,
        )
        return value

    def _write(
        self,
        target: Node,
        value: Value,
        source: Node | None,
        *,
        add: bool = False,
        type_: str = "",
        whole: Node | None = None,
    ) -> None:
        if target.op in ("group", "block", "call", "text") and target.parts:
            parts = target.parts if target.op != "call" else target.parts[1:]
            for number, part in enumerate(parts):
                one = source if len(parts) == 1 else None
                if source and source.op == "group" and len(source.parts) == len(parts):
                    one = source.parts[number]
                if one is not None and len(parts) > 1:
                    of = self.value(one)
                elif len(parts) > 1 or target.name or target.keys[:1] not in ((), (None,)):
                    of = tuple(
                        replace(taint, slot=-1)
                        for taint in value
                        if taint.slot in (-1, number)
                    )
                    if (
                        parts[-1].name not in ERRORS or number
                    ):  # `rel, err := f(x)` has one result
                        of = tuple(taint.piece(_label(target, number)) for taint in of)
                else:
                    of = value
                if part.name in ERRORS:
                    of = tuple(taint for taint in of if not taint.origin.secret)
                self._write(part, of, one, add=add)
            if len(parts) > 1 and source is not None and (path := path_of(parts[-1])):
                self.scope.tests[path] = source
            return
        if target.op == "assign":
            self._write(target.parts[0], value, source, add=add)
            return
        names = self.names_of(target)
        for entry in self.file.tables.find("sink", "assign", names):
            if self.allows(entry, whole or target):
                self.reach(entry, value, target)
        path = path_of(target)
        if not path:
            if target.op in ("index", "member") and (path := path_of(target.parts[0])):
                self.scope.write(path, value, add=True)
            return
        if value:
            value = tuple(t.via(target.line, self.line_of(target)) for t in value)
        if source is not None:
            type_ = type_ or self._type_of(source)
        self.scope.write(path, value, add=add)
        if type_:
            self.scope.types[path] = type_
        if source is not None and source.op in (
            "test",
            "call",
            "index",
            "not",
            "and",
            "or",
        ):
            self.scope.tests[path] = source
        self._keep(path, value)

    def _keep(self, path: str, value: Value) -> None:
        """Note what is stored in a field or in a variable of the file."""
        first, _, rest = path.partition(".")
        field_ = rest.partition(".")[0] if first in self._self else ""
        owner = self.function.owner
        implicit = (
            self.file.implicit_self and owner and not rest and first not in self._bound
        )
        of = self.scope.types.get(first, "").rsplit(".", 1)[-1]
        if of and rest and first not in self._self:
            self.summary.store(f"{of}.{rest.partition('.')[0]}", value)
        elif owner and (field_ or implicit):
            self.summary.store(f"{owner}.{field_ or first}", value)
        elif not self.function.name or first in self.file.globals:
            self.file.globals.add(first)
            self.summary.store(f".{first}", value)

    def _type_of(self, source: Node) -> str:
        while (
            source.op in ("group", "block") and len(source.parts) == 1 and not source.name
        ):
            source = source.parts[0]
        if source.op == "group":
            return source.name or (TABLE if any(source.keys) else "")
        return self.names_of(source)[-1].removeprefix("new ") if source.op == "call" else ""

    def branch_off(self) -> Scope:
        """Return a copy of what is known here, which costs by the number of variables."""
        self.file.spend(len(self.scope.values) // 20)
        return self.scope.copy()

    def narrow(self, condition: Node, holds: bool) -> None:
        self.apply(self.scope, condition, holds)

    def apply(self, scope: Scope, condition: Node, holds: bool) -> None:
        for narrowing in narrowings(condition, holds, self):
            control.narrow_scope(scope, narrowing)

    # What guards ask.

    def test_of(self, node: Node) -> Node | None:
        path = path_of(node)
        return self.scope.tests.get(path) if path else None

    def function_called(self, node: Node) -> tuple[Function, Summary] | None:
        return self.file.summary(self.names_of(node), self.function.owner)

    def is_clean(self, node: Node) -> bool:
        return not any(taint.origin.kind == "source" for taint in self._quietly(node))

    def is_given(self, node: Node) -> bool:
        return any(taint.origin.kind != "field" for taint in self._quietly(node))

    def is_resolved(self, node: Node) -> bool:
        value = self._quietly(node)
        return bool(value) and all("resolved" in taint.safe for taint in value)

    def _quietly(self, node: Node) -> Value:
        """Evaluate an expression once more, without noting what it reaches."""
        kept = self.summary
        scope = self.scope
        self.summary, self.scope = Summary(), self.branch_off()
        value = self.value(node)
        self.summary = kept
        self.scope = scope
        return value

    def guards(self, node: Node) -> Iterator[tuple[Entry, Node]]:
        text = self.file.text[node.start : node.end]
        for entry in self.file.tables.of("guard", "condition"):
            if (found := entry.patterns["condition"].search(text)) is not None:
                at = node.start + found.start("x")
                # The condition may be about a call: then about all that is in it.
                called = text[found.end("x") : found.end("x") + 1] == "("
                inside = (
                    part
                    for part in control.leaves([node])
                    if called or part.start <= at < part.end
                )
                yield from ((entry, part) for part in inside if path_of(part))

    def _call(self, node: Node) -> Value:
        return call_value(self, node)

    def reach(self, entry: Entry, value: Value, node: Node) -> None:
        """Note that a value reaches a sink, unless it is safe for it, or of the wrong sort."""
        for taint in value:
            if taint.harms(entry):
                lines = self.file.text.count("\n", node.start, node.end)
                self.summary.reach(
                    Reached(
                        entry, entry.data["kind"], taint, node, node.line, node.line + lines
                    )
                )

    def reach_again(self, sink: Reached, taint: Taint) -> None:
        """Note what a function of the file does with a value that this one gives it."""
        if taint.harms(sink.entry):
            self.summary.reach(replace(sink, taint=taint))


def _label(target: Node, number: int) -> str:
    key = target.keys[number] if number < len(target.keys) else None
    return key or path_of(target.parts[number]) or str(number)


METHODS: dict[str, Callable[[Walk, Node], Value]] = {
    "name": Walk._name,
    "member": Walk._read_stored,
    "index": Walk._read_stored,
    "call": Walk._call,
    "text": Walk._text,
    "test": Walk._test,
    "not": Walk._test,
    "and": control.both,
    "or": control.both,
    "cast": Walk._cast,
    "assign": Walk._assign,
    "if": control.branch,
    "loop": control.loop,
    "switch": control.switch,
    "try": control.attempt,
    "return": control.give_back,
    "break": control.leave_loop,
    "leave": control.leave,
    "block": control.block,
    "function": control.define,
    "class": control.define_class,
}
