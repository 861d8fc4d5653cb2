"""Find where data that somebody else chose reaches a call that it can harm, within one file."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from cli_guard.code.syntax import Trees
from cli_guard.code.taint.calls import key_of
from cli_guard.code.taint.evaluation import summarize
from cli_guard.code.taint.grammar import language_named
from cli_guard.code.taint.lowering import TooBigError, lower
from cli_guard.code.taint.naming import dotted_name, imports_of
from cli_guard.code.taint.program import FlowFunction
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
from cli_guard.lazy import dataclass

if TYPE_CHECKING:
    from ast_grep_py import SgNode

__all__ = ["Flow", "TooBigError", "find_flows", "flows_of"]

MOST_SPENT = 400_000
DEEPEST_CALLS = 12
CONSTRUCTORS = ("__init__", "constructor", "initialize", "init", "__construct", "new")
OWN = ("self", "this", "cls", "static", "super", "Self")
LONGEST_PATH = 5


@dataclass(frozen=True, slots=True)
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


def find_flows(root: "SgNode", language: str, text: str, tables: Tables) -> list[Flow]:
    """Return the flows of a file by line, one for each kind and sink.

    Raises TooBigError if the file is too big to be followed.
    """
    return _File(root, language, text, tables).flows()


def flows_of(trees: Trees, language: str, text: str, tables: Tables) -> list[Flow]:
    """Return the same, found once for all who ask while the tree of the text is kept. Raises TooBigError."""
    return trees.derive(
        ("flows", tables),
        language,
        text,
        lambda root: find_flows(root, language, text, tables),
    )


class _File:
    def __init__(self, root: "SgNode", language: str, text: str, tables: Tables) -> None:
        self.tables = tables
        self.text = text
        self._lines = text.split("\n")
        self.imports: Mapping[str, str] = imports_of(root, language, text)
        self.implicit_self = language_named(language).implicit_self
        self.globals: set[str] = set()
        self._main, functions = lower(root, language, text)
        self._functions: dict[str, list[FlowFunction]] = {}
        for function in functions:
            self._functions.setdefault(function.name, []).append(function)
        self._classes = {function.owner for function in functions if function.owner}
        self._summaries: dict[int, Summary | None] = {}
        self._fields: dict[str, Value] = {}
        self._handlers = [
            e
            for e in tables.entries
            if e.section == "source" and e.patterns.keys() & PARAMETERS
        ]
        self._steps = self._depth = 0

    def spend(self, steps: int = 1) -> None:
        self._steps += steps
        if self._steps > MOST_SPENT:
            raise TooBigError

    def flows(self) -> list[Flow]:
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

    def _flow(self, sink: Reached, taint: Taint) -> Flow | None:
        if not taint.harms(sink.entry):
            return None
        line_text = self._lines[sink.line - 1].strip()[:120]
        steps = [*taint.steps, (sink.line, line_text)]
        steps = list(dict(steps).items())
        if len(steps) > LONGEST_PATH:
            steps = [*steps[:2], *steps[-(LONGEST_PATH - 2) :]]
        name = dotted_name(sink.node)
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
            for stored in self._fields.get(taint.origin.name, CLEAN):
                yield from self._sources(stored.lead_to(taint), depth + 1)

    def store(self, name: str, value: Value) -> None:
        self._fields[name] = union((self._fields.get(name, CLEAN), value))

    def _keep(self, summary: Summary) -> None:
        for name, taint in summary.stored:
            if taint.origin.kind != "parameter":
                self.store(name, (taint,))

    def summary(
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
        if last.startswith("new ") or (not of and last in self._classes):
            wanted = last.removeprefix("new ")
            made = [
                f
                for each in (*CONSTRUCTORS, wanted)
                for f in self._functions.get(each, ())
                if f.owner == wanted
            ]
            return made[0] if made else None
        candidates = self._functions.get(last, [])
        if not candidates:
            return None
        of = of.removeprefix("new ").rsplit(".", 1)[-1]
        if of in OWN:
            of = owner
        if of:
            candidates = (
                [f for f in candidates if f.owner == of] if of in self._classes else []
            )
        elif any(f.owner == owner for f in candidates):
            candidates = [f for f in candidates if f.owner == owner]
        return candidates[0] if candidates else None

    def walk_function(
        self, function: FlowFunction, scope: FlowScope, given: Value, called: str
    ) -> Summary:
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


PARAMETERS = {"handlers", "parameters"}
NOT_YET = Summary()
