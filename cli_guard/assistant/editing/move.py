"""Moves top-level Python definitions to another module: what they use comes along, what imports them follows."""

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from cli_guard.assistant.editing.imports import (
    add_imports,
    blank_lines_end,
    drop_new_unused,
    import_place,
    is_alone,
    line_end,
    line_start,
    split_import,
)
from cli_guard.assistant.editing.intent import Intent
from cli_guard.assistant.editing.module_rename import new_dotted, plan_file_rename
from cli_guard.assistant.editing.modules import Python, is_package_of, module_text, relative_module
from cli_guard.assistant.editing.other_languages import plan_uses
from cli_guard.assistant.editing.plan import Draft, Plan
from cli_guard.assistant.editing.prose import find_dotted_strings
from cli_guard.assistant.editing.scopes import MODULE, Occurrence
from cli_guard.assistant.editing.sources import Edit, Sources, apply_edits, find_path
from cli_guard.assistant.editing.targets import find_targets, name_others, sources_of_name
from cli_guard.assistant.editing.usages import Location

FUTURE = "from __future__ import annotations"
TYPES_ONLY_BLOCK = re.compile(r"^if\s+(?:\w+\.)?TYPE_CHECKING\s*:", re.MULTILINE)
MOVABLE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.AugAssign)
DEFINITIONS = MOVABLE[:3]
Span = tuple[int, int]


@dataclass(slots=True)
class Move:
    """A move as new texts; with `problems` there are none."""

    changes: dict[str, str] = field(default_factory=dict)
    by_hand: list[Location] = field(default_factory=list)
    problems: list[Location] = field(default_factory=list)
    risks: list[str] = field(default_factory=list)
    importers: set[str] = field(default_factory=set)
    # Imports that the moved code needs for its annotations alone.
    for_types: set[str] = field(default_factory=set)


def plan_move(sources: Sources, intent: Intent) -> Plan:
    """The plan for "move f to m"."""
    old, new = intent.get("old"), intent.get("new")
    if intent.get("sort") in ("module", "file", "package") or "/" in old or old.endswith(".py"):
        return plan_file_rename(sources, intent)
    python = Python(sources)
    found = [each for each in find_targets(python, old, intent.get("place")) if each.home == MODULE]
    if not found:
        is_file = "." in old and find_path(sources, old).path
        return plan_file_rename(sources, intent) if is_file else plan_uses(sources, "move", intent)
    name, path = found[0].name, found[0].path
    target, note = target_path(sources, path, new)
    draft = Draft(sources, "move", f"Move {name} from {path} to {target}", name, name_others(python, found))
    draft.assume(note)
    if target == path:
        return draft.refuse("it is there already")
    if not target.endswith(".py"):
        return draft.refuse(f"{target} is not a Python module")
    move = move_names(python, path, [name], target)
    if move.problems:
        return draft.refuse("it cannot go there as it is", move.problems)
    draft.add_step(f"Put {name} into {target}, with the imports it needs", [target])
    draft.add_step(f"Take it out of {path}", [path])
    draft.add_step(f"Import it from {target}", sorted(set(move.changes) - {path, target}))
    breaks = f"code outside of this repository that imports it from {python.module_name(path)} breaks"
    draft.risks, draft.by_hand = [*move.risks, breaks], move.by_hand
    return draft.finish(move.changes)


def target_path(sources: Sources, source: str, new: str) -> tuple[str, str | None]:
    """The module that is meant: one that is there, or a new one beside the old."""
    named, pure = find_path(sources, new), PurePosixPath(source)
    if named.path:
        return named.path, named.assumed
    if "/" in new:
        path = new if PurePosixPath(new).suffix else f"{new}{pure.suffix}"
    elif new.endswith(pure.suffix):
        path = str(pure.with_name(new))
    else:
        path = str(pure.with_name(new.rpartition(".")[2] + pure.suffix))
    return path, f"{path} is not there yet: it is made"


def move_names(python: Python, source: str, names: Collection[str], target: str) -> Move:
    """Move what `source` defines as `names` to `target`, which is made if it is not there."""
    move, sources = Move(), python.sources
    inside = definitions_of(python, source, names, move)
    needed = find_needed(python, source, names, inside, move)
    if move.problems:
        return move
    imports = build_imports(python, source, target, needed, move)
    stays = remaining_uses(python, source, names, inside)
    for name in sorted({*names, *(needed if target in sources.texts else ())}):
        move.problems += find_taken(python, target, name, source, is_moved=name in names)
    own = sorted(name for name, is_own in needed.items() if is_own)
    if stays and own:
        line, uses = sources.line(source, min(stays.values())), ", ".join(sorted(stays))
        reason = f"{source} still uses {uses}, which needs {', '.join(own)} of {source}: an import cycle"
        move.problems.append((source, line, reason))
    texts = sources.texts[source]
    edits = [Edit(source, comment_start(texts, a), blank_lines_end(texts, b - 1), "") for a, b in inside]
    added: dict[str, set[str]] = {}
    edits += importer_edits(python, source, names, target, move, added)
    if stays:
        move.importers.add(source)
        added.setdefault(source, set()).add(import_text(python, source, source, target, sorted(stays)))
    check_cycles(python, source, target, needed, move)
    if move.problems:
        return move
    changes = apply_edits(sources, edits)
    for path, statements in sorted(added.items()):
        changes[path] = add_imports(sources, changes.get(path, sources.texts[path]), sorted(statements))
    before = changes.get(target, sources.texts.get(target, "")).lstrip("\r\n")
    changes = {p: text.lstrip("\r\n") for p, text in drop_new_unused(sources, changes).items()}
    changes[target] = target_text(python, source, before, inside, imports, move)
    move.changes = changes
    return move


