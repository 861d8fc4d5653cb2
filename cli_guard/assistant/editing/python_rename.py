"""Renames what a Python module defines: its own places, every import of it, and what re-exports it."""

import builtins
import keyword
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cli_guard.assistant.editing.edits import Edit
from cli_guard.assistant.editing.model import Place
from cli_guard.assistant.editing.python_modules import Modules
from cli_guard.assistant.editing.python_names import BINDS, MODULE, Names, Occurrence, PythonNames, Scope
from cli_guard.assistant.editing.sources import Sources


@dataclass(slots=True)
class Found:
    """What a rename found: the edits, what is left to a person, and what stands in its way."""

    edits: list[Edit] = field(default_factory=list)
    by_hand: list[Place] = field(default_factory=list)
    risks: list[str] = field(default_factory=list)
    # (path, line, reason): with one of these there is no patch.
    collisions: list[Place] = field(default_factory=list)
    # Where the new name stands for the subject: path -> scopes.
    taken: dict[str, set[Scope]] = field(default_factory=dict)
    places: set[tuple[str, int]] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Python:
    """What the Python parts share: the sources, the names, and the modules."""

    sources: Sources
    names: PythonNames
    modules: Modules

    @classmethod
    def of(cls, sources: Sources) -> "Python":
        """All over the sources of one request."""
        names = PythonNames(sources)
        return cls(sources, names, Modules(names))

    def place(self, occurrence: Occurrence, reason: str) -> Place:
        """A place as (path, line, reason)."""
        return self.names.place(occurrence, reason)


def valid_name(name: str) -> str | None:
    """Why `name` cannot be a Python name, None if it can."""
    if not name.isidentifier():
        return f"{name} is not a name in Python"
    return f"{name} is a word of the language" if keyword.iskeyword(name) else None


def exports_of(python: Python, path: str, name: str) -> dict[str, set[int]]:
    """Every place that stands for what module `path` defines as `name`, under that name: path -> starts.

    Followed through from-imports, re-exports, star imports and `module.name`, until nothing new is found.
    """
    places: dict[str, set[int]] = {}
    exporting: set[str] = set()
    waiting = [path]
    sourced = [*sources_of_name(python, name)]
    while waiting:
        module = waiting.pop()
        if module in exporting:
            continue
        exporting.add(module)
        homes = python.names.homes(module, name)
        own = {o.start for o in python.names.of(module, name) if homes.home(o) == MODULE}
        places.setdefault(module, set()).update(own)
        for occurrence, source in sourced:
            if source != module:
                continue
            places.setdefault(occurrence.path, set()).add(occurrence.start)
            bound = occurrence if occurrence.role == "import" else passed_on(python, occurrence)
            if bound is not None:
                waiting += bound_with(python, bound, places)
        for other in importers_of_all(python, name, module):
            homes = python.names.homes(other, name)
            free = {
                o.start
                for o in python.names.of(other, name)
                if homes.home(o) is None and o.role not in ("attribute", "keyword", "imported", "module")
            }
            places.setdefault(other, set()).update(free)
            waiting.append(other)
    # A file without a place of its own may still pass the name on: `from m import *` and `__all__`.
    return {each: found for each, found in places.items() if found or each in exporting}


def sources_of_name(python: Python, name: str) -> Iterator[tuple[Occurrence, str]]:
    """Each import of a name and each `module.name`, with the file of the module."""
    for path in python.sources.mentioning(name, "python"):
        for occurrence in python.names.of(path, name):
            module: str | None = None
            if occurrence.role in ("import", "imported"):
                source = python.modules.source_of(occurrence)
                module = source.module if source is not None else None
            elif occurrence.role == "attribute":
                parent = occurrence.node.parent()
                inner = parent.field("object") if parent is not None else None
                module = python.modules.module_of(path, inner) if inner is not None else None
            if module is not None:
                yield occurrence, module


def alias_of(python: Python, occurrence: Occurrence) -> Occurrence | None:
    """The place of `other` in `from m import NAME as other`."""
    around = occurrence.node.parent()
    above = around.parent() if around is not None else None
    alias = above.field("alias") if occurrence.role == "imported" and above is not None else None
    if alias is None:
        return None
    start = alias.range().start.index
    return next((o for o in python.names.of(occurrence.path, alias.text()) if o.start == start), None)


