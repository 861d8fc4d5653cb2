"""Each place in a Python file where one name stands, what it does there, and which scope it belongs to.

All bindings of a name are places of that name, so the scopes of one name are found from its own places alone
(https://docs.python.org/3/reference/executionmodel.html#naming-and-binding).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cli_guard.assistant.editing.model import Place
from cli_guard.assistant.editing.python_roles import (
    BINDS,
    PARAMETER_LISTS,
    Role,
    is_field,
    parameter_name,
    role_of,
    span,
)
from cli_guard.assistant.editing.sources import Sources

if TYPE_CHECKING:
    from ast_grep_py import SgNode

__all__ = ["BINDS", "MODULE", "Homes", "Names", "Occurrence", "PythonNames", "Scope", "span"]

COMPREHENSIONS = frozenset(
    {"list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"}
)
# Ways up from a name to the root that one file is worth; a file nested to no purpose goes beyond.
MOST_STEPS = 500_000
# What a type in a string is made of.
TYPE_TEXT = re.compile(r"[\w.,\[\]\s|]{1,500}")
LITERAL = re.compile(r"(?:\w+\.)*(?:Literal|Annotated)\s*\[")
IDENTIFIER = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of a file with names of its own."""

    kind: Literal["module", "class", "function", "comprehension"]
    start: int
    end: int
    name: str = ""


MODULE = Scope("module", 0, 0)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One place of a name; `scopes` from the innermost to the module."""

    path: str
    name: str
    start: int
    end: int
    role: Role
    scopes: tuple[Scope, ...]
    node: "SgNode"

    @property
    def called(self) -> bool:
        """Is it what a call calls?"""
        node, parent = self.node, self.node.parent()
        if parent is not None and parent.kind() == "attribute":
            node, parent = parent, parent.parent()
        return parent is not None and parent.kind() == "call" and is_field(parent, "function", node)


class Names:
    """The places of names in the files of one family of languages, found once a file and name."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._found: dict[tuple[str, str], tuple[Occurrence, ...]] = {}
        self._homes: dict[tuple[str, str], Homes] = {}

    def of(self, path: str, name: str) -> tuple[Occurrence, ...]:
        """All places of a name in a file, in order; none if the file cannot be read as Python."""
        key = (path, name)
        if key not in self._found:
            self._found[key] = tuple(self._find(path, name))
        return self._found[key]

    def homes(self, path: str, name: str) -> "Homes":
        """Which scope each place of a name in a file belongs to."""
        key = (path, name)
        if key not in self._homes:
            self._homes[key] = Homes(self.of(path, name))
        return self._homes[key]

    def place(self, occurrence: Occurrence, reason: str) -> Place:
        """A place as (path, line, reason)."""
        return occurrence.path, self.sources.line(occurrence.path, occurrence.start), reason

    def _find(self, path: str, name: str) -> Iterator[Occurrence]:
        raise NotImplementedError


class PythonNames(Names):
    """The places of names in Python files."""

    def _find(self, path: str, name: str) -> Iterator[Occurrence]:
        sources = self.sources
        if name not in sources.texts[path] or not IDENTIFIER.fullmatch(name) or not sources.in_time(path):
            return
        root = sources.root(path)
        if root is None or sources.language(path) != "python":
            return
        steps = 0
        for node in sources.bounded(path, root.find_all(kind="identifier", regex=f"^{name}$")):
            scopes, climbed = scopes_of(node)
            steps += climbed
            if steps > MOST_STEPS:
                sources.skip(path, "nested too deeply to tell the scopes of its names apart")
                return
            start, end = span(node)
            role = role_of(node)
            if (
                role in ("import", "binding", "definition")
                and scopes[0].kind == "comprehension"
                and walrus(node)
            ):
                scopes = tuple(s for s in scopes if s.kind != "comprehension")
            yield Occurrence(path, name, start, end, role, scopes, node)
        yield from self._quoted(path, root, name)

    def _quoted(self, path: str, root: "SgNode", name: str) -> Iterator[Occurrence]:
        """The places of a name in annotations that are written as strings."""
        pattern = re.compile(rf"(?<![\w.]){name}(?!\w)")
        strings = root.find_all(kind="string_content", regex=rf"(^|[^\w.]){name}($|\W)")
        for node in self.sources.bounded(path, strings):
            text = node.text()
            if not TYPE_TEXT.fullmatch(text) or not is_annotation(node):
                continue
            scopes, _ = scopes_of(node)
            for match in pattern.finditer(text):
                start = span(node)[0] + match.start()
                yield Occurrence(path, name, start, start + len(name), "read", scopes, node)


