"""A node of a tree with what is around it: its unit, the keys that it stands below, its name, key and arguments."""

import re
from functools import cached_property
from typing import TYPE_CHECKING

from cli_guard.code.changes.facts import CodeFact, FactKind, fold
from cli_guard.code.changes.kinds import SourceTree
from cli_guard.code.changes.naming import (
    callee_name,
    declared_name,
    join_names,
    write_dotted,
)
from cli_guard.code.taint.tree_reader import field_of
from cli_guard.lazy import dataclass

if TYPE_CHECKING:
    from ast_grep_py import SgNode

NAME_FIELDS = ("name", "declarator")
# Around one argument of a call.
AROUND_ONE = ("value_argument", "argument")
# `headers["X-Frame-Options"] = "DENY"`
SUBSCRIPT = re.compile(r"\[[\"']([\w-]+)[\"']\]")
KEY_FIELDS = ("key", "left", "name", "field", "pattern", "declarator")


@dataclass
class ReadNode:
    """A node, with what is around it: the dotted names of its units and of the keys of a setting."""

    node: "SgNode"
    tree: SourceTree
    unit: str = ""
    path: str = ""

    def __post_init__(self) -> None:
        span = self.node.range()
        self.kind = self.node.kind()
        self.kinds = self.tree.kinds
        self.shape = self.kinds.shapes.get(self.kind, "group")
        self.start = span.start.index
        self.end = span.end.index
        self.first = span.start.line + 1
        self.last = span.end.line + 1
        if span.end.column == 0 and self.last > self.first:
            self.last -= 1

    @property
    def source(self) -> str:
        return self.tree.text[self.start : self.end]

    @cached_property
    def arguments(self) -> "SgNode | None":
        """The arguments of a call."""
        given = self.node.field("arguments")
        if given is not None:
            return given
        children = self.node.children()
        return next(
            (each for each in children if each.kind() in self.kinds.arguments), None
        )

    @cached_property
    def given(self) -> "list[SgNode]":
        """What a call is given, without the nodes that some grammars put around all of it, or around each."""
        waiting = [self.arguments] if self.arguments is not None else []
        found: list[SgNode] = []
        while waiting:
            each = waiting.pop(0)
            inner = [e for e in each.named_children() if "comment" not in e.kind()]
            is_around = each.kind() in self.kinds.arguments or (
                each.kind() in AROUND_ONE and len(inner) == 1
            )
            if is_around:
                waiting = [*inner, *waiting]
            else:
                found.append(each)
        return found

    @cached_property
    def name(self) -> str:
        """The name of a function or class, "" for one without."""
        if self.shape not in ("function", "class"):
            return ""
        named = field_of(self.node, NAME_FIELDS)
        while named is not None and (inner := named.field("declarator")) is not None:
            named = inner
        if named is None:
            words = ("identifier", "simple_identifier", "type_identifier")
            named = next((n for n in self.node.children() if n.kind() in words), None)
        # `[ENSURE_INSIDE](path) { … }`
        return fold(self.tree.source(named)).strip("[]")[:100]

    @cached_property
    def inner_unit(self) -> str:
        return join_names(self.unit, self.name) if self.name else self.unit

    @cached_property
    def key(self) -> str:
        """The key of an option or the target of an assignment, "" for none."""
        named = field_of(self.node, KEY_FIELDS)
        inner = [] if named is not None else self.node.named_children()
        # A block of Terraform has its key first, and its labels behind it; Kotlin has `val` before its name.
        if len(inner) > 1:
            is_declared = inner[0].kind() == "binding_pattern_kind"
            named = declared_name(inner[1]) or inner[1] if is_declared else inner[0]
        # `value, err := f()` binds the value.
        first = SUBSCRIPT.sub(r".\1", self.tree.source(named).partition(",")[0])
        return write_dotted(first.strip("\"'`:@ "))

    @property
    def inner_path(self) -> str:
        if self.kind in self.kinds.nested and self.key:
            return join_names(self.path, self.key)
        return self.path

    def fact(self, kind: FactKind, name: str, detail: str = "") -> CodeFact:
        return CodeFact(
            kind, fold(name), fold(detail), self.first, self.last, self.inner_unit
        )


def call_name(place: ReadNode) -> str:
    """Return the name that a call is written with."""
    given = place.arguments
    behind = given if given is not None else place.node.field("block")
    end = behind.range().start.index if behind is not None else place.end
    return callee_name(place.tree.text[place.start : end])
