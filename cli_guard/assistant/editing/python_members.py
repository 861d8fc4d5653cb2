"""Renames a method or attribute of a Python class: in its family of classes, and where an object is one of them."""

from typing import TYPE_CHECKING

from cli_guard.assistant.editing.edits import Edit
from cli_guard.assistant.editing.python_classes import Classes, ClassKey, Family, class_of, is_own
from cli_guard.assistant.editing.python_names import BINDS, Occurrence
from cli_guard.assistant.editing.python_rename import Found, Python

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# What objects of the language's own types answer to: a name that is unique in a repository is not unique there.
COMMON_MEMBERS = frozenset(
    name for each in (str, bytes, list, dict, set, tuple, int, float, Exception) for name in dir(each)
) | frozenset(
    "read write close open seek flush readline readlines name path parent run start stop send recv put get_nowait "
    "join wait acquire release result done cancel submit group groups match search sub findall info debug warning "
    "error exception critical log year month day hour minute second now today strftime execute fetchone fetchall "
    "commit rollback cursor connect text content status_code headers url params data args kwargs".split()
)


def member_places(
    python: Python, classes: Classes, family: Family, old: str
) -> tuple[list[Occurrence], list[Occurrence], bool]:
    """The places of a member that are surely of the family, those that may be, and whether its name is unique."""
    sure: list[Occurrence] = []
    unsure: list[Occurrence] = []
    unique = old not in COMMON_MEMBERS
    for path in python.sources.mentioning(old, "python"):
        homes = python.names.homes(path, old)
        for occurrence in python.names.of(path, old):
            if occurrence.role == "attribute":
                verdict = of_family(python, classes, family, occurrence, old)
                if verdict is None:
                    unsure.append(occurrence)
                elif verdict:
                    sure.append(occurrence)
                continue
            home = homes.home(occurrence)
            if home is None or home.kind != "class":
                continue
            key = classes.at(path, home)
            if key in family.members:
                sure.append(occurrence)
        for definition in classes.definitions(path, old):
            owner = class_of(definition)
            if owner is not None and owner not in family.members:
                unique = False
    return sure, unsure, unique


def of_family(
    python: Python, classes: Classes, family: Family, occurrence: Occurrence, old: str
) -> bool | None:
    """Is `object.name` the member of the family? None where that cannot be told."""
    parent = occurrence.node.parent()
    if parent is None or parent.kind() == "keyword_pattern":
        return None
    inner = parent.field("object")
    if inner is None:
        return None
    if is_own(occurrence):
        owner = class_of(occurrence)
        if owner is None:
            return None
        if owner in family.members:
            return True
        if any(classes.defines(each, old) for each in classes.lineage(owner)):
            return False
        return None
    if python.modules.module_of(occurrence.path, inner) is not None:
        return False
    named = classes.named(occurrence.path, inner) or made_of(python, classes, occurrence.path, inner)
    if named is not None:
        return named in family.members or any(each in family.members for each in classes.lineage(named))
    if inner.kind() == "identifier" and imported_from_outside(python, occurrence.path, inner.text()):
        return False
    return False if inner.kind() in ("string", "list", "dictionary", "set", "integer", "float") else None


def imported_from_outside(python: Python, path: str, name: str) -> bool:
    """Is a name an import of something that is not in this repository?"""
    homes = python.names.homes(path, name)
    imports = [o for o in python.names.of(path, name) if o.role == "import" and homes.home(o) is not None]
    others = [o for o in python.names.of(path, name) if o.role in BINDS and o.role != "import"]
    if not imports or others:
        return False
    sources = [python.modules.source_of(o) for o in imports]
    return all(s is None or s.module is None for s in sources) and all(
        python.modules.module_of(path, o.node) is None for o in imports
    )


def made_of(python: Python, classes: Classes, path: str, node: "SgNode") -> ClassKey | None:
    """The class of a value: `C(...)`, or a variable that is only ever bound to one, or annotated as one."""
    if node.kind() == "call":
        called = node.field("function")
        return classes.named(path, called) if called is not None else None
    if node.kind() != "identifier":
        return None
    homes = python.names.homes(path, node.text())
    places = python.names.of(path, node.text())
    here = next((o for o in places if o.start == node.range().start.index), None)
    home = homes.home(here) if here is not None else None
    if home is None:
        return None
    kinds: set[ClassKey | None] = set()
    for bound in places:
        if bound.role in BINDS and homes.home(bound) == home:
            kinds.add(class_of_binding(classes, path, bound))
    return kinds.pop() if len(kinds) == 1 else None


def class_of_binding(classes: Classes, path: str, bound: Occurrence) -> ClassKey | None:
    """The class of the value that a place binds to a name, None where it is not plain."""
    parent = bound.node.parent()
    if parent is None or parent.kind() not in ("assignment", "typed_parameter", "typed_default_parameter"):
        return None
    annotation = parent.field("type")
    if annotation is not None:
        return classes.named(path, annotation)
    right = parent.field("right")
    called = right.field("function") if right is not None and right.kind() == "call" else None
    return classes.named(path, called) if called is not None else None


def rename_member(
    python: Python, classes: Classes, owner: ClassKey, old: str, new: str
) -> tuple[Found, str | None]:
    """Renames a member everywhere its family is surely meant; and what was assumed about the rest."""
    family = classes.family(owner, old)
    sure, unsure, unique = member_places(python, classes, family, old)
    found, assumed = Found(), None
    if unsure and unique:
        assumed = (
            f"no other class of the repository has {old}, so every .{old} is taken for it "
            f"({len(unsure)} {'place' if len(unsure) == 1 else 'places'} by name alone)"
        )
        sure, unsure = [*sure, *unsure], []
    for occurrence in sure:
        found.edits.append(Edit(occurrence.path, occurrence.start, occurrence.end, new))
        found.places.add((occurrence.path, occurrence.start))
    for occurrence in unsure:
        found.by_hand.append(python.place(occurrence, f"is this .{old} one of {owner.name}?"))
    for key in sorted(family.members, key=str):
        for taken in classes.definitions(key.path, new):
            if class_of(taken) == key:
                found.collisions.append(python.place(taken, f"{key.name} has {new} already"))
    for base in family.outside:
        found.risks.append(
            f"{owner.name} or a base of it extends {base}, which is not in this repository: if that defines or calls "
            f"{old}, the renamed one no longer answers"
        )
    if old.startswith("__") and old.endswith("__"):
        found.risks.append(f"{old} is called by the language itself")
    return found, assumed
