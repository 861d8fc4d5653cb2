"""What a name is in a Python file: its places, what each does, and the scope that binds it.

The rules are those of https://docs.python.org/3/reference/executionmodel.html#naming-and-binding.
"""

import ast
from collections.abc import Iterable
from dataclasses import field
from typing import Literal

from cli_guard.assistant.editing.sources import TextEdit
from cli_guard.lazy import dataclass

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


@dataclass(frozen=True, slots=True)
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
    `around` is the import statement, the call of a keyword, the function of a parameter, or the assignment.
    """

    path: str
    name: str
    start: int
    role: NameRole
    scopes: tuple[NameScope, ...]
    node: ast.AST
    around: ast.AST | None = None
    home: NameScope | None = None

    @property
    def end(self) -> int:
        return self.start + len(self.name)

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
    """What one file holds: the places of each name, its imports and its strings."""

    places: dict[str, list[Occurrence]] = field(default_factory=dict)
    imports: list[ast.Import | ast.ImportFrom] = field(default_factory=list)
    strings: list[tuple[int, int]] = field(default_factory=list)
    classes: list[Occurrence] = field(default_factory=list)
    by_node: dict[ast.AST, Occurrence] = field(default_factory=dict)
