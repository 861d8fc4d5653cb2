"""Who imports what moves: the statements that follow it, and the names that are taken where it goes."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.edits import Edit
from cli_guard.assistant.editing.imports import line_end
from cli_guard.assistant.editing.model import Place
from cli_guard.assistant.editing.moved_code import Move, dotted_of, in_import
from cli_guard.assistant.editing.python_imports import relative
from cli_guard.assistant.editing.python_names import MODULE, Occurrence, span
from cli_guard.assistant.editing.python_rename import Python, sources_of_name
from cli_guard.assistant.editing.strings import dotted_strings

if TYPE_CHECKING:
    from ast_grep_py import SgNode


def taken_in(python: Python, target: str, name: str, source: str, *, is_moved: bool) -> Iterator[Place]:
    """Where the target binds the name to something else already."""
    if target not in python.sources.texts:
        return
    homes = python.names.homes(target, name)
    for occurrence in python.names.of(target, name):
        if homes.home(occurrence) != MODULE or occurrence.role not in ("definition", "binding", "import"):
            continue
        if in_import(occurrence):
            here = python.modules.source_of(occurrence)
            if here is not None and is_moved and here.module == source:
                continue
            if not is_moved and same_import(python, occurrence, source):
                continue
        elif not is_moved and comes_from(python, source, name, target):
            continue
        yield python.place(occurrence, f"{target} has {name} already")
        return


def same_import(python: Python, occurrence: Occurrence, source: str) -> bool:
    """Does the source bind the name by the same import, or is it of the source itself?"""
    here = python.modules.source_of(occurrence)
    if here is not None and here.module == source:
        return True
    for other in python.names.of(source, occurrence.name):
        if in_import(other) and other.scopes[-1] == MODULE:
            there = python.modules.source_of(other)
            if here is None or there is None:
                return here is there
            return (here.module, here.name) == (there.module, there.name) and (
                here.module is not None or here.text == there.text
            )
    return False


def comes_from(python: Python, source: str, name: str, target: str) -> bool:
    """Does the source import the name from the target?"""
    places = (o for o in python.names.of(source, name) if in_import(o))
    found = (python.modules.source_of(o) for o in places)
    return any(each is not None and each.module == target for each in found)


def importer_edits(
    python: Python, source: str, names: Collection[str], target: str, move: Move
) -> Iterator[Edit]:
    """The edits in every other file that takes the names from the old module."""
    for name in sorted(names):
        for occurrence, module in sources_of_name(python, name):
            if module != source or occurrence.path == source:
                continue
            move.importers.add(occurrence.path)
            if occurrence.role == "attribute":
                node = occurrence.node.parent()
                inner = node.field("object") if node is not None else None
                if inner is not None:
                    dotted = dotted_of(python, target, source)
                    yield Edit(occurrence.path, *span(inner), dotted)
                    move.added.setdefault(occurrence.path, set()).add(f"import {dotted}")
                continue
            yield from statement_edits(python, occurrence, target, names)
        for path, start in dotted_strings(python, {source}, name):
            line = python.sources.line(path, start)
            move.by_hand.append((path, line, f"a string names {name} by its old module"))


def statement_edits(
    python: Python, occurrence: Occurrence, target: str, names: Collection[str]
) -> Iterator[Edit]:
    """Turns `from old import name, other` to the new module; names that stay keep their statement."""
    statement: SgNode | None = occurrence.node
    while statement is not None and statement.kind() != "import_from_statement":
        statement = statement.parent()
    module = statement.field("module_name") if statement is not None else None
    if statement is None or module is None:
        return
    path, text = occurrence.path, python.sources.texts[occurrence.path]
    parts = [c for c in statement.named_children() if span(c) != span(module) and c.kind() != "comment"]
    gone = [c for c in parts if imported_name(c) in names]
    if path == target:
        new = ""
    else:
        by_place = module.text().startswith(".")
        where = relative(path, target) if by_place else dotted_of(python, target, occurrence.path)
        new = f"from {where} import {', '.join(c.text() for c in gone)}"
    kept = [c.text() for c in parts if c not in gone and imported_name(c) not in names]
    start, end = span(statement)
    if not kept:
        first, stop = text.rfind("\n", 0, start) + 1, line_end(text, end)
        alone = not new and not text[first:start].strip() and not text[end:stop].strip()
        yield Edit(path, *((first, stop) if alone else (start, end)), new or ("" if alone else "pass"))
        return
    indent = text[text.rfind("\n", 0, start) + 1 : start]
    old = f"from {module.text()} import {', '.join(kept)}"
    yield Edit(path, start, end, f"{old}\n{indent}{new}" if new else old)


def imported_name(node: "SgNode") -> str:
    """The name that a part of a from-import takes."""
    name = node.field("name") if node.kind() == "aliased_import" else node
    return name.text() if name is not None else ""
