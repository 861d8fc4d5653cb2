"""The walk through one function, in the order in which it runs: for each variable where its value comes from.

Each operation of `program.Node` is evaluated by a function of `variables`, `calls` or `control`; `evaluation` has the
table of them.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from cli_guard.code.taint.guards import Narrowing, narrowings
from cli_guard.code.taint.naming import dotted_name, path_of, resolve_import
from cli_guard.code.taint.program import FlowFunction, FlowNode, leaves
from cli_guard.code.taint.tables import ALL, FlowEntry, is_common
from cli_guard.code.taint.values import (
    CLEAN,
    SHOWN,
    FlowScope,
    Origin,
    Reached,
    Summary,
    Taint,
    Value,
    safe_for,
    source_of,
    union,
)

if TYPE_CHECKING:
    from cli_guard.code.taint.flows import FlowFile

FIELD_OWNERS = ("self", "this", "cls", "static")
# A variable may be told by a condition that has the variable in it: `row = (row && row[key])[name]`.
# Shapes of what is handed over under a name: an object, a dictionary, a member of a library.
OPTIONS = ("group", "member")
MOST_CONDITIONS = 4
UNKNOWN: Value = (Taint(Origin("source", "")),)


class Walk:
    """The state of a walk, and what is asked at each of its places; `summary` is what the function does."""

    def __init__(
        self,
        file: "FlowFile",
        function: FlowFunction,
        scope: FlowScope,
        evaluators: "Evaluators",
    ) -> None:
        self.file = file
        self.function = function
        self.scope = scope
        self.summary = Summary()
        self.returned: list[Value] = []
        self.breaks: list[list[FlowScope]] = []
        self.bound = frozenset(scope.values)
        receiver = function.parameters[0].names[:1] if has_receiver(function) else ()
        # What means the object itself, to which `me = self` adds a name.
        self.own_names = {*FIELD_OWNERS, *receiver}
        self.is_escaping = is_common("calls", "escapes", function.name)
        # What the function returns as it was given.
        self.unchanged: Value = CLEAN
        self._given = dict(scope.values)
        self._evaluators = evaluators
        self._conditions = 0

    def value(self, node: FlowNode) -> Value:
        """Evaluate an expression or statement, with all that it does."""
        if node.op == "constant":
            return CLEAN
        self.file.spend()
        if self.scope.dead and node.op != "function":
            return CLEAN
        evaluate = self._evaluators.get(node.op)
        return evaluate(self, node) if evaluate else self.union(node)

    def union(self, node: FlowNode) -> Value:
        return union([self.value(part) for part in node.parts if part.op != "constant"])

    def names_of(self, node: FlowNode) -> tuple[str, ...]:
        """Return the dotted names by which tables may know an expression."""
        written = dotted_name(node)
        first, _, rest = written.partition(".")
        names = [written, resolve_import(written, self.file.imports)]
        of = self.scope.types.get(first)
        owner = self.function.owner
        if first in self.own_names:
            field, _, behind = rest.partition(".")
            known = self.scope.types.get(f"{first}.{field}")
            known = known or self.file.field_types.get(f"{owner}.{field}")
            names += by_type(known, behind)
        elif of is None and self.file.implicit_self and owner:
            of = self.file.field_types.get(f"{owner}.{first}")
        return tuple(dict.fromkeys((*names, *by_type(of, rest))))

    def find(
        self, section: str, by: str, node: FlowNode, names: tuple[str, ...]
    ) -> list[FlowEntry]:
        """Return the entries of the tables for the names of a node that its text fits."""
        found = self.file.tables.find(section, by, names)
        return [entry for entry in found if self.allows(entry, node)]

    def allows(self, entry: FlowEntry, node: FlowNode) -> bool:
        beside = entry.patterns.get("file")
        if beside is not None and not beside.search(self.file.text):
            return False
        return entry.allows(self.text_of(node), self.options_of(node))

    def options_of(self, call: FlowNode) -> str:
        """Return what variables were given that are arguments of a call, "" for none: `loader = yaml.SafeLoader`."""
        if call.op != "call" or not self.scope.tests:
            return ""
        named = (part.name for part in call.parts[1:] if part.op == "name")
        given = (self.scope.tests[name] for name in named if name in self.scope.tests)
        return "".join(f"\n{self.text_of(each)}" for each in given if each.op in OPTIONS)

    def class_of(self, first: str) -> str:
        """Return the class of the file whose fields are the members of a name, "" if that is not known."""
        if first in self.own_names:
            return self.function.owner
        of = self.scope.types.get(first, first).rsplit(".", 1)[-1]
        return of if of in self.file.classes else ""

    def source(self, node: FlowNode, names: tuple[str, ...]) -> Value:
        """Return the value of an expression that is a source as it is written."""
        found = self.find("source", "reads", node, names)
        return union((self.origin(entry, node),) for entry in found)

    def member_source(self, field: FlowNode) -> Value:
        """Return what a framework writes into a field, by what is written before it."""
        text = self.text_of(field)
        given = self.file.tables.of("source", "members")
        found = (entry for entry in given if entry.patterns["members"].search(text))
        return union((self.origin(entry, field),) for entry in found)

    def origin(self, entry: FlowEntry, node: FlowNode) -> Taint:
        pattern = entry.patterns.get("object")
        whole = pattern is not None and any(map(pattern.fullmatch, self.names_of(node)))
        taint = source_of(entry, node.line, node.start, self.line_of(node))
        return replace(taint, whole=whole)

    def text_of(self, node: FlowNode) -> str:
        return self.file.text[node.start : node.end]

    def line_of(self, node: FlowNode) -> str:
        text = self.file.text
        line_start = text.rfind("\n", 0, node.start) + 1
        line_end = text.find("\n", node.start)
        line = text[line_start : line_end if line_end >= 0 else None].strip()
        return line[:SHOWN]

    def note_unchanged(self, node: FlowNode, value: Value) -> None:
        """Note what of a value that is returned is a parameter as it was given."""
        path = path_of(node) if self.is_escaping else ""
        if path in self._given:
            is_given = self.scope.values.get(path) is self._given[path]
            self.unchanged += tuple(
                t
                for t in value
                if t.origin.kind == "parameter" and (is_given or not t.steps)
            )

    def pass_on(self, value: Value, node: FlowNode, guesses: int = 0) -> Value:
        """Return a value after the step at a node."""
        shown = self.line_of(node) if value else ""
        return tuple(taint.via(node.line, shown, guesses) for taint in value)

    def branch_off(self) -> FlowScope:
        """Return a copy of what is known here, which costs by the number of variables."""
        self.file.spend(len(self.scope.values) // 20)
        return self.scope.copy()

    def narrow(
        self, condition: FlowNode, holds: bool, scope: FlowScope | None = None
    ) -> None:
        """Mark in a scope what is safe if a condition holds, or does not."""
        scope = scope or self.scope
        for narrowing in narrowings(condition, holds, self):
            path = narrowing.path
            if "." in path and path not in scope.values and ALL not in narrowing.kinds:
                # A source by its own name, which is not yet safe for all.
                scope.set(path, self._quietly(narrowing.node))
            narrow_scope(scope, narrowing)

    # What guards ask.

    def test_of(self, node: FlowNode) -> FlowNode | None:
        """Return the test, call or look-up whose result a variable holds."""
        path = path_of(node)
        return self.scope.tests.get(path) if path else None

    def function_called(self, node: FlowNode) -> tuple[FlowFunction, Summary] | None:
        """Return the function of this file that is called."""
        names = self.names_of(node)
        return self.summary_of(names, anywhere=is_common("tests", "named", names[0]))

    def summary_of(
        self, names: tuple[str, ...], *, anywhere: bool
    ) -> tuple[FlowFunction, Summary] | None:
        """Return what `File.summary` has for a call, nothing for one of a parameter."""
        if names[0] in self.function.parameter_names:
            return None
        return self.file.summary(names, self.function.owner, anywhere=anywhere)

    def is_clean(self, node: FlowNode) -> bool:
        """Return whether an expression is the program's own, or of those who set it up."""
        return not any(
            taint.origin.kind == "source" and not taint.origin.local
            for taint in self._quietly(node)
        )

    def is_given(self, node: FlowNode) -> bool:
        """Return whether an expression is somebody else's, or the caller's."""
        return any(taint.origin.kind != "field" for taint in self._quietly(node))

    def is_resolved(self, node: FlowNode) -> bool:
        """Return whether an expression is a path without `..` and links in it."""
        value = self._quietly(node)
        return bool(value) and all("resolved" in taint.safe for taint in value)

    def _quietly(self, node: FlowNode) -> Value:
        """Evaluate an expression once more, without noting what it reaches; not known if conditions nest too deep."""
        if self._conditions >= MOST_CONDITIONS:
            return UNKNOWN
        kept = self.summary
        scope = self.scope
        self.summary = Summary()
        self.scope = self.branch_off()
        self._conditions += 1
        value = self.value(node)
        self._conditions -= 1
        self.summary = kept
        self.scope = scope
        return value

    def guards(self, node: FlowNode) -> Iterator[tuple[FlowEntry, FlowNode]]:
        """Yield the entries of the tables that a condition fits, with what each checks."""
        text = self.text_of(node)
        for entry, start, end in self.file.tables.find_guards(text):
            at = node.start + start
            # The condition may be about a call: then about all that is in it.
            is_call = text[end : end + 1] == "("
            for part in leaves([node]):
                if (is_call or part.start <= at < part.end) and path_of(part):
                    yield entry, part

    def reach(self, entry: FlowEntry, value: Value, node: FlowNode) -> None:
        """Note that a value reaches a sink, unless it is safe for it, or of the wrong sort."""
        for taint in value:
            if taint.harms(entry):
                found = Reached(entry, entry.data["kind"], taint, node, 0, 0)
                self.summary.reach(self.at(found, node))

    def at(self, sink: Reached, node: FlowNode) -> Reached:
        """Return a sink as one that is at a node of this file."""
        end_line = node.line + self.text_of(node).count("\n")
        return replace(sink, node=node, line=node.line, end_line=end_line)

    def is_from_outside(self, value: Value) -> bool:
        """Return whether a value is known to be somebody else's choice."""
        return any(t.origin.kind == "source" and not t.origin.secret for t in value)


