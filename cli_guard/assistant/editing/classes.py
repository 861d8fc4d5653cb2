"""Python classes: what a base class means, the family a member is shared in, and whose `object.name` is."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.modules import DEEPEST, Python
from cli_guard.assistant.editing.names import MODULE, Occurrence, last_name, role_of
from cli_guard.lazy import frozen

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# Bases that a method can be added to or taken from without a word: they define none of a user's names.
PLAIN_BASES = frozenset(
    "object ABC Protocol Generic NamedTuple TypedDict Enum StrEnum IntEnum Exception".split()
)
# What objects of the language's own types answer to: a name that is unique in a repository is not unique there.
COMMON_MEMBERS = frozenset(
    name
    for each in (str, bytes, list, dict, set, tuple, int, float, Exception)
    for name in dir(each)
) | frozenset(
    "read write close open seek flush readline readlines name path parent run start stop send recv put get_nowait "
    "join wait acquire release result done cancel submit group groups match search sub findall info debug warning "
    "error exception critical log year month day hour minute second now today strftime execute fetchone fetchall "
    "commit rollback cursor connect text content status_code headers url params data args kwargs".split()
)
MOST_CLASSES = 2_000
# Values that are none of a user's classes.
PLAIN_VALUES = frozenset(
    "string concatenated_string integer float true false none ellipsis list dictionary set tuple".split()
)


@frozen
class ClassKey:
    """A class of the repository: its file, where it begins, and its name."""

    path: str
    start: int
    name: str


@frozen
class Family:
    """The classes that share a member, and the bases of theirs that are not of this repository."""

    members: frozenset[ClassKey]
    outside: tuple[str, ...]


@frozen
class Classes:
    """The classes of a repository, read as they are asked for."""

    python: Python

    def find_class(
        self, path: str, node: "SgNode | None", deep: int = 0
    ) -> ClassKey | None:
        """Return the class that an expression means; None for what is not a class of this repository."""
        kind = node.kind() if node else ""
        if not node or deep > DEEPEST:
            return None
        if kind in ("subscript", "generic_type", "type"):
            return self.find_class(path, node.child(0), deep + 1)
        if kind == "string":
            return self._look_up(path, node.text().strip("'\""), deep)
        if kind == "attribute":
            owner = node.field("object")
            module = self.python.module_of(path, owner) if owner else None
            return self._look_up(module, last_name(node), deep) if module else None
        if kind != "identifier":
            return None
        binders = self.python.binders(path, node)
        return (
            self._of(binders, deep) if binders else self._by_star(path, node.text(), deep)
        )

    def _look_up(self, path: str, name: str, deep: int) -> ClassKey | None:
        if deep > DEEPEST or not name.isidentifier():
            return None
        binders = self.python.places_of_home(path, name, MODULE)
        return self._of(binders, deep) or self._by_star(path, name, deep)

    def _by_star(self, path: str, name: str, deep: int) -> ClassKey | None:
        found = (
            self._look_up(module, name, deep + 1)
            for module in self.python.star_imports(path)
        )
        return next((each for each in found if each), None)

    def _of(self, binders: list[Occurrence], deep: int) -> ClassKey | None:
        for each in binders:
            if each.is_class:
                return key_of(each)
            module = self.python.source_of(each) if each.role == "import" else None
            found = self._look_up(module, each.member, deep + 1) if module else None
            if found:
                return found
        return None

    def bases(self, key: ClassKey) -> Iterator[tuple[str, ClassKey | None]]:
        for definition in self.python.file(key.path).classes:
            for base in named_bases(definition) if key_of(definition) == key else ():
                yield base.text(), self.find_class(key.path, base)

    def lineage(self, key: ClassKey) -> Iterator[ClassKey]:
        """Yield a class and its ancestors in this repository."""
        seen = {key}
        waiting = [key]
        while waiting and len(seen) < MOST_CLASSES:
            each = waiting.pop()
            yield each
            new = [base for _, base in self.bases(each) if base and base not in seen]
            seen.update(new)
            waiting += new

    def children(self, key: ClassKey) -> Iterator[ClassKey]:
        """Yield the classes of the repository that name `key` as a base."""
        for path in self.python.mentioning(key.name):
            for definition in self.python.file(path).classes:
                child = key_of(definition)
                is_named = any(key.name in base.text() for base in named_bases(definition))
                if is_named and any(base == key for _, base in self.bases(child)):
                    yield child

    def family(self, key: ClassKey, member: str) -> Family:
        """Return the classes that share a member with `key`: ancestors that define it, and all below these."""
        ancestors = set(self.lineage(key))
        outside = {
            text
            for each in ancestors
            for text, base in self.bases(each)
            if not base and text.split("[")[0].rpartition(".")[2] not in PLAIN_BASES
        }
        members = {each for each in ancestors if each == key or self.defines(each, member)}
        waiting = sorted(members, key=str)
        while waiting and len(members) < MOST_CLASSES:
            new = [child for child in self.children(waiting.pop()) if child not in members]
            members.update(new)
            waiting += new
        return Family(frozenset(members), tuple(sorted(outside)))

    def defines(self, key: ClassKey, member: str) -> bool:
        """Return whether a class binds the member in its body, or sets it on `self`."""
        return any(class_around(o) == key for o in self.definitions(key.path, member))

    def definitions(self, path: str, member: str) -> Iterator[Occurrence]:
        """Yield where classes of a file define a member: in their body, or as an attribute that a method sets."""
        for each in self.python.places(path, member):
            in_body = (
                each.role in ("definition", "binding", "import")
                and each.scopes[0].kind == "class"
            )
            is_set = each.role == "attribute" and is_set_here(each)
            if in_body or (is_set and self.is_own(each)):
                yield each

    def is_own(self, occurrence: Occurrence) -> bool:
        """Return whether it is an attribute of the first parameter of its method, or of super()."""
        owner = occurrence.parent.field("object")
        if not owner or occurrence.role != "attribute":
            return False
        if owner.kind() == "call":
            return last_name(owner.field("function")) == "super"
        at = next((n for n, s in enumerate(occurrence.scopes) if s.kind == "class"), 0)
        return (
            bool(at)
            and owner.kind() == "identifier"
            and occurrence.scopes[at - 1].first == owner.text()
        )

    # Members

    def member_places(
        self, family: Family, name: str
    ) -> tuple[list[Occurrence], list[Occurrence], bool]:
        """Return the places of a member that are surely of the family, those that may be, and if its name is unique."""
        sure = []
        unsure = []
        is_unique = name not in COMMON_MEMBERS
        for path in self.python.mentioning(name):
            for each in self.python.places(path, name):
                if each.role == "attribute":
                    verdict = self.is_of_family(family, each)
                    if verdict is None:
                        unsure.append(each)
                    elif verdict:
                        sure.append(each)
                    continue
                home = each.home
                key = ClassKey(path, home.start, home.name) if home else None
                if key in family.members:
                    sure.append(each)
            owners = (class_around(each) for each in self.definitions(path, name))
            is_unique = is_unique and all(
                not each or each in family.members for each in owners
            )
        return sure, unsure, is_unique

    def is_of_family(self, family: Family, occurrence: Occurrence) -> bool | None:
        """Return whether `object.name` is the member of the family, None where that is not known."""
        path = occurrence.path
        inner = occurrence.parent.field("object")
        if not inner:
            return None
        if self.is_own(occurrence):
            owner = class_around(occurrence)
            if not owner or owner in family.members:
                return None if not owner else True
            return (
                False
                if any(self.defines(each, occurrence.name) for each in self.lineage(owner))
                else None
            )
        if self.python.module_of(path, inner) is not None:
            return False
        named = self.find_class(path, inner) or self.class_of_value(path, inner)
        if named:
            return any(each in family.members for each in self.lineage(named))
        is_plain = inner.kind() in PLAIN_VALUES or self._is_from_outside(path, inner)
        return False if is_plain else None

    def _is_from_outside(self, path: str, node: "SgNode") -> bool:
        """Return whether an expression is a name that is only ever imported from outside of this repository."""
        binders = self.python.binders(path, node) if node.kind() == "identifier" else []
        python = self.python
        for each in binders:
            is_here = python.source_of(each) or python.find_imported(each)
            if each.role != "import" or is_here:
                return False
        return bool(binders)

    def class_of_value(self, path: str, node: "SgNode") -> ClassKey | None:
        """Return the class of a value: `C(...)`, or a variable that is only ever bound to one, or annotated as one."""
        if node.kind() == "call":
            return self.find_class(path, node.field("function"))
        if node.kind() != "identifier":
            return None
        kinds = {
            self._class_of_binding(path, each) for each in self.python.binders(path, node)
        }
        return kinds.pop() if len(kinds) == 1 else None

    def _class_of_binding(self, path: str, bound: Occurrence) -> ClassKey | None:
        statement = bound.parent
        declared = statement.field("type")
        if declared:
            return self.find_class(path, declared)
        value = statement.field("right") if statement.kind() == "assignment" else None
        while value and value.kind() == "assignment":
            value = value.field("right")
        is_made = value is not None and value.kind() == "call"
        return self.find_class(path, value.field("function")) if value and is_made else None


def named_bases(definition: Occurrence) -> "list[SgNode]":
    """Return the bases that a class names."""
    listed = definition.parent.field("superclasses")
    every = listed.named_children() if listed else []
    return [each for each in every if each.kind() not in ("keyword_argument", "comment")]


def is_set_here(attribute: Occurrence) -> bool:
    """Return whether an attribute is given a value."""
    around = attribute.parent.ancestors()
    is_deleted = around[0].kind() == "delete_statement"
    return role_of(attribute.parent, around) == "binding" and not is_deleted


def key_of(definition: Occurrence) -> ClassKey:
    start = definition.parent.range().start.index
    return ClassKey(definition.path, start, definition.name)


def class_around(occurrence: Occurrence) -> ClassKey | None:
    scope = next((s for s in occurrence.scopes if s.kind == "class"), None)
    return ClassKey(occurrence.path, scope.start, scope.name) if scope else None
