"""What a name in a request means in Python, the likeliest definition first; all its places, and renaming these."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal, get_args

from cli_guard.assistant.editing.classes import Classes, ClassKey, class_around
from cli_guard.assistant.editing.modules import Python
from cli_guard.assistant.editing.names import (
    BINDS,
    MODULE,
    WITHOUT_SCOPE,
    NameScope,
    Occurrence,
)
from cli_guard.assistant.editing.plan import Place, PlanDraft
from cli_guard.assistant.editing.sources import join_some
from cli_guard.code.test_files import is_test_code
from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_table

Sort = Literal[
    "function", "class", "constant", "variable", "method", "attribute", "parameter", "local"
]
# What a word of a request may mean; any other word leaves it open.
SORTS: Mapping[str, list[Sort]] = read_table("languages/python_names.toml")["sorts"]
ORDER: tuple[Sort, ...] = get_args(Sort)


@frozen
class DefinitionTarget:
    """One definition: what it is, where it is, the scope that binds it and the names around it."""

    sort: Sort
    path: str
    name: str
    occurrence: Occurrence
    home: NameScope
    around: tuple[str, ...]

    @property
    def qualified(self) -> str:
        """Return the name with the classes and functions around it."""
        return ".".join((*self.around, self.name))

    @property
    def owner(self) -> ClassKey | None:
        return class_around(self.occurrence) if self.home.kind == "class" else None


def find_targets(
    python: Python, name: str, place: str = "", sort: str = ""
) -> list[DefinitionTarget]:
    """Return the definitions of `name` ("f", "Class.method", "module.f") in `place` (path, class, function).

    A definition in tests comes after one that is not. Several bindings of one scope are one definition.
    """
    *owners, last = name.split(".")
    found: dict[tuple[str, NameScope], DefinitionTarget] = {}
    for path in python.mentioning(last):
        members = {
            each
            for each in Classes(python).definitions(path, last)
            if each.role == "attribute"
        }
        for each in python.places(path, last):
            binds = each.role in BINDS and each.role != "import"
            home = each.home if binds else None
            if each in members:
                home = next(s for s in each.scopes if s.kind == "class")
            if not home or home.kind == "comprehension":
                continue
            target = make_target(each, home)
            known = found.get((path, home))
            if known is None or (known.sort == "attribute" and target.sort == "method"):
                found[path, home] = target
    wanted = SORTS.get(sort.lower())
    fits = [
        each
        for each in found.values()
        if is_at(python, each, owners, place) and (wanted is None or each.sort in wanted)
    ]
    order = wanted or ORDER
    return sorted(
        fits,
        key=lambda t: (
            order.index(t.sort),
            is_test_code(t.path),
            t.path,
            t.occurrence.start,
        ),
    )


def make_target(occurrence: Occurrence, home: NameScope) -> DefinitionTarget:
    is_class = occurrence.is_class
    is_definition = occurrence.role == "definition"
    sort: Sort
    if home == MODULE and not is_definition:
        sort = "constant" if occurrence.name.isupper() else "variable"
    elif home == MODULE or is_class:
        sort = "class" if is_class else "function"
    elif home.kind == "class":
        sort = "method" if is_definition else "attribute"
    else:
        sort = "parameter" if occurrence.role == "parameter" else "local"
    kinds = ("class",) if sort == "attribute" else ("class", "function")
    around = tuple(s.name for s in reversed(occurrence.scopes) if s.kind in kinds)
    return DefinitionTarget(
        sort, occurrence.path, occurrence.name, occurrence, home, around
    )


def is_at(python: Python, target: DefinitionTarget, owners: list[str], place: str) -> bool:
    """Return whether a definition is where the request says: a dotted owner, a file, module, class or function."""
    module = python.module_name(target.path)
    dotted = (*module.split("."), *target.around)
    if owners and dotted[-len(owners) :] != tuple(owners):
        return False
    clean = place.removeprefix("./").rstrip("/")
    around = ".".join(target.around)
    return (
        not clean
        or f"/{target.path}".endswith(f"/{clean}")
        or target.path.startswith(f"{clean}/")
        or f".{clean}." in f".{module}."
        or around == clean
        or around.endswith(f".{clean}")
        or clean in target.around
    )


def name_others(python: Python, found: list[DefinitionTarget]) -> str | None:
    """Return which of several definitions was taken, None if there is one."""
    others = [t for t in found[1:] if (t.path, t.home) != (found[0].path, found[0].home)]
    if not others:
        return None
    named = [
        f"{t.qualified} ({t.path}:{python.line(t.path, t.occurrence.start)})"
        for t in others
    ]
    return f"{found[0].name} is {found[0].qualified} of {found[0].path}; not taken: {join_some(named)}"


def exports_of(python: Python, path: str, name: str) -> dict[str, set[Occurrence]]:
    """Return every place that means what module `path` defines as `name`, under that name: path -> places.

    Followed through from-imports, re-exports, star imports and `module.name`, until nothing new is found.
    """
    places: dict[str, set[Occurrence]] = {}
    waiting = [path]
    exporting = set[str]()
    sourced = list(sources_of_name(python, name))
    while waiting:
        module = waiting.pop()
        if module in exporting:
            continue
        exporting.add(module)
        places.setdefault(module, set()).update(python.places_of_home(module, name, MODULE))
        for occurrence, source in sourced:
            if source != module:
                continue
            places.setdefault(occurrence.path, set()).add(occurrence)
            # `from m import NAME as NAME` passes the name on under itself.
            bound = (
                occurrence if occurrence.role == "import" else alias_of(python, occurrence)
            )
            if bound and bound.name == name:
                places[occurrence.path].update(
                    python.places_of_home(occurrence.path, name, bound.home)
                )
                waiting += [occurrence.path] if bound.home == MODULE else []
        for other in python.mentioning(name):
            if other != module and module in python.star_imports(other):
                free = python.places_of_home(other, name, None)
                places.setdefault(other, set()).update(
                    o for o in free if o.role not in WITHOUT_SCOPE
                )
                waiting.append(other)
    return places


def sources_of_name(python: Python, name: str) -> Iterator[tuple[Occurrence, str]]:
    """Yield each import of a name and each `module.name`, with the file of the module."""
    for path in python.mentioning(name):
        for each in python.places(path, name):
            module = python.source_of(each) if each.member == name else None
            owner = each.parent.field("object") if each.role == "attribute" else None
            if owner:
                module = python.module_of(path, owner)
            if module is not None:
                yield each, module


def alias_of(python: Python, occurrence: Occurrence) -> Occurrence | None:
    """Return the name that `from m import NAME as other` gives a name."""
    if occurrence.role != "imported":
        return None
    statement = occurrence.node.ancestors()[1]
    return python.file(occurrence.path).at_end_of(statement.field("alias"))


def with_aliases(python: Python, places: dict[str, set[Occurrence]]) -> set[Occurrence]:
    """Return the places of an export, and those where it has another name by `as`."""
    found = {each for some in places.values() for each in some}
    for each in tuple(found):
        alias = alias_of(python, each)
        if alias and alias.name != each.name:
            found.update(python.places_of_home(each.path, alias.name, alias.home))
    return found


def uses_of(
    python: Python, path: str, name: str, home: NameScope
) -> tuple[Collection[Occurrence], Collection[Occurrence], bool]:
    """Return the places that surely name what a scope binds, those that may, and whether nothing else has that name."""
    if home.kind == "class":
        classes = Classes(python)
        return classes.member_places(
            classes.family(ClassKey(path, home.start, home.name), name), name
        )
    if home == MODULE:
        return with_aliases(python, exports_of(python, path, name)), (), True
    return python.places_of_home(path, name, home), (), True


def rename_in_scope(
    python: Python, path: str, old: str, home: NameScope, new: str, draft: PlanDraft
) -> None:
    mine = python.places_of_home(path, old, home)
    draft.edits += [each.replace(new) for each in mine]
    draft.problems += collisions(python, path, mine, home, new)


def collisions(
    python: Python, path: str, chosen: Iterable[Occurrence], home: NameScope, new: str
) -> Iterator[Place]:
    """Yield where the new name is bound already, would be captured on its way, or would capture another."""
    others = python.places(path, new)
    bound = {each.home for each in others if each.role in BINDS}
    for other in others:
        if other.role in BINDS and other.home == home:
            yield python.location(other, f"{new} is there already")
            return
    for each in chosen:
        for number, scope in enumerate(each.scopes):
            if scope == home:
                break
            if scope in bound and not (scope.kind == "class" and number):
                yield python.location(
                    each, f"{new} means something else in {scope.name or 'this place'}"
                )
                return
    for other in others:
        if other.role in WITHOUT_SCOPE or home not in other.scopes:
            continue
        if home.kind == "class" and other.scopes[0] != home:
            continue
        outer = other.home
        is_inside = outer is not None and outer in other.scopes[: other.scopes.index(home)]
        if not is_inside and outer != home:
            yield python.location(
                other, f"{new} is read here from outside and would become the renamed one"
            )
            return
