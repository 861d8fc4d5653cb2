"""Find where data that somebody else chose reaches a call that it can harm, in a file and the helpers that it calls."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from cli_guard.code.languages import language_for
from cli_guard.code.syntax import Trees
from cli_guard.code.taint.calls import CONSTRUCTORS, key_of
from cli_guard.code.taint.elsewhere import Elsewhere, may_define
from cli_guard.code.taint.evaluation import summarize
from cli_guard.code.taint.grammar import language_named
from cli_guard.code.taint.lowering import TooBigError, lower
from cli_guard.code.taint.naming import dotted_name, imports_of, path_of
from cli_guard.code.taint.program import FlowFunction, FlowNode, leaves
from cli_guard.code.taint.starts import may_have_source, nodes_of
from cli_guard.code.taint.tables import FlowEntry, Tables
from cli_guard.code.taint.values import (
    CLEAN,
    FlowScope,
    Origin,
    Reached,
    Step,
    Summary,
    Taint,
    Value,
    source_of,
    union,
)
from cli_guard.code.taint.variables import NUMBERS
from cli_guard.lazy import frozen

if TYPE_CHECKING:
    from ast_grep_py import SgNode

__all__ = ["Flow", "TooBigError", "find_flows", "flows_if_readable", "flows_of"]

MOST_SPENT = 400_000
DEEPEST_CALLS = 12
OWN = ("self", "this", "cls", "static", "Self")
PARENTS = ("super", "parent", "base")
LONGEST_PATH = 5
MOST_BASES = 8
MOST_KEPT = 32
DEFAULT = re.compile(
    r"\b(?:export\s+default|module\.exports\s*=)\s+(?:async\s+)?(?:function\s*\*?\s*)?(\w+)"
)


@frozen
class Flow:
    """A value from a source that reaches a sink.

    `steps` are at most LONGEST_PATH lines (number, text) from the source to the sink, `guesses` how many calls on the
    way are not known to pass it on. `name` is the dotted name of the sink.
    """

    entry: FlowEntry
    kind: str
    source: Origin
    name: str
    line: int
    end_line: int
    steps: tuple[Step, ...]
    guesses: int

    @property
    def key(self) -> tuple[str, str, str]:
        """What stays the same when lines move: the kind, the sink and the text of the source."""
        return self.kind, self.name, self.steps[0][1]


def find_flows(
    root: "SgNode",
    language: str,
    text: str,
    tables: Tables,
    elsewhere: Elsewhere | None = None,
) -> list[Flow]:
    """Return the flows of a file by line, one for each kind and sink; `elsewhere` has what it calls of other files.

    Raises TooBigError if the file is too big to be followed.
    """
    return FlowFile(root, language, text, tables, elsewhere).flows()


@lru_cache(maxsize=MOST_KEPT)
def _read_other(language: str, text: str, tables: Tables) -> "FlowFile | None":
    """Return a file whose functions another one calls, None for one that cannot be followed."""
    try:
        return FlowFile(Trees(0).root(language, text), language, text, tables)
    except (TooBigError, ValueError):
        return None


def flows_of(trees: Trees, language: str, text: str, tables: Tables) -> list[Flow]:
    """Return the same, found once for all who ask while the tree of the text is kept. Raises TooBigError."""
    return trees.derive(
        ("flows", tables),
        language,
        text,
        lambda root: find_flows(root, language, text, tables),
    )


def flows_if_readable(
    trees: Trees, language: str, text: str, tables: Tables | None
) -> list[Flow]:
    """Return the same, none for a language without tables and for what is too big."""
    if tables is None or not tables.may_hold_flow(text):
        return []
    try:
        return flows_of(trees, language, text, tables)
    except TooBigError:
        return []


class FlowFile:
    """A file whose functions are walked, and what is known of them: what a walk asks of the file around it."""

    def __init__(
        self,
        root: "SgNode",
        language: str,
        text: str,
        tables: Tables,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self.tables = tables
        self._elsewhere = elsewhere
        self.has_others = elsewhere is not None
        self.text = text
        self._lines = text.split("\n")
        self.imports: Mapping[str, str] = imports_of(root, language, text)
        known = language_named(language)
        self.implicit_self = known.implicit_self
        self.bare_calls = known.bare_calls
        self.plain_fields = known.plain_fields
        self.globals: set[str] = set()
        self._main, functions = lower(root, language, text)
        self._functions: dict[str, list[FlowFunction]] = {}
        for function in functions:
            self._functions.setdefault(function.name, []).append(function)
        self._bases, self.field_types = read_classes(self._main.body)
        for function in functions:
            self.field_types |= kept_types(function)
        owners = {function.owner for function in functions if function.owner}
        self.classes = owners | self._bases.keys()
        self._summaries: dict[int, Summary | None] = {}
        self._fields: dict[str, Value] = {}
        self._handlers = [
            e
            for e in tables.entries
            if e.section == "source" and e.patterns.keys() & PARAMETERS
        ]
        self._steps = self._depth = 0

    def spend(self, steps: int = 1) -> None:
        """Count steps. Raises TooBigError when too many were made."""
        self._steps += steps
        if self._steps > MOST_SPENT:
            raise TooBigError

    def flows(self) -> list[Flow]:
        # What other files give is known only once they were read.
        if not (self.has_others or self._may_have_source()):
            return []
        found = summarize(self, self._main, FlowScope())
        self._keep(found)
        flows: dict[tuple[str, int], Flow] = {}
        for sink in found.sinks.values():
            for taint in self._sources(sink.taint):
                flow = self._flow(sink, taint)
                key = (sink.kind, sink.node.start)
                if flow is not None and (
                    key not in flows or flow.guesses < flows[key].guesses
                ):
                    flows[key] = flow
        return sorted(flows.values(), key=lambda flow: (flow.line, flow.kind))

    def _may_have_source(self) -> bool:
        given = self.tables.of("source", "members")
        if any(entry.patterns["members"].search(self.text) for entry in given):
            return True
        listed = [self._main, *chain.from_iterable(self._functions.values())]
        return may_have_source(listed, self.imports, self.tables, self._is_given)

    def _is_given(self, function: FlowFunction, called: str) -> bool:
        """Return whether a framework gives a source to any parameter of a function."""
        positions = range(len(function.parameters))
        return any(any(self._given_by_framework(function, n, called)) for n in positions)

    def _flow(self, sink: Reached, taint: Taint) -> Flow | None:
        if not taint.harms(sink.entry):
            return None
        line_text = self._lines[sink.line - 1].strip()[:120]
        steps = [*taint.steps, (sink.line, line_text)]
        steps = list(dict(steps).items())
        if len(steps) > LONGEST_PATH:
            steps = [*steps[:2], *steps[-(LONGEST_PATH - 2) :]]
        name = sink.name or dotted_name(sink.node)
        return Flow(
            sink.entry,
            sink.kind,
            taint.origin,
            name,
            sink.line,
            sink.end_line,
            tuple(steps),
            taint.guesses,
        )

    def _sources(self, taint: Taint, depth: int = 0) -> Iterable[Taint]:
        """Yield the taint if it is from a source; for a field, what was stored in it."""
        if taint.origin.kind == "source":
            yield taint
        elif taint.origin.kind == "field" and depth < 4:
            of, _, name = taint.origin.name.rpartition(".")
            for each in self._lineage(of):
                for stored in self._fields.get(f"{each}.{name}", CLEAN):
                    yield from self._sources(stored.lead_to(taint), depth + 1)

    def _lineage(self, name: str) -> list[str]:
        """Return a class, and those of the file that it inherits from, the nearest first."""
        found = [name]
        for each in found:
            new = (base for base in self._bases.get(each, ()) if base not in found)
            found += list(new)[: MOST_BASES - len(found)]
        return found

    def store(self, name: str, value: Value) -> None:
        """Keep what is stored in `Class.field`."""
        self._fields[name] = union((self._fields.get(name, CLEAN), value))

    def _keep(self, summary: Summary) -> None:
        for name, taint in summary.stored:
            if taint.origin.kind != "parameter":
                self.store(name, (taint,))

    def summary(
        self, names: tuple[str, ...], owner: str, *, anywhere: bool
    ) -> tuple[FlowFunction, Summary] | None:
        """Return the function that a call by one of these dotted names runs, and what it does.

        It is of this file, of another one of the change or, `anywhere`, of one that is imported.
        """
        found = self._summary(names, owner)
        if found is not None or self._elsewhere is None:
            return found
        # What an import stands for may be the name of another one.
        written, *others = names
        spelled = self.imports.get(written.removeprefix("new ").partition(".")[0])
        names = (written, *(n for n in others if spelled is None or spelled not in n))
        for path, name in (each for n in names for each in self._elsewhere.places_of(n)):
            text = self._elsewhere.read(path, anywhere)
            language = language_for(path)
            if text is None or language is None or not may_define(language, text, name):
                continue
            other = _read_other(language, text, self.tables)
            if other is not None and (found := other.summary_for_others(name, path)):
                return found
        return None

    def summary_for_others(
        self, name: str, path: str
    ) -> tuple[FlowFunction, Summary] | None:
        """Return what a function does with what a call in another file gives it, without the way through this one."""
        try:
            found = self._summary((name or self._default_name(),), "")
        except TooBigError:
            return None
        if found is None:
            return None
        function, own = found
        if function.owner and function.owner not in name:
            return None
        summary = replace(own, elsewhere=True, sinks={}, stored={})
        summary.returns = tuple(
            replace(t, steps=()) for t in own.returns if t.origin.kind != "field"
        )
        for sink in own.sinks.values():
            if sink.taint.origin.kind == "parameter" and sink.kind != "mass-assignment":
                shown = f"{dotted_name(sink.node)} in {path}"
                summary.reach(
                    replace(sink, taint=replace(sink.taint, steps=()), name=shown)
                )
        return function, summary

    def _default_name(self) -> str:
        """Return the name of what a script exports as a whole."""
        exported = DEFAULT.search(self.text)
        return exported[1] if exported else ""

    def _summary(
        self, names: tuple[str, ...], owner: str
    ) -> tuple[FlowFunction, Summary] | None:
        function = next(
            (found for name in names if (found := self._resolve(name, owner)) is not None),
            None,
        )
        if function is None:
            return None
        known = self._summaries.get(id(function), NOT_YET)
        if known is NOT_YET and self._depth > DEEPEST_CALLS:
            return None
        if known is NOT_YET:
            known = self._walk(function, FlowScope(), CLEAN, "")
        return (function, known) if known is not None else None

    def _resolve(self, name: str, owner: str) -> FlowFunction | None:
        of, _, last = name.rpartition(".")
        if last == "new" and of in self.classes:  # Ruby
            of, last = "", of
        if last.startswith("new ") or (not of and last in self.classes):
            made = self._lineage(last.removeprefix("new "))
            return self._find_method(made, (*CONSTRUCTORS, *made))
        if not of and last in PARENTS:
            inherited = self._lineage(owner)[1:]
            return self._find_method(inherited, (*CONSTRUCTORS, *inherited))
        candidates = self._functions.get(last, [])
        if not candidates:
            return None
        of = of.removeprefix("new ").rsplit(".", 1)[-1]
        if of in PARENTS:
            return self._find_method(self._lineage(owner)[1:], (last,))
        if of:
            return self._find_method(self._lineage(owner if of in OWN else of), (last,))
        return self._find_method(self._lineage(owner), (last,)) or candidates[0]

    def _find_method(
        self, owners: list[str], names: tuple[str, ...]
    ) -> FlowFunction | None:
        """Return the method by one of these names of the first class that has one."""
        for of in filter(None, owners):
            for function in (f for name in names for f in self._functions.get(name, ())):
                if function.owner == of:
                    return function
        return None

    def walk_function(
        self, function: FlowFunction, scope: FlowScope, given: Value, called: str
    ) -> Summary:
        """Walk a function where it is defined, with the variables around it."""
        if self._depth > DEEPEST_CALLS:
            return Summary()
        return self._walk(function, scope, given, called) or Summary()

    def _walk(
        self, function: FlowFunction, scope: FlowScope, given: Value, called: str
    ) -> Summary | None:
        self._summaries[id(function)] = None  # a call of itself adds nothing
        self._depth += 1
        self.spend(len(scope.values) // 20)
        inner = scope.copy()
        inner.dead = False
        key = key_of(function)
        for position in range(len(function.parameters)):
            self._bind(function, position, inner, given, called, key)
        if not function.parameters and given:
            for name in ("it", "$0"):
                inner.values[name] = given
        summary = summarize(self, function, inner)
        self._keep(summary)
        self._depth -= 1
        self._summaries[id(function)] = summary
        return summary

    def _bind(
        self,
        function: FlowFunction,
        position: int,
        scope: FlowScope,
        given: Value,
        called: str,
        key: str,
    ) -> None:
        parameter = function.parameters[position]
        value = given
        named = self.tables.find("source", "reads", parameter.names[:1])
        secrets = [
            source_of(e, function.line, position, parameter.text)
            for e in named
            if e.data.get("secret")
        ]
        if not NUMBERS.fullmatch(parameter.type):
            own = (Taint(Origin("parameter", key, function.line, position=position)),)
            value = union(
                (
                    own,
                    given,
                    tuple(secrets),
                    *self._given_by_framework(function, position, called),
                )
            )
        for name in parameter.names:
            scope.write(name, value)
            scope.types.pop(name, None)
            if parameter.type:
                scope.types[name] = parameter.type

    def _given_by_framework(
        self, function: FlowFunction, position: int, called: str
    ) -> Iterable[Value]:
        parameter = function.parameters[position]
        for entry in self._handlers:
            handlers = entry.patterns.get("handlers")
            parameters = entry.patterns.get("parameters")
            unless = entry.patterns.get("unless")
            if handlers is not None and not handlers.search(
                f"{called}(" if called else function.heading
            ):
                continue
            if (parameters is None or parameters.search(parameter.text)) and not (
                unless is not None and unless.search(parameter.text)
            ):
                taint = source_of(
                    entry, function.line, position, re.sub(r"\s+", " ", parameter.text)
                )
                whole = "object" in entry.patterns and bool(
                    entry.patterns["object"].search(parameter.text)
                )
                yield (replace(taint, whole=whole),)


def read_classes(body: FlowNode) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Map the classes of a file to the names in their headings, and `Class.field` to its type."""
    bases: dict[str, list[str]] = {}
    types: dict[str, str] = {}
    for node in nodes_of(body):
        if node.op != "class":
            continue
        heading = [part for part in node.parts if part.op in ("group", "name")]
        bases[node.name] = [leaf.name for leaf in leaves(heading) if leaf.name]
        for member in members_of(node):
            if member.op == "assign" and (of := declared_type(member)):
                types[f"{node.name}.{path_of(member.parts[0])}"] = of
    return bases, types


def members_of(node: FlowNode) -> Iterator[FlowNode]:
    """Yield what is written directly inside a class."""
    for part in node.parts:
        if part.op in ("block", "group"):
            yield from members_of(part)
        else:
            yield part


def declared_type(member: FlowNode) -> str:
    """Return the type that a field is declared with, or that of the object that is made for it."""
    if member.text or len(member.parts) < 2:
        return member.text
    made = dotted_name(member.parts[1])
    return made.removeprefix("new ") if made.startswith("new ") else ""


def kept_types(function: FlowFunction) -> dict[str, str]:
    """Map `Class.field` to the type of the parameter that a constructor keeps in it."""
    types = {each.names[0]: each.type for each in function.parameters if each.names}
    if not (function.owner and function.name in CONSTRUCTORS and any(types.values())):
        return {}
    found = {}
    for node in nodes_of(function.body):
        if node.op != "assign" or len(node.parts) < 2:
            continue
        owner, _, field = path_of(node.parts[0]).partition(".")
        if owner in OWN and (of := types.get(path_of(node.parts[1]))):
            found[f"{function.owner}.{field}"] = of
    return found


PARAMETERS = {"handlers", "parameters"}
NOT_YET = Summary()