def definitions_of(python: Python, source: str, names: Collection[str], move: Move) -> list[Span]:
    """The spans of the statements that define the names, in order; one inside of `if` or `try` is a problem."""
    module = python.sources.module(source)
    tops = [(python.span(source, node), node) for node in (module.body if module is not None else ())]
    found: set[Span] = set()
    for name in sorted(names):
        for each in python.places_of_home(source, name, MODULE):
            if each.role not in ("definition", "binding"):
                continue
            span, node = next((top for top in tops if top[0][0] <= each.start < top[0][1]), ((0, 0), None))
            is_other = isinstance(node, DEFINITIONS) and node.name != name
            if not isinstance(node, MOVABLE) or is_other:
                move.problems.append(python.location(each, f"{name} is defined under a condition"))
            elif not is_alone(python.texts[source], *span):
                move.problems.append(python.location(each, f"{name} shares its line with other code"))
            else:
                # A comment that ends its last line goes along.
                found.add((span[0], line_end(python.texts[source], span[1])))
    return sorted(found)


def find_needed(
    python: Python, source: str, names: Collection[str], inside: list[Span], move: Move
) -> dict[str, bool]:
    """The module-level names that the moved code uses, with whether the module defines them itself."""
    needed: dict[str, bool] = {}
    for name, places in python.file(source).places.items():
        mine = [each for each in places if is_inside(each, inside)] if name not in names else []
        if any(each.role == "global" for each in mine):
            move.problems.append(python.location(mine[0], f"it sets {name} of its module"))
        if any(python.home(each) == MODULE for each in mine):
            needed[name] = not imports_binding(python, source, name)
    if any(statement.names[0].name == "*" for statement, _ in python.file(source).imports):
        move.risks.append(
            f"{source} imports everything from another module: what of it the moved code uses is not known"
        )
    return needed


def is_inside(occurrence: Occurrence, inside: list[Span]) -> bool:
    return any(start <= occurrence.start < end for start, end in inside)


def imports_binding(python: Python, path: str, name: str) -> list[Occurrence]:
    return [each for each in python.places_of_home(path, name, MODULE) if each.role == "import"]


def build_imports(python: Python, source: str, target: str, needed: dict[str, bool], move: Move) -> list[str]:
    """The imports that the moved code needs where it goes."""
    found, module = set[str](), python.sources.module(source)
    top = {id(each) for each in (module.body if module is not None else ())}
    for_types = {id(each) for each, at_load in python.file(source).imports if not at_load}
    own = sorted(name for name, is_own in needed.items() if is_own)
    if own:
        found.add(import_text(python, target, target, source, own))
    for name in sorted(name for name, is_own in needed.items() if not is_own):
        bound = imports_binding(python, source, name)[0]
        origin = python.source_of(bound)
        if target in (origin.module if origin is not None else None, python.find_imported(bound)):
            continue
        text = single_import(python, bound, source, target)
        if id(bound.around) in top:
            found.add(text)
        elif id(bound.around) in for_types:
            move.for_types.add(text)
        else:
            move.by_hand.append((target, 1, f"bring this import along as it is guarded there: {text}"))
    return sorted(found, key=lambda t: (t.startswith("from ."), not t.startswith("import "), t))


def single_import(python: Python, bound: Occurrence, source: str, target: str) -> str:
    """The part of an import that binds one name, as the target writes it."""
    statement, written = bound.around, ast.unparse(bound.node)
    if not isinstance(statement, ast.ImportFrom):
        return f"import {written}"
    text = module_text(statement)
    if statement.level and source.rpartition("/")[0] != target.rpartition("/")[0]:
        meant = python.find(source, text)
        text = relative_module(target, meant) if meant is not None else text
    return f"from {text} import {written}"


def import_text(python: Python, importer: str, near: str, module: str, names: list[str]) -> str:
    """`from module import names` as a file writes imports: by place, if it does so for its own package."""
    texts = python.texts
    text = texts[near] if near in texts else texts.get(module, "")
    other = name_module(python, module, importer)
    is_same = python.module_name(importer).split(".")[0] == other.split(".")[0] and "." in other
    is_relative = is_same and re.search(r"^[ \t]*from \.", text, re.MULTILINE) is not None
    return f"from {relative_module(importer, module) if is_relative else other} import {', '.join(names)}"


