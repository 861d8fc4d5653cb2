"""Which Python classes belong together: what a base class means, and the family a method is shared in."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.python_modules import DEEPEST
from cli_guard.assistant.editing.python_names import MODULE, Occurrence, Scope, span
from cli_guard.assistant.editing.python_rename import Python

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# Bases that a method can be added to or taken from without a word: they define none of a user's names.
PLAIN_BASES = frozenset(
    "object ABC Protocol Generic NamedTuple TypedDict Enum StrEnum IntEnum Exception".split()
)
MOST_CLASSES = 2_000


@dataclass(frozen=True, slots=True)
class ClassKey:
    """A class of the repository: its file, where it begins, and its name."""

    path: str
    start: int
    name: str


@dataclass(frozen=True, slots=True)
class Family:
    """The classes that share a method, and the bases of theirs that are not of this repository."""

    members: frozenset[ClassKey]
    outside: tuple[str, ...]


class Classes:
    """The classes of a repository, read as they are asked for."""

    def __init__(self, python: Python) -> None:
        self.python = python
        self._nodes: dict[ClassKey, SgNode] = {}

    def at(self, path: str, scope: Scope) -> ClassKey:
        """The class of a class scope."""
        return ClassKey(path, scope.start, scope.name)

    def node(self, key: ClassKey) -> "SgNode | None":
        """The syntax of a class."""
        if key not in self._nodes:
            for occurrence in self.python.names.of(key.path, key.name):
                parent = occurrence.node.parent()
                if occurrence.role == "definition" and parent is not None and span(parent)[0] == key.start:
                    self._nodes[key] = parent
        return self._nodes.get(key)

    def named(self, path: str, node: "SgNode", deep: int = 0) -> ClassKey | None:
        """The class that an expression means; None for what is not a class of this repository."""
        if deep > DEEPEST:
            return None
        kind = node.kind()
        if kind == "subscript":
            value = node.field("value")
            return self.named(path, value, deep + 1) if value is not None else None
        if kind == "type" and len(node.named_children()) == 1:
            return self.named(path, node.named_children()[0], deep + 1)
        if kind == "string" and len(node.text()) < 200:
            return self._lookup(path, node.text().strip("'\""), deep + 1)
        if kind == "attribute":
            inner, last = node.field("object"), node.field("attribute")
            module = self.python.modules.module_of(path, inner) if inner is not None else None
            return self._lookup(module, last.text(), deep + 1) if module and last is not None else None
        if kind != "identifier":
            return None
        name, homes = node.text(), self.python.names.homes(path, node.text())
        here = next((o for o in self.python.names.of(path, name) if o.start == span(node)[0]), None)
        home = homes.home(here) if here is not None else None
        return self._bound(path, name, home, deep) if home is not None else self._by_star(path, name, deep)

    def _lookup(self, path: str, name: str, deep: int) -> ClassKey | None:
        if deep > DEEPEST or not name.isidentifier():
            return None
        return self._bound(path, name, MODULE, deep) or self._by_star(path, name, deep)

    def _by_star(self, path: str, name: str, deep: int) -> ClassKey | None:
        found = (self._lookup(module, name, deep + 1) for module in self.python.modules.star_imports(path))
        return next((each for each in found if each is not None), None)

    def _bound(self, path: str, name: str, home: Scope, deep: int) -> ClassKey | None:
        homes = self.python.names.homes(path, name)
        for occurrence in self.python.names.of(path, name):
            if homes.home(occurrence) != home:
                continue
            parent = occurrence.node.parent()
            if occurrence.role == "definition" and parent is not None and parent.kind() == "class_definition":
                return ClassKey(path, span(parent)[0], name)
            source = self.python.modules.source_of(occurrence)
            if source is not None and source.module is not None:
                found = self._lookup(source.module, source.name, deep + 1)
                if found is not None:
                    return found
        return None

    def bases(self, key: ClassKey) -> Iterator[tuple[str, ClassKey | None]]:
        """The bases of a class: the text, and the class it means if that is one of this repository."""
        node = self.node(key)
        around = node.field("superclasses") if node is not None else None
        for base in around.named_children() if around is not None else ():
            if base.kind() not in ("keyword_argument", "comment"):
                yield base.text(), self.named(key.path, base)

    def family(self, key: ClassKey, member: str) -> Family:
        """The classes that share a member with `key`: the ancestors that define it, and all that come from these."""
        outside: set[str] = set()
        ancestors, waiting = {key}, [key]
        while waiting and len(ancestors) < MOST_CLASSES:
            for text, base in self.bases(waiting.pop()):
                if base is None:
                    if text.split("[")[0].rpartition(".")[2] not in PLAIN_BASES:
                        outside.add(text)
                elif base not in ancestors:
                    ancestors.add(base)
                    waiting.append(base)
        roots = {each for each in ancestors if each == key or self.defines(each, member)}
        members, waiting = set(roots), sorted(roots, key=str)
        while waiting and len(members) < MOST_CLASSES:
            for child in self.children(waiting.pop()):
                if child not in members:
                    members.add(child)
                    waiting.append(child)
        return Family(frozenset(members), tuple(sorted(outside)))

    def lineage(self, key: ClassKey) -> Iterator[ClassKey]:
        """A class and its ancestors in this repository."""
        seen, waiting = {key}, [key]
        while waiting and len(seen) < MOST_CLASSES:
            each = waiting.pop()
            yield each
            for _, base in self.bases(each):
                if base is not None and base not in seen:
                    seen.add(base)
                    waiting.append(base)

    def children(self, key: ClassKey) -> Iterator[ClassKey]:
        """The classes of the repository that name `key` as a base."""
        for path in self.python.sources.mentioning(key.name, "python"):
            for occurrence in self.python.names.of(path, key.name):
                around = occurrence.node.parent()
                for _ in range(3):
                    if around is None or around.kind() == "argument_list":
                        break
                    around = around.parent()
                owner = around.parent() if around is not None and around.kind() == "argument_list" else None
                if owner is None or owner.kind() != "class_definition":
                    continue
                name = owner.field("name")
                child = ClassKey(path, span(owner)[0], name.text() if name is not None else "")
                if any(base == key for _, base in self.bases(child)):
                    yield child

    def defines(self, key: ClassKey, member: str) -> bool:
        """Does the body of a class bind the member, or a method of it set it on `self`?"""
        return any(class_of(o) == key for o in self.definitions(key.path, member))

    def definitions(self, path: str, member: str) -> Iterator[Occurrence]:
        """Where classes of a file define a member: in their body, or as an attribute that a method sets."""
        for occurrence in self.python.names.of(path, member):
            if occurrence.role in ("definition", "binding", "import"):
                if occurrence.scopes[0].kind == "class":
                    yield occurrence
            elif is_own_target(occurrence):
                yield occurrence


def class_of(occurrence: Occurrence) -> ClassKey | None:
    """The class that a place is in the body or in a method of."""
    scope = next((s for s in occurrence.scopes if s.kind == "class"), None)
    return ClassKey(occurrence.path, scope.start, scope.name) if scope is not None else None


def is_own_target(occurrence: Occurrence) -> bool:
    """Is it `self.name = ...`?"""
    if occurrence.role != "attribute" or not is_own(occurrence):
        return False
    node = occurrence.node.parent()
    above = node.parent() if node is not None else None
    while above is not None and above.kind() in ("pattern_list", "tuple_pattern", "list_pattern"):
        node, above = above, above.parent()
    if (
        above is None
        or node is None
        or above.kind() not in ("assignment", "augmented_assignment", "for_statement")
    ):
        return False
    left = above.field("left")
    return left is not None and span(left) == span(node)


def is_own(occurrence: Occurrence) -> bool:
    """Is it an attribute of the first parameter of the method around it, or of super()?"""
    parent = occurrence.node.parent()
    inner = parent.field("object") if parent is not None else None
    if inner is None:
        return False
    text = inner.text() if len(inner.text()) < 100 else ""
    if text.startswith("super("):
        return True
    at = next((n for n, s in enumerate(occurrence.scopes) if s.kind == "class"), 0)
    if at == 0 or inner.kind() != "identifier":
        return False
    return text == first_parameter(occurrence.node, occurrence.scopes[at - 1])


def first_parameter(node: "SgNode", method: Scope) -> str | None:
    """The name of the first parameter of a method; None for a static one."""
    around: SgNode | None = node
    while around is not None and not (
        span(around) == (method.start, method.end) and around.kind() != "block"
    ):
        around = around.parent()
    if around is None or around.kind() != "function_definition":
        return None
    above = around.parent()
    if above is not None and above.kind() == "decorated_definition":
        marks = (c.text() for c in above.children() if c.kind() == "decorator")
        if "@staticmethod" in marks:
            return None
    parameters = around.field("parameters")
    first = next(iter(parameters.named_children()), None) if parameters is not None else None
    while first is not None and first.kind() in (
        "typed_parameter",
        "default_parameter",
        "typed_default_parameter",
    ):
        first = next(iter(first.named_children()), None)
    return first.text() if first is not None and first.kind() == "identifier" else None
