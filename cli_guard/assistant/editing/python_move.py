"""Moves top-level Python definitions to another module: what they use comes along, what imports them follows."""

import re
from collections.abc import Collection

from cli_guard.assistant.editing.edits import Edit, applied
from cli_guard.assistant.editing.import_graph import leads_to, top_imports
from cli_guard.assistant.editing.imports import add_imports, drop_new_unused, python_import_place
from cli_guard.assistant.editing.move_importers import importer_edits, taken_in
from cli_guard.assistant.editing.moved_code import (
    Move,
    carried_imports,
    comment_start,
    definitions_of,
    import_text,
    in_import,
    names_in,
    remaining_uses,
    used_names,
    whole_lines,
)
from cli_guard.assistant.editing.python_names import span
from cli_guard.assistant.editing.python_rename import Python

TYPES_ONLY_BLOCK = re.compile(r"^if\s+(?:\w+\.)?TYPE_CHECKING\s*:", re.MULTILINE)
FUTURE = "from __future__ import annotations"


def move_names(python: Python, source: str, names: Collection[str], target: str) -> Move:
    """Moves what `source` defines as `names` to `target`, which is made if it is not there."""
    move = Move()
    statements = definitions_of(python, source, names, move)
    if move.problems:
        return move
    inside = [span(node) for node in statements]
    needed = used_names(python, source, names, inside, move)
    if move.problems:
        return move
    imports = carried_imports(python, source, target, needed, move)
    stays = remaining_uses(python, source, names, inside)
    for name in sorted({*names, *(n for n in needed if target in python.sources.texts)}):
        move.problems += taken_in(python, target, name, source, is_moved=name in names)
    edits = [Edit(source, *whole_lines(python.sources.texts[source], *bounds), "") for bounds in inside]
    statement = import_text(python, source, source, target, sorted(stays))
    needs_source = any(origin == source for origin in needed.values())
    if stays and needs_source:
        line = python.sources.line(source, min(stays.values()))
        uses = ", ".join(sorted(n for n, origin in needed.items() if origin == source))
        reason = (
            f"{source} still uses {', '.join(sorted(stays))}, which needs {uses} of {source}: an import cycle"
        )
        move.problems.append((source, line, reason))
    edits += importer_edits(python, source, names, target, move)
    if stays:
        move.importers.add(source)
    check_cycles(python, source, target, needed, move)
    if move.problems:
        return move
    changes = applied(python.sources, edits)
    if stays:
        changes[source] = add_imports(python.sources, source, changes[source], [statement])
    for path, added in sorted(move.added.items()):
        before = changes.get(path, python.sources.texts[path])
        changes[path] = add_imports(python.sources, path, before, sorted(added))
    changes = drop_new_unused(python.sources, changes)
    changes[target] = target_text(python, source, target, inside, imports, move)
    move.changes = changes
    return move


def check_cycles(python: Python, source: str, target: str, needed: dict[str, str], move: Move) -> None:
    """A problem, if what the target must import now leads back to it."""
    wanted: set[str] = {source} if source in needed.values() else set()
    for name in (n for n, origin in needed.items() if not origin):
        for occurrence in python.names.of(source, name):
            here = python.modules.source_of(occurrence) if in_import(occurrence) else None
            if here is not None and here.module is not None:
                wanted.add(here.module)
    # A package is loaded before all that is in it: that is no circle of a new import's making.
    packages = {
        p
        for p in move.importers
        if p.endswith("__init__.py") and target.startswith(p.rpartition("/")[0] + "/")
    }
    new_importers = move.importers - {target} - packages
    there = set(top_imports(python, target)) if target in python.sources.texts else set()
    for module in sorted(wanted - there - {target}):
        way = leads_to(python, module, target, also=new_importers)
        if way:
            move.problems.append((target, 1, f"an import cycle: {' -> '.join([target, *way])}"))
    for importer in sorted(new_importers) if there else ():
        if target in set(top_imports(python, importer)):
            continue
        way = leads_to(python, target, importer)
        if way:
            move.problems.append((importer, 1, f"an import cycle: {' -> '.join([importer, *way])}"))


def target_text(
    python: Python, source: str, target: str, inside: list[tuple[int, int]], imports: list[str], move: Move
) -> str:
    """The text of the target with the moved code at its end and the imports it needs."""
    text = python.sources.texts[source]
    code = "\n\n\n".join(text[comment_start(text, start) : end].rstrip() for start, end in inside) + "\n"
    before = python.sources.texts.get(target, "")
    # The changes of the target so far: imports of the moved names have gone from it.
    before = move.changes.get(target, before)
    edits = [
        e
        for e in importer_edits(python, source, names_in(python, source, inside), target, Move())
        if e.path == target
    ]
    if edits and target in python.sources.texts:
        before = applied(python.sources, edits).get(target, before)
    if FUTURE in text and FUTURE not in before:
        if before.strip():
            move.risks.append(f"{target} does not say {FUTURE}: annotations are evaluated there")
        else:
            before = f"{FUTURE}\n"
    if move.for_types:
        imports = [*imports, "from typing import TYPE_CHECKING"]
    head = add_imports(python.sources, target, before, imports)
    if move.for_types:
        lines = "".join(f"\n    {each}" for each in sorted(move.for_types))
        block = TYPES_ONLY_BLOCK.search(head)
        if block is not None:
            head = f"{head[: block.end()]}{lines}{head[block.end() :]}"
        else:
            at = python_import_place(python.sources, head)
            head = f"{head[:at]}\nif TYPE_CHECKING:{lines}\n{head[at:]}"
    return f"{head.rstrip()}\n\n\n{code}" if head.strip() else code
