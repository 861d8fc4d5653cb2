"""What a name in a request means in a repository of Python: each definition it could be, the likeliest first."""

from dataclasses import dataclass
from typing import Literal

from cli_guard.assistant.editing.python_classes import Classes
from cli_guard.assistant.editing.python_names import BINDS, MODULE, Occurrence, Scope
from cli_guard.assistant.editing.python_rename import Python
from cli_guard.code.classify import is_test

Sort = Literal["function", "class", "constant", "variable", "method", "attribute", "parameter", "local"]
# What a word of a request may mean; any other word leaves it open.
SORTS: dict[str, tuple[Sort, ...]] = {
    "function": ("function", "method", "local"),
    "func": ("function", "method", "local"),
    "fn": ("function", "method", "local"),
    "helper": ("function", "method"),
    "class": ("class",),
    "type": ("class", "constant"),
    "method": ("method",),
    "attribute": ("attribute", "method"),
    "property": ("method", "attribute"),
    "field": ("attribute",),
    "variable": ("local", "variable", "constant", "attribute"),
    "var": ("local", "variable", "constant"),
    "constant": ("constant", "variable", "attribute"),
    "const": ("constant", "variable"),
    "parameter": ("parameter",),
    "param": ("parameter",),
    "argument": ("parameter",),
    "arg": ("parameter",),
}
ORDER: tuple[Sort, ...] = (
    "function",
    "class",
    "constant",
    "variable",
    "method",
    "attribute",
    "parameter",
    "local",
)


@dataclass(frozen=True, slots=True)
class Subject:
    """One definition: what it is, where it stands, the scope that binds it and the names around it."""

    sort: Sort
    path: str
    name: str
    occurrence: Occurrence
    home: Scope
    around: tuple[str, ...]

    @property
    def qualified(self) -> str:
        """The name with the classes and functions around it."""
        return ".".join((*self.around, self.name))


def subjects(python: Python, classes: Classes, name: str, place: str = "", sort: str = "") -> list[Subject]:
    """The definitions of `name` ("f", "Class.method", "module.f") in `place` (a path, a class, a function), in order.

    A definition in tests comes after one that is not. Several bindings of one scope are one definition.
    """
    *owners, last = name.split(".")
    found: dict[tuple[str, Scope, bool], Subject] = {}
    for path in python.sources.mentioning(last, "python"):
        homes = python.names.homes(path, last)
        members = {o.start for o in classes.definitions(path, last) if o.role == "attribute"}
        for occurrence in python.names.of(path, last):
            if occurrence.start in members:
                owner = next(s for s in occurrence.scopes if s.kind == "class")
                add(found, occurrence, owner, "attribute")
            elif occurrence.role in BINDS and occurrence.role != "import" and not is_alias(occurrence):
                home = homes.home(occurrence)
                if home is not None and home.kind != "comprehension":
                    add(found, occurrence, home, sort_of(occurrence, home))
    fits = [s for s in found.values() if fits_place(python, s, owners, place)]
    wanted = SORTS.get(sort.lower())
    if wanted is not None:
        fits = [s for s in fits if s.sort in wanted]
    order = wanted or ORDER
    return sorted(fits, key=lambda s: (order.index(s.sort), is_test(s.path), s.path, s.occurrence.start))


def add(
    found: dict[tuple[str, Scope, bool], Subject], occurrence: Occurrence, home: Scope, sort: Sort
) -> None:
    """Notes a definition, the first of its scope alone; a method before the attribute of its name."""
    around = tuple(s.name for s in reversed(occurrence.scopes) if s.kind in ("class", "function"))
    if sort == "attribute":
        around = tuple(s.name for s in reversed(occurrence.scopes) if s.kind == "class")
    key = (occurrence.path, home, home.kind == "class")
    if key not in found or (found[key].sort == "attribute" and sort == "method"):
        found[key] = Subject(sort, occurrence.path, occurrence.name, occurrence, home, around)


def sort_of(occurrence: Occurrence, home: Scope) -> Sort:
    """What kind of thing a binding makes."""
    parent = occurrence.node.parent()
    is_class = parent is not None and parent.kind() == "class_definition" and occurrence.role == "definition"
    if home == MODULE:
        if occurrence.role == "definition":
            return "class" if is_class else "function"
        return "constant" if occurrence.name.isupper() else "variable"
    if home.kind == "class":
        return "class" if is_class else "method" if occurrence.role == "definition" else "attribute"
    return "parameter" if occurrence.role == "parameter" else "local"


def fits_place(python: Python, subject: Subject, owners: list[str], place: str) -> bool:
    """Is a definition where the request says: behind these dotted names, in this file, class or function?"""
    if owners:
        dotted = (*python.modules.dotted(subject.path).split("."), *subject.around)
        if dotted[-len(owners) :] != tuple(owners):
            return False
    return not place or in_place(python, subject, place)


def in_place(python: Python, subject: Subject, place: str) -> bool:
    """Is a definition in a file, folder, module, class or function of this name?"""
    clean = place.removeprefix("./").rstrip("/")
    if subject.path == clean or subject.path.endswith(f"/{clean}") or subject.path.startswith(f"{clean}/"):
        return True
    if (
        python.modules.dotted(subject.path) == clean
        or f".{clean}." in f".{python.modules.dotted(subject.path)}."
    ):
        return True
    qualified = ".".join(subject.around)
    return qualified == clean or qualified.endswith(f".{clean}") or clean in subject.around


def is_alias(occurrence: Occurrence) -> bool:
    """Is it a second name that an import gives?"""
    parent = occurrence.node.parent()
    return parent is not None and parent.kind() == "aliased_import"
