"""What a name is in a Python file: its places, what each does, and the scope that binds it.

The rules are those of https://docs.python.org/3/reference/executionmodel.html#naming-and-binding.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from cli_guard.assistant.editing.sources import LineMap

# "imported" is the name in `from m import NAME as other`, "listed" one in `__all__` or in `T = TypeVar("T")`,
# "dynamic" one in `getattr(x, "name")`.
# fmt: off
Role = Literal[
    "definition", "binding", "parameter", "import", "imported", "read", "attribute", "keyword",
    "global", "nonlocal", "listed", "dynamic"
]
# fmt: on
BINDS = frozenset({"definition", "binding", "parameter", "import"})
WITHOUT_SCOPE = frozenset({"attribute", "keyword", "imported", "dynamic"})


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of a file with names of its own."""

    kind: Literal["module", "class", "function", "comprehension"]
    start: int
    name: str = ""


MODULE = Scope("module", 0)


@dataclass(frozen=True, slots=True, eq=False)
class Occurrence:
    """One place of a name; `scopes` from the innermost to the module.

    `around` is the import statement, the call of a keyword, the function of a parameter, or the assignment.
    """

    path: str
    name: str
    start: int
    role: Role
    scopes: tuple[Scope, ...]
    node: ast.AST
    around: ast.AST | None = None
    is_called: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.name)


class Homes:
    """The scope that binds each place of one name in one file."""

    def __init__(self, found: Iterable[Occurrence]) -> None:
        every = list(found)
        self._global = {o.scopes[0] for o in every if o.role == "global"}
        redirected = self._global | {o.scopes[0] for o in every if o.role == "nonlocal"}
        self.bound = {o.scopes[0] for o in every if o.role in BINDS} - redirected
        if any(o.role in BINDS and o.scopes[0] in self._global for o in every):
            self.bound.add(MODULE)

    def home(self, occurrence: Occurrence) -> Scope | None:
        """The scope a place belongs to; None for a name bound nowhere here, and for no name of a scope at all."""
        if occurrence.role in WITHOUT_SCOPE:
            return None
        for number, scope in enumerate(occurrence.scopes):
            if scope in self._global:
                return MODULE if MODULE in self.bound else None
            if scope.kind == "class" and number:
                continue
            if scope in self.bound:
                return scope
        return None


@dataclass(slots=True)
class FileNames:
    """What one file holds: the places of each name, its imports with whether they run at load, and its strings."""

    places: dict[str, list[Occurrence]] = field(default_factory=dict)
    imports: list[tuple[ast.Import | ast.ImportFrom, bool]] = field(default_factory=list)
    strings: list[tuple[int, int]] = field(default_factory=list)
    calls: list[tuple[ast.Call, LineMap]] = field(default_factory=list)
    classes: list[Occurrence] = field(default_factory=list)
    by_node: dict[ast.AST, Occurrence] = field(default_factory=dict)