def name_module(python: Python, path: str, beside: str) -> str:
    """The name of a module, also of one that is still to be made: as a file of the same root is named."""
    return python.module_name(path) if path in python.texts else new_dotted(python, beside, path)


def remaining_uses(python: Python, source: str, names: Collection[str], inside: list[Span]) -> dict[str, int]:
    """The moved names that the rest of the module uses, each with its first place."""
    found: dict[str, int] = {}
    for name in sorted(names):
        for each in python.places_of_home(source, name, MODULE):
            if not is_inside(each, inside):
                found.setdefault(name, each.start)
    return found


def find_taken(python: Python, target: str, name: str, source: str, *, is_moved: bool) -> Iterator[Location]:
    """Where the target binds the name to something else already."""
    if target not in python.texts:
        return
    origins = [python.source_of(each) for each in imports_binding(python, source, name)]
    for each in python.places_of_home(target, name, MODULE):
        if each.role not in ("definition", "binding", "import"):
            continue
        here = python.source_of(each)
        if each.role == "import" and here is not None and here.module == source:
            continue
        if not is_moved and each.role == "import" and here in origins:
            continue
        if not is_moved and any(origin is not None and origin.module == target for origin in origins):
            continue
        yield python.location(each, f"{target} has {name} already")
        return


def importer_edits(
    python: Python, source: str, names: Collection[str], target: str, move: Move, added: dict[str, set[str]]
) -> Iterator[Edit]:
    """The edits in every other file that takes the names from the old module."""
    for name in sorted(names):
        for each, module in sources_of_name(python, name):
            if module != source or each.path == source:
                continue
            move.importers.add(each.path)
            if isinstance(each.node, ast.Attribute):
                dotted = name_module(python, target, source)
                length = len(ast.unparse(each.node.value))
                yield Edit(each.path, each.start - 1 - length, each.start - 1, dotted)
                added.setdefault(each.path, set()).add(f"import {dotted}")
            elif isinstance(each.around, ast.ImportFrom):
                yield import_edit(python, each.path, each.around, target, names)
        for path, start in find_dotted_strings(python, {source}, name):
            line = python.line(path, start)
            move.by_hand.append((path, line, f"a string names {name} by its old module"))


def import_edit(
    python: Python, path: str, statement: ast.ImportFrom, target: str, names: Collection[str]
) -> Edit:
    """Turns `from old import name, other` to the new module; names that stay keep their statement."""
    gone = [each for each in statement.names if each.name in names]
    where = relative_module(path, target) if statement.level else name_module(python, target, path)
    new = f"from {where} import {', '.join(map(ast.unparse, gone))}"
    return split_import(python, path, statement, gone, [new] if path != target else [])


def check_cycles(python: Python, source: str, target: str, needed: dict[str, bool], move: Move) -> None:
    """Note a problem, if what the target must import now leads back to it."""
    wanted: set[str] = {source} if any(needed.values()) else set()
    for name in (name for name, is_own in needed.items() if not is_own):
        origins = (python.source_of(each) for each in imports_binding(python, source, name))
        wanted |= {each.module for each in origins if each is not None and each.module is not None}
    # A package is loaded before all that is in it: that is no cycle of a new import's making.
    importers = {each for each in move.importers - {target} if not is_package_of(each, target)}
    there = set(python.list_loaded(target))
    for module in sorted(wanted - there - {target}):
        way = python.import_path(module, target, importers)
        if way:
            move.problems.append((target, 1, f"an import cycle: {' -> '.join([target, *way])}"))
    for importer in sorted(importers) if there else ():
        way = python.import_path(target, importer) if target not in set(python.list_loaded(importer)) else []
        if way:
            move.problems.append((importer, 1, f"an import cycle: {' -> '.join([importer, *way])}"))


def target_text(
    python: Python, source: str, before: str, inside: list[Span], imports: list[str], move: Move
) -> str:
    """The text of the target with the moved code at its end and the imports it needs."""
    text = python.texts[source]
    code = "\n\n\n".join(text[comment_start(text, start) : end].rstrip() for start, end in inside) + "\n"
    if FUTURE in text and FUTURE not in before:
        if before.strip():
            move.risks.append(f"the new module does not say {FUTURE}: annotations are evaluated there")
        else:
            before = f"{FUTURE}\n"
    extra = ["from typing import TYPE_CHECKING"] if move.for_types else []
    head = add_imports(python.sources, before, [*imports, *extra])
    if move.for_types:
        lines = "".join(f"\n    {each}" for each in sorted(move.for_types))
        block = TYPES_ONLY_BLOCK.search(head)
        at = block.end() if block is not None else import_place(python.sources, head)
        put = lines if block is not None else f"\nif TYPE_CHECKING:{lines}\n"
        head = f"{head[:at]}{put}{head[at:]}"
    return f"{head.rstrip()}\n\n\n{code}" if head.strip() else code


def comment_start(text: str, start: int) -> int:
    first = line_start(text, start)
    while first:
        above = line_start(text, first - 1)
        if not text[above:first].lstrip().startswith("#") or text[above:first].startswith("#!"):
            break
        first = above
    return first