def passed_on(python: Python, occurrence: Occurrence) -> Occurrence | None:
    """The second name of `from m import NAME as NAME`, which passes the name on under itself."""
    alias = alias_of(python, occurrence)
    return alias if alias is not None and alias.name == occurrence.name else None


def with_aliases(python: Python, places: dict[str, set[int]], name: str) -> set[tuple[str, int]]:
    """The places of an export as (path, start), and those where it has another name by `as`."""
    found = {(path, start) for path, starts in places.items() for start in starts}
    for path, starts in places.items():
        for occurrence in python.names.of(path, name):
            alias = alias_of(python, occurrence) if occurrence.start in starts else None
            if alias is not None and alias.name != name:
                homes = python.names.homes(path, alias.name)
                home = homes.home(alias)
                found |= {(path, o.start) for o in python.names.of(path, alias.name) if homes.home(o) == home}
    return found


def bound_with(python: Python, occurrence: Occurrence, places: dict[str, set[int]]) -> list[str]:
    """Adds all places of the scope that an import binds; the file, if that scope is its module, exports it again."""
    homes = python.names.homes(occurrence.path, occurrence.name)
    home = homes.home(occurrence)
    same = [o for o in python.names.of(occurrence.path, occurrence.name) if homes.home(o) == home]
    places[occurrence.path].update(o.start for o in same)
    return [occurrence.path] if home == MODULE else []


def importers_of_all(python: Python, name: str, module: str) -> Iterator[str]:
    """The files that import everything from a module and hold the name."""
    for path in python.sources.mentioning(name, "python"):
        if module in python.modules.star_imports(path) and path != module:
            yield path


def rename_places(python: Python, places: dict[str, set[int]], old: str, new: str) -> Found:
    """Renames places of one name. What other imports bind in the same scope is given the new name with `as`."""
    found = Found()
    for path in sorted(places):
        homes = python.names.homes(path, old)
        chosen = [o for o in python.names.of(path, old) if o.start in places[path]]
        scopes: set[Scope] = set()
        for occurrence in chosen:
            found.edits.append(edit_of(occurrence, new, foreign(python, occurrence, places)))
            found.places.add((path, occurrence.start))
            home = homes.home(occurrence)
            if home is not None:
                scopes.add(home)
        found.taken[path] = scopes
        for scope in sorted(scopes, key=lambda s: (s.start, s.end)):
            mine = [o for o in chosen if homes.home(o) == scope]
            found.collisions += collisions(python.names, path, mine, scope, new)
    return found


def foreign(python: Python, occurrence: Occurrence, places: dict[str, set[int]]) -> bool:
    """Does an import bind the name to something else than the subject, where the subject is not there?"""
    if occurrence.role != "import":
        return False
    source = python.modules.source_of(occurrence)
    if source is None:
        return True
    return source.module is None or source.module not in places


def edit_of(occurrence: Occurrence, new: str, is_foreign: bool) -> Edit:
    """The edit of one place; a foreign import keeps its name and binds the new one."""
    text = f"{occurrence.name} as {new}" if is_foreign else new
    return Edit(occurrence.path, occurrence.start, occurrence.end, text)


def collisions(
    names: Names, path: str, chosen: Iterable[Occurrence], home: Scope, new: str
) -> Iterator[Place]:
    """Where the new name is bound already, would be captured on its way, or would capture another."""
    others, homes = names.of(path, new), names.homes(path, new)
    for other in others:
        if other.role in BINDS and homes.home(other) == home:
            yield names.place(other, f"{new} is there already")
            return
    for occurrence in chosen:
        for number, scope in enumerate(occurrence.scopes):
            if scope == home:
                break
            if scope in homes.bound and not (scope.kind == "class" and number):
                yield names.place(occurrence, f"{new} means something else in {scope.name or 'this place'}")
                return
    for other in others:
        if other.role in ("attribute", "keyword", "imported", "module") or home not in other.scopes:
            continue
        if home.kind == "class" and other.scopes[0] != home:
            continue
        outer = homes.home(other)
        inside = outer is not None and outer in other.scopes[: other.scopes.index(home)]
        if not inside and outer != home:
            yield names.place(other, f"{new} is read here from outside and would become the renamed one")
            return


def shadow_risk(new: str) -> Iterator[str]:
    """The risk of a name that hides a built-in."""
    if hasattr(builtins, new):
        yield f"{new} is the name of a built-in, which is hidden wherever it is bound"
