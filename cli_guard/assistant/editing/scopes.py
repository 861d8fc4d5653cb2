"""What a name is in a Python file: its places, what each does, and the scope that binds it.

The rules are those of https://docs.python.org/3/reference/executionmodel.html#naming-and-binding.
"""

from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from cli_guard.assistant.editing.sources import TextEdit
from cli_guard.lazy import dataclass, frozen

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