Evaluators = Mapping[str, Callable[[Walk, FlowNode], Value]]


def by_type(of: str | None, member: str) -> list[str]:
    """Return the dotted names of a member of an object of a type, in its package and without."""
    if not (of and member):
        return []
    return [f"{of}.{member}", f"{of.rpartition('.')[2]}.{member}"]


def has_receiver(function: FlowFunction) -> bool:
    """Return whether the first parameter is what a method of Go is called on."""
    return function.heading.startswith("func (")


def narrow_scope(scope: FlowScope, narrowing: Narrowing) -> None:
    """Mark the value of a path safe, and what was made from the same value of a source.

    A value that is safe for ALL kinds is the program's own from there on, whether it was known or not.
    """
    path = narrowing.path
    kinds = narrowing.kinds
    is_own = ALL in kinds
    value = scope.read(path)
    if value is None and not is_own:
        return
    origins = {taint.origin for taint in value or ()}
    scope.set(path, safe_for(value or CLEAN, kinds))
    if not narrowing.derived and (value is None or "." in path):
        return
    for name, other in scope.values.items():
        same = [taint for taint in other if taint.origin in origins]
        if name == path or not same:
            continue
        if is_own:
            kept = (taint for taint in other if taint.origin not in origins)
        else:
            kept = (t.but_safe(kinds) if t.origin in origins else t for t in other)
        scope.values[name] = tuple(kept)