def is_annotation(node: "SgNode") -> bool:
    """Is a string a type: in an annotation, but not in Literal, or what cast, bound= or TypeVar are handed?"""
    child, around, typed = node, node.parent(), False
    for _ in range(12):
        if around is None:
            return typed
        kind = around.kind()
        if kind in ("subscript", "generic_type") and LITERAL.match(around.text()[:80]):
            return False
        # The types inside of a generic one are types too: what is around them may still be Literal.
        typed = typed or kind == "type"
        if typed and kind not in (
            "type",
            "type_parameter",
            "generic_type",
            "subscript",
            "union_type",
            "binary_operator",
        ):
            return True
        if kind == "keyword_argument" and around.text().startswith("bound"):
            return True
        if kind == "call":
            called = around.field("function")
            name = called.text().rpartition(".")[2] if called is not None else ""
            inside = child.named_children()
            first = bool(inside) and span(inside[0])[0] <= span(node)[0] < span(inside[0])[1]
            return (name == "cast" and first) or (name in ("TypeVar", "NewType", "ForwardRef") and not first)
        if kind == "assignment":
            declared = around.field("type")
            return declared is not None and declared.text().endswith("TypeAlias")
        if kind in ("block", "module", "dictionary"):
            return False
        child, around = around, around.parent()
    return typed


def walrus(node: "SgNode") -> bool:
    """Is it the target of `:=`, which binds outside of a comprehension?"""
    parent = node.parent()
    return parent is not None and parent.kind() == "named_expression"


def scopes_of(node: "SgNode") -> tuple[tuple[Scope, ...], int]:
    """The scopes around a name, and how many nodes were passed on the way up."""
    found: list[Scope] = []
    child, parent, steps = node, node.parent(), 0
    inside_parameter: SgNode | None = None
    while parent is not None:
        steps += 1
        kind = parent.kind()
        if kind in PARAMETER_LISTS:
            inside_parameter = child
        elif kind == "function_definition" or kind == "lambda":
            own = is_field(parent, "body", child) or child.kind() == "type_parameter"
            if child.kind() in PARAMETER_LISTS and inside_parameter is not None:
                own = parameter_name(inside_parameter, node)
            if own:
                found.append(Scope("function", *span(parent), name_of(parent)))
        elif kind == "class_definition":
            if is_field(parent, "body", child) or child.kind() == "type_parameter":
                found.append(Scope("class", *span(parent), name_of(parent)))
        elif kind in COMPREHENSIONS:
            if not (child.kind() == "for_in_clause" and is_first_iterable(parent, child, node)):
                found.append(Scope("comprehension", *span(parent)))
        elif kind == "module" and parent.parent() is None:
            found.append(MODULE)
        child, parent = parent, parent.parent()
    return (tuple(found) if found and found[-1].kind == "module" else (*found, MODULE)), steps


def is_first_iterable(comprehension: "SgNode", clause: "SgNode", node: "SgNode") -> bool:
    """Is a name in what the first `for` of a comprehension goes over? That is read outside of it."""
    first = next((c for c in comprehension.children() if c.kind() == "for_in_clause"), None)
    right = clause.field("right")
    if first is None or right is None or span(first) != span(clause):
        return False
    start, end = span(right)
    return start <= span(node)[0] < end


def name_of(node: "SgNode") -> str:
    """The name of a function or class, "" for a lambda."""
    found = node.field("name")
    return found.text() if found is not None else ""


class Homes:
    """The scope that binds each place of one name in one file."""

    def __init__(self, found: tuple[Occurrence, ...]) -> None:
        self._global = {o.scopes[0] for o in found if o.role == "global"}
        self._nonlocal = {o.scopes[0] for o in found if o.role == "nonlocal"}
        redirected = self._global | self._nonlocal
        self.bound = {o.scopes[0] for o in found if o.role in BINDS} - redirected
        if any(o.role in BINDS and o.scopes[0] in self._global for o in found):
            self.bound.add(MODULE)

    def home(self, occurrence: Occurrence) -> Scope | None:
        """The scope a place belongs to; None for a name bound nowhere here, and for no name of a scope at all."""
        if occurrence.role in ("attribute", "keyword", "imported", "module"):
            return None
        for number, scope in enumerate(occurrence.scopes):
            if scope in self._global:
                return occurrence.scopes[-1] if occurrence.scopes[-1] in self.bound else None
            if scope.kind == "class" and number:
                continue
            if scope in self.bound:
                return scope
        return None
