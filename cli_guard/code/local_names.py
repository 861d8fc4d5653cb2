"""The local names of a function in TypeScript, Go, Java or Rust: where each is bound, read and written, its type."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from cli_guard.code.symbols.nesting import squeeze
from cli_guard.rules.catalog import read_table

if TYPE_CHECKING:
    from ast_grep_py import SgNode

NAMES = frozenset(
    {"identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"}
)
# Identifiers in these fields name a member, not a variable.
MEMBERS = {"method_invocation": "name", "field_access": "field"}
# A name is visible from the end of these on, not yet in its own value.
LATE = frozenset(
    "variable_declarator short_var_declaration var_spec let_declaration range_clause".split()
)
CAPTURE = re.compile(r"\{([a-z_]\w*)")
MOST_NAMES = 3_000
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Bind:
    """A name bound at the index `at` by the node `declared`, visible from `start` in `scope`.

    `type` is as the source writes it, empty if the source does not.
    """

    name: str
    at: int
    start: int
    scope: Span
    type: str
    declared: "SgNode"


@cache
def table_of(language: str) -> Mapping[str, Any]:
    """Return the table of a language in rules/languages/blocks.toml; lists of kinds as sets."""
    raw = read_table("languages/blocks.toml")
    language = {"tsx": "typescript"}.get(language, language)
    table = {**raw.get(raw[language].get("like", ""), {}), **raw[language]}
    lists = "containers scopes binders declares writes nested loops targets refused returns".split()
    return {**table, **{name: frozenset(table[name].split()) for name in lists}}


def span_of(node: "SgNode") -> Span:
    span = node.range()
    return span.start.index, span.end.index


def within(inner: Span, outer: Span) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


class LocalNames:
    """Every local name of one function, found in one walk; none of a function that mentions more than MOST_NAMES.

    `uses` pairs the index of each mention with what it refers to, `writes` are the indexes of those that are assigned,
    `spans` those of nested functions, loops and targets of `break`, `marks` the nodes that matter when lines move.
    """

    def __init__(self, language: str, function: "SgNode") -> None:
        self.table = table_of(language)
        self.whole = span_of(function)
        self.text = function.text()
        self.binds: dict[str, list[Bind]] = {}
        self.containers: list[SgNode] = []
        self.writes: set[int] = set()
        self.spans: dict[str, list[Span]] = {"nested": [], "loops": [], "targets": []}
        self.marks: list[tuple[str, Span, str]] = []
        self._names: list[tuple[int, str]] = []
        self._walk(function)
        names = self._names if len(self._names) <= MOST_NAMES else []
        resolved = ((at, self._resolve(at, name)) for at, name in names)
        self.uses = [(at, bind) for at, bind in resolved if bind is not None]

    def is_own(self, where: Span, run: Span) -> bool:
        """Return whether a node in a run belongs to no nested function of the run."""
        return not any(
            within(where, nested) and within(nested, run) for nested in self.spans["nested"]
        )

    def has_own(self, kind: str, run: Span) -> bool:
        marks = (
            where for each, where, _ in self.marks if each == kind and within(where, run)
        )
        return any(self.is_own(where, run) for where in marks)

    def _walk(self, function: "SgNode") -> None:
        table = self.table
        members = set()
        marked = {
            *table["refused"],
            *table["returns"],
            "await_expression",
            "this",
            "self",
            "throw_statement",
        }
        stack = [(function, self.whole)]
        while stack:
            node, scope = stack.pop()
            kind = node.kind()
            span = span_of(node)
            inner = span if kind in table["scopes"] else scope
            for name, found in self.spans.items():
                if kind in table[name] and span != self.whole:
                    found.append(span)
            if kind in table["containers"]:
                self.containers.append(node)
            self._bind(
                node,
                kind,
                scope
                if kind.endswith(("function_declaration", "class_declaration"))
                else inner,
            )
            for target in self._fields(node, kind, "writes"):
                parts = (
                    target.named_children()
                    if target.kind() in ("expression_list", kind)
                    else [target]
                )
                self.writes.update(
                    span_of(part)[0] for part in parts if part.kind() in NAMES
                )
            if kind in MEMBERS and (member := node.field(MEMBERS[kind])) is not None:
                members.add(span_of(member)[0])
            if kind in NAMES and span[0] not in members:
                self._names.append((span[0], node.text()))
            elif kind == "string_content":
                self._names += [
                    (span[0] + m.start(), m[1]) for m in CAPTURE.finditer(node.text())
                ]
            elif kind in marked or kind.startswith(("break_", "continue_")):
                self.marks.append((kind, span, node.text()))
            stack += [(child, inner) for child in reversed(node.children())]

    def _fields(self, node: "SgNode", kind: str, what: str) -> Iterator["SgNode"]:
        """Yield the nodes in the fields that the table lists for a kind, the node itself if it lists none."""
        for each in self.table[what]:
            name, _, field = each.partition(":")
            if name == kind:
                yield from node.field_children(field) if field else (node,)

    def _bind(self, node: "SgNode", kind: str, scope: Span) -> None:
        if span_of(node) == self.whole:
            return  # the function's own name
        found = [
            name
            for part in self._fields(node, kind, "binders")
            for name in _identifiers(part)
        ]
        types = self._types(node, kind, [n.text() for n in found]) if found else []
        for name, type_ in zip(found, types, strict=True):
            if kind in ("match_arm", "let_condition") and name.text()[0].isupper():
                continue  # a constant of a pattern
            at = span_of(name)[0]
            start = span_of(node)[1] if kind in LATE else at
            self.binds.setdefault(name.text(), []).append(
                Bind(name.text(), at, start, scope, type_, node)
            )

    def _types(self, node: "SgNode", kind: str, names: list[str]) -> list[str]:
        """Return the types of the names that one node binds, as far as the text says them."""
        unknown = [
            "error" if name == "err" and kind == "short_var_declaration" else ""
            for name in names
        ]
        parent = node.parent()
        holder = node.field("type")
        if holder is None and kind == "variable_declarator" and parent is not None:
            holder = parent.field("type")
        if holder is not None:
            text = squeeze(holder.text().lstrip(": "))
            name = node.field("pattern") or node.field("name") or node
            odd = (
                node.field("dimensions") is not None
                or text == "var"
                or name.kind().endswith("_pattern")
            )
            return (
                unknown
                if odd
                else [f"[]{text}" if kind.startswith("variadic") else text] * len(names)
            )
        value = node.field("value") or node.field("right")
        text = squeeze(value.text()) if value is not None else ""
        if kind in ("range_clause", "for_in_statement"):
            over = self.binds[text][-1].type if text in self.binds else ""
            match = re.fullmatch(r"\[\](.+)|map\[(\w+)\](.+)|([\w.]+)\[\]", over)
            found = [part for part in match.groups() if part] if match else []
            found = ["int", *found] if kind == "range_clause" and len(found) == 1 else found
            return found[: len(names)] if len(found) >= len(names) else unknown
        matches = (
            pattern and re.match(pattern, text) for pattern, _ in self.table["values"]
        )
        told = (
            match.expand(kind)
            for match, (_, kind) in zip(matches, self.table["values"], strict=True)
            if match
        )
        return [next(told, unknown[0])] if len(names) == 1 else unknown

    def _resolve(self, at: int, name: str) -> Bind | None:
        visible = (
            bind
            for bind in self.binds.get(name, ())
            if bind.at == at or (bind.start <= at and bind.scope[0] <= at < bind.scope[1])
        )
        return min(
            visible,
            key=lambda b: (b.at != at, b.scope[1] - b.scope[0], -b.start),
            default=None,
        )


def _identifiers(node: "SgNode") -> Iterator["SgNode"]:
    todo = [node]
    while todo:
        part = todo.pop()
        if part.kind() in NAMES:
            yield part
        todo += reversed(part.children())
