"""Plans a rename in Python: what the name means, where it is surely meant, what is left and what may break."""

import ast
import builtins
import keyword

from cli_guard.assistant.editing.classes import Classes, class_around
from cli_guard.assistant.editing.intent import Intent
from cli_guard.assistant.editing.module_rename import plan_file_rename
from cli_guard.assistant.editing.modules import Python
from cli_guard.assistant.editing.other_languages import plan_uses
from cli_guard.assistant.editing.parameters import rename_parameter
from cli_guard.assistant.editing.plan import Draft, Plan
from cli_guard.assistant.editing.prose import dynamic_uses, find_dotted_strings, mention_risks
from cli_guard.assistant.editing.scopes import Occurrence, Scope
from cli_guard.assistant.editing.sources import Edit, Sources, count, find_path
from cli_guard.assistant.editing.targets import (
    Renaming,
    Target,
    collisions,
    exports_of,
    find_targets,
    name_others,
    rename_in_scope,
)
from cli_guard.assistant.editing.usages import outside_history, usages_of

FILES = tuple(
    ".py .pyi .js .jsx .mjs .cjs .ts .mts .cts .tsx .go .java .rs .md .toml .json .yml .yaml .txt .css .html".split()
)


def plan_rename(sources: Sources, intent: Intent) -> Plan:
    old, new = intent.get("old"), intent.get("new")
    if intent.get("sort") in ("module", "package", "file") or "/" in old or old.endswith(FILES):
        return plan_file_rename(sources, intent)
    python = Python(sources)
    found = find_targets(python, old, intent.get("place"), intent.get("sort"))
    if found:
        return rename_target(python, found, new.rpartition(".")[2])
    if "." in old and find_path(sources, old).path:
        return plan_file_rename(sources, intent)
    return plan_uses(sources, "rename", intent)


def rename_target(python: Python, found: list[Target], new: str) -> Plan:
    """The rename of the first of several definitions; the others are named as what was not taken."""
    sources, target, old = python.sources, found[0], found[0].name
    sort = "local variable" if target.sort == "local" else target.sort
    draft = Draft(sources, "rename", f"Rename the {sort} {target.qualified} in {target.path} to {new}", old)
    problem = why_invalid(new) or ("it has that name already" if new == old else None)
    if problem is not None:
        return draft.refuse(f"{draft.title}: {problem}")
    work = rename_places_of(python, target, new)
    draft.assume(name_others(python, found), work.assumed)
    if work.collisions:
        return draft.refuse(f"{new} cannot be used here", work.collisions)
    in_code = {(each.path, each.start) for each in work.edits}
    if target.sort not in ("parameter", "local"):
        work.by_hand += dynamic_uses(python, old)
    edits = outside_history(sources, work.edits)
    paths = {path for path, _ in in_code}
    draft.add_step(f"Rename {target.qualified} where it is defined", [target.path])
    draft.add_step("Rename its imports and uses", sorted(paths - {target.path}))
    draft.add_step(
        "Rename it where strings and configuration name it", sorted({each.path for each in edits} - paths)
    )
    if target.home.kind == "module" and not old.startswith("_"):
        module = python.module_name(target.path)
        draft.risks.append(f"code outside of this repository that imports {old} from {module} breaks")
    draft.risks += [*work.risks, *mention_risks(python, old, edits)]
    if hasattr(builtins, new):
        draft.risks.append(f"{new} is the name of a built-in, which is hidden wherever it is bound")
    draft.by_hand, draft.usages = work.by_hand, usages_of(sources, old, in_code)
    return draft.finish_edits(edits)


def why_invalid(name: str) -> str | None:
    if not name.isidentifier():
        return f"{name} is not a name in Python"
    return f"{name} is a word of the language" if keyword.iskeyword(name) else None


def rename_places_of(python: Python, target: Target, new: str) -> Renaming:
    work = Renaming()
    if target.sort == "parameter":
        rename_parameter(python, target, new, work)
    elif target.owner is not None:
        rename_member(python, target, new, work)
    elif target.home.kind == "module":
        places = exports_of(python, target.path, target.name)
        rename_exports(python, places, new, work)
        for path, start in find_dotted_strings(python, places, target.name):
            work.edits.append(Edit(path, start, start + len(target.name), new))
    else:
        rename_in_scope(python, target.path, target.name, target.home, new, work)
    return work


def rename_exports(python: Python, places: dict[str, set[Occurrence]], new: str, work: Renaming) -> None:
    """Rename places of one name. What other imports bind in the same scope is given the new name with `as`."""
    for path in sorted(places):
        by_home: dict[Scope, list[Occurrence]] = {}
        for each in sorted(places[path], key=lambda o: o.start):
            work.take(each, f"{each.name} as {new}" if is_foreign(python, each, places) else new)
            home = python.home(each)
            if home is not None:
                by_home.setdefault(home, []).append(each)
        for home, mine in by_home.items():
            work.collisions += collisions(python, path, mine, home, new)


def is_foreign(python: Python, occurrence: Occurrence, places: dict[str, set[Occurrence]]) -> bool:
    """Does an import bind the name to something else, as in `try: from other import NAME`?"""
    alias = occurrence.node
    if occurrence.role != "import" or (isinstance(alias, ast.alias) and alias.asname):
        return False
    source = python.source_of(occurrence)
    return source is None or source.module not in places


def rename_member(python: Python, target: Target, new: str, work: Renaming) -> None:
    """Rename a method or attribute wherever its family of classes is surely meant."""
    owner, old, classes = target.owner, target.name, Classes(python)
    assert owner is not None  # noqa: S101 - the target is a member
    family = classes.family(owner, old)
    sure, unsure, is_unique = classes.member_places(family, old)
    if unsure and is_unique:
        places = count(len(unsure), "place")
        note = f"no other class of the repository has {old}, so every .{old} is taken for it"
        work.assumed = f"{note} ({places} by name alone)"
        sure, unsure = [*sure, *unsure], []
    for each in sure:
        work.take(each, new)
    work.by_hand += [python.location(each, f"is this .{old} one of {owner.name}?") for each in unsure]
    for path in sorted({key.path for key in family.members}):
        for taken in classes.definitions(path, new):
            key = class_around(taken)
            if key is not None and key in family.members:
                work.collisions.append(python.location(taken, f"{key.name} has {new} already"))
    for base in family.outside:
        work.risks.append(
            f"{owner.name} or a base of it extends {base}, which is not in this repository: if that defines or calls "
            f"{old}, the renamed one no longer answers"
        )
    if old.startswith("__") and old.endswith("__"):
        work.risks.append(f"{old} is called by the language itself")
