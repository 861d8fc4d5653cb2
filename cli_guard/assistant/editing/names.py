"""What a name is in a Python file, read once: its places, what each does, and the scope that binds it.

The rules are those of https://docs.python.org/3/reference/executionmodel.html#naming-and-binding, the kinds of node
those of tree-sitter-python.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from cli_guard.assistant.editing.sources import Sources, TextEdit
from cli_guard.code.syntax import Trees, find_nodes
from cli_guard.lazy import dataclass, frozen
from cli_guard.rules.catalog import read_table

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# "imported" is the name in `from m import NAME as other`, "listed" one in `__all__` or in `T = TypeVar("T")`,
# "dynamic" one in `getattr(x, "name")`.
# fmt: off
NameRole = Literal[
    "definition", "binding", "parameter", "import", "imported", "read", "attribute", "keyword",
    "global", "nonlocal", "listed", "dynamic"
]
# fmt: on
BINDS = frozenset({"definition", "binding", "parameter", "import"})
WITHOUT_SCOPE = frozenset({"attribute", "keyword", "imported", "dynamic"})
# Calls that reach a name through a string, and calls whose first argument is the name of what they make.
DYNAMIC = frozenset(
    "getattr setattr hasattr delattr attrgetter methodcaller import_module".split()
)
NAMING = frozenset(
    "TypeVar ParamSpec TypeVarTuple NewType namedtuple NamedTuple TypedDict TypeAliasType".split()
)
# Calls with types among their arguments, and which these are.
TYPED = {
    "cast": slice(1),
    **dict.fromkeys(("TypeVar", "NewType", "ForwardRef"), slice(1, None)),
}
IMPORTS = frozenset(
    "import_statement import_from_statement future_import_statement".split()
)
ALIAS = "type_alias_statement"
DEFINITIONS = frozenset(("function_definition", "class_definition", "lambda"))
COMPREHENSIONS = frozenset(
    "list_comprehension set_comprehension dictionary_comprehension generator_expression".split()
)
# What a name may be in without another role than that of the whole.
GROUPS = frozenset(
    "tuple_pattern list_pattern pattern_list list_splat_pattern dictionary_splat_pattern tuple list list_splat"
    " parenthesized_expression expression_list as_pattern_target type constrained_type splat_type".split()
)
ROLES = read_table("languages/python_names.toml")
# The field with a name, and what that does there; in any other field of these it is read.
FIELDS: Mapping[str, tuple[str, NameRole]] = ROLES["fields"]
# The same of what has no fields: its first or last part, or all of them.
FIRST: Mapping[str, NameRole] = ROLES["first"]
LAST: Mapping[str, NameRole] = ROLES["last"]
EVERY: Mapping[str, NameRole] = ROLES["every"]
PLAIN_TYPE = re.compile(r"[\w.,\[\]\s|]{1,500}")
PLAIN_STRING = re.compile(r"[rRuU]?('''|\"\"\"|'|\")([^\\]*)\1")

Ancestors = Sequence["SgNode"]


@frozen
class NameScope:
    """A part of a file with names of its own; `first` is the parameter that a function takes first."""

    kind: Literal["module", "class", "function", "comprehension"]
    start: int
    name: str = ""
    first: str = field(default="", compare=False)


MODULE = NameScope("module", 0)


@dataclass(slots=True, eq=False)
class Occurrence:
    """One place of a name; `scopes` from the innermost to the module, `home` the one that binds it.

    `home` is None for a name that nothing in the file binds, and for an attribute or another that needs no scope.
    `node` is the name in the syntax tree. Of an import `module` is what it says of the module, with the dots that it
    begins with, and `member` the name there, "" where the module itself is imported.
    """

    path: str
    name: str
    start: int
    role: NameRole
    scopes: tuple[NameScope, ...]
    node: "SgNode"
    module: str = ""
    member: str = ""
    home: NameScope | None = None

    @property
    def end(self) -> int:
        return self.start + len(self.name)

    @property
    def parent(self) -> "SgNode":
        """Return the syntax around the name."""
        parent = self.node.parent()
        assert parent  # noqa: S101 - a name is no module
        return parent

    @property
    def is_alias(self) -> bool:
        """Return whether an import binds it with `as`."""
        return self.parent.kind() == "aliased_import"

    @property
    def is_class(self) -> bool:
        return self.role == "definition" and self.parent.kind() == "class_definition"

    def replace(self, text: str) -> TextEdit:
        return TextEdit(self.path, self.start, self.end, text)


def find_homes(every: Iterable[Occurrence]) -> None:
    """Find the scope that binds each place of one name in one file."""
    scoped = [each for each in every if each.role not in WITHOUT_SCOPE]
    as_global = {each.scopes[0] for each in scoped if each.role == "global"}
    binding = {each.scopes[0] for each in scoped if each.role in BINDS}
    bound = (
        binding - as_global - {each.scopes[0] for each in scoped if each.role == "nonlocal"}
    )
    if binding & as_global:
        bound.add(MODULE)
    for each in scoped:
        for number, scope in enumerate(each.scopes):
            if scope in as_global:
                each.home = MODULE if MODULE in bound else None
                break
            # The names of a class are not seen from the functions in it.
            if scope in bound and not (number and scope.kind == "class"):
                each.home = scope
                break


@dataclass(slots=True)
class FileNames:
    """What one file holds: the places of each name and the one at a position, classes, strings, `from m import *`."""

    places: dict[str, list[Occurrence]] = field(default_factory=dict)
    at: dict[int, Occurrence] = field(default_factory=dict)
    classes: list[Occurrence] = field(default_factory=list)
    strings: list[tuple[int, int]] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)

    def at_end_of(self, node: "SgNode | None") -> Occurrence | None:
        """Return the place of the name that an expression is, or of the last part of one with dots."""
        named = last_node(node)
        return self.at.get(named.range().start.index) if named else None


def last_node(node: "SgNode | None") -> "SgNode | None":
    """Return the name of an expression that is a name, the last part of one with dots; None for any other."""
    if node and node.kind() == "attribute":
        return node.field("attribute")
    return node if node and node.kind() == "identifier" else None


def last_name(node: "SgNode | None") -> str:
    named = last_node(node)
    return named.text() if named else ""


def read_names(sources: Sources, path: str) -> FileNames:
    """Return the names of a Python file; nothing for one that cannot be read, which is then skipped."""
    reader = NameReader(path)
    if sources.is_valid(path):
        reader.read(Trees().root("python", sources.texts[path]))
    for found in reader.names.places.values():
        found.sort(key=lambda each: each.start)
        find_homes(found)
    return reader.names


class NameReader:
    """Collects the places of all names of one file."""

    def __init__(self, path: str) -> None:
        self.names = FileNames()
        self._path = path
        self._scopes: dict[SgNode, NameScope] = {}

    def read(self, root: "SgNode") -> None:
        for node in find_nodes(root, ("identifier", "string", ALIAS, *IMPORTS)):
            around = node.ancestors()
            kind = node.kind()
            first = node.child(0)
            if kind == "string":
                self._read_string(node, around)
            elif kind in IMPORTS:
                self._read_import(node, self._scopes_of(node, around, "read"))
            elif kind == ALIAS and first:
                # `type(x).y = z` is taken for one: the word is a name there.
                if node.text().startswith("type("):
                    self._note(first, "read", self._scopes_of(node, around, "read"))
            elif all(each.kind() not in IMPORTS for each in around[:3]):
                role = role_of(node, around)
                self._note(node, role, self._scopes_of(node, around, role))

    def _note(
        self,
        node: "SgNode",
        role: NameRole,
        scopes: tuple[NameScope, ...],
        module: str = "",
        member: str = "",
    ) -> None:
        start = node.range().start.index
        self._add(
            Occurrence(self._path, node.text(), start, role, scopes, node, module, member)
        )

    def _add(self, found: Occurrence) -> None:
        self.names.places.setdefault(found.name, []).append(found)
        self.names.at[found.start] = found
        if found.is_class:
            self.names.classes.append(found)

    def _scopes_of(
        self, node: "SgNode", around: Ancestors, role: NameRole
    ) -> tuple[NameScope, ...]:
        scopes: list[NameScope] = []
        child = node
        for parent in around:
            kind = parent.kind()
            is_inside = False
            if kind in DEFINITIONS:
                is_head = EVERY.get(child.kind()) == "parameter"
                is_body = child.kind() in ("block", "type_parameter") or kind == "lambda"
                is_inside = role == "parameter" and not scopes if is_head else is_body
            elif kind in COMPREHENSIONS:
                # It binds outside of the comprehension that it is in.
                is_outer = role == "binding" and around[0].kind() == "named_expression"
                is_inside = not (is_outer or is_first_source(parent, child, node))
            if is_inside:
                scopes.append(self._scope(parent))
            child = parent
        return (*scopes, MODULE)

    def _scope(self, node: "SgNode") -> NameScope:
        if node not in self._scopes:
            self._scopes[node] = scope_of(node)
        return self._scopes[node]

    def _read_import(self, statement: "SgNode", scopes: tuple[NameScope, ...]) -> None:
        named = statement.field("module_name")
        module = "".join(named.text().split()) if named else ""
        if any(each.kind() == "wildcard_import" for each in statement.children()):
            self.names.stars.append(module)
        for each in statement.field_children("name"):
            whole = each.field("name") or each
            alias = each.field("alias")
            first = whole.child(0)
            if not first:
                continue
            if not named:
                self._note(alias or first, "import", scopes, whole.text())
                continue
            if alias:
                self._note(first, "imported", scopes, module, whole.text())
            self._note(alias or first, "import", scopes, module, whole.text())

    def _read_string(self, node: "SgNode", around: Ancestors) -> None:
        """Note the name that a string is, or those in a type that it is."""
        span = node.range()
        self.names.strings.append((span.start.index, span.end.index))
        found = PLAIN_STRING.fullmatch(node.text())
        if not found or around[0].kind() == "concatenated_string":
            return
        text = found[2]
        start = span.start.index + found.start(2)
        scopes = self._scopes_of(node, around, "read")
        role: NameRole | None = "listed" if is_listed(node, around, text) else None
        if (
            around[0].kind() == "argument_list"
            and last_name(function_of(around[0])) in DYNAMIC
        ):
            role = "dynamic"
        if role is not None:
            self._add(Occurrence(self._path, text, start, role, scopes, node))
        if PLAIN_TYPE.fullmatch(text) and is_type(node, around):
            for each in find_nodes(Trees().root("python", text), ("identifier",)):
                at = start + each.range().start.index
                role = role_of(each, each.ancestors())
                self._add(Occurrence(self._path, each.text(), at, role, scopes, each))


def role_of(node: "SgNode", around: Ancestors) -> NameRole:
    """Return what a name does that is in no import."""
    child = node
    for parent in around:
        kind = parent.kind()
        if kind in FIELDS:
            field, role = FIELDS[kind]
            return role if parent.field(field) == child else "read"
        if kind in FIRST and parent.child(0) == child:
            return FIRST[kind]
        if kind in LAST and parent.children()[-1] == child:
            return LAST[kind]
        if kind in EVERY:
            return EVERY[kind]
        if kind == "dotted_name":
            # A name alone is bound by a pattern of `match`.
            pattern = around[1].kind() in ("case_pattern", "keyword_pattern")
            is_bound = pattern and len(parent.children()) == 1
            role = "binding" if is_bound else "read"
            return role if parent.child(0) == child else "attribute"
        if kind == "type_parameter":
            # Of a definition (PEP 695), not of a type in brackets; what follows a colon is its bound.
            owner = parent.parent()
            is_own = owner is not None and owner.kind() in DEFINITIONS
            return "binding" if is_own and child.find(kind="identifier") == node else "read"
        if kind not in GROUPS:
            return "read"
        child = parent
    return "read"


def is_first_source(comprehension: "SgNode", child: "SgNode", node: "SgNode") -> bool:
    """Return whether a name is in what a comprehension goes through first, which is read outside of it."""
    clauses = (c for c in comprehension.children() if c.kind() == "for_in_clause")
    source = child.field("right")
    if next(clauses, None) != child or not source:
        return False
    return node.range().start.index >= source.range().start.index


def scope_of(node: "SgNode") -> NameScope:
    start = node.range().start.index
    if node.kind() in COMPREHENSIONS:
        return NameScope("comprehension", start)
    named = node.field("name")
    name = named.text() if named else ""
    if node.kind() == "class_definition":
        return NameScope("class", start, name)
    around = node.parent()
    is_decorated = around is not None and around.kind() == "decorated_definition"
    marks = around.children() if around and is_decorated else []
    is_static = any(last_name(mark.child(1)) == "staticmethod" for mark in marks)
    given = node.field("parameters")
    every = given.named_children() if given and not is_static else []
    first = next((each for each in every if each.kind() != "comment"), None)
    is_named = first is not None and not first.text().startswith("*")
    parameter = first.find(kind="identifier") if first and is_named else None
    own = parameter.text() if parameter and node.kind() != "lambda" else ""
    return NameScope("function", start, name, own)


def function_of(arguments: "SgNode") -> "SgNode | None":
    call = arguments.parent()
    return call.field("function") if call else None


def is_listed(node: "SgNode", around: Ancestors, text: str) -> bool:
    """Return whether a string is the name of something: in `__all__`, or the first argument of `T = TypeVar("T")`."""
    child = node
    for parent in around:
        if parent.kind() == "call":
            function = parent.field("function")
            owner = function.field("object") if function else None
            if last_name(owner) == "__all__":
                return True
        elif parent.kind() in ("assignment", "augmented_assignment"):
            left = parent.field("left")
            name = left.text() if left else ""
            is_made = around[1] == child and last_name(child.field("function")) in NAMING
            is_first = is_made and around[0].child(1) == node
            is_all = name == "__all__" and parent.field("right") == child
            return is_all or (is_first and name == text)
        child = parent
    return False


def is_type(node: "SgNode", around: Ancestors) -> bool:
    """Return whether a string stands where a type does."""
    child = node
    for number, parent in enumerate(around):
        kind = parent.kind()
        if kind in ("subscript", "generic_type"):
            name = last_name(parent.child(0))
            inside = around[number - 2] if kind == "generic_type" else child
            before = inside.prev()
            is_first = before is not None and before.kind() == "["
            if name == "Literal" or (name == "Annotated" and not is_first):
                return False
        elif kind == "argument_list":
            typed = TYPED.get(last_name(function_of(parent)), slice(0))
            is_bound = child.kind() == "keyword_argument"
            return is_bound or child in parent.named_children()[typed]
        elif kind == "keyword_argument":
            name_node = parent.field("name")
            if not name_node or name_node.text() != "bound":
                return False
        elif kind == "assignment":
            declared = parent.field("type")
            is_alias = declared is not None and declared.text().endswith("TypeAlias")
            return declared is not None and (declared == child or is_alias)
        elif kind == "constrained_type":
            return True
        elif kind in FIELDS or kind in FIRST:
            return child.kind() == "type"
        elif kind.endswith("_statement"):
            return False
        child = parent
    return False
