"""Renames or moves a file: every Python import and every JavaScript import of it, and the paths that name it."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from cli_guard.assistant.editing.edits import Edit, applied, result
from cli_guard.assistant.editing.intents import Intent
from cli_guard.assistant.editing.javascript_modules import SCRIPTS, specifier, specifiers
from cli_guard.assistant.editing.mentions import usages_of
from cli_guard.assistant.editing.model import Place, Plan, Step
from cli_guard.assistant.editing.paths import find_path
from cli_guard.assistant.editing.plans import patched, refused, unknown_subject
from cli_guard.assistant.editing.python_imports import module_edits, relative_edits
from cli_guard.assistant.editing.python_modules import module_parts
from cli_guard.assistant.editing.python_rename import Python
from cli_guard.assistant.editing.sources import Sources, is_configuration, is_documentation


def plan_file(sources: Sources, intent: Intent) -> Plan:
    """The plan for "rename file a to b" and "rename module a.b to a.c"; a package takes all its files along."""
    old, new = intent.get("old"), intent.get("new")
    named = find_path(sources, old)
    if not named.path:
        return unknown_subject(sources, "rename", old, intent)
    source = named.path
    target = target_of(source, old, new)
    title = f"Rename {source} to {target}"
    if target == source:
        return refused(sources, "rename", title, "", "it has that name already", ())
    moves = moved_files(sources, source, target)
    taken = [path for path in moves.values() if path in sources.texts and path not in moves]
    if taken:
        places = tuple((path, 1, "is there already") for path in taken)
        return refused(sources, "rename", title, "", "the new name is taken", places)
    left: list[Place] = []
    edits, problems = import_edits(sources, moves, left)
    if problems:
        return refused(
            sources, "rename", title, "", "the new name means something else there", tuple(problems)
        )
    for path, target_path in moves.items():
        edits += path_mentions(sources, path, target_path)
    changes = applied(sources, edits)
    measured: dict[str, str] = {}
    for path, target_path in moves.items():
        changes[target_path] = changes.pop(path, sources.texts[path])
        measured[target_path] = path
    outcome = result(sources, changes, moved=measured, removed=moves)
    others = tuple(sorted({e.path for e in edits} - set(moves)))
    steps = [Step(f"Move {source} to {target}", tuple(moves), True)]
    if others:
        steps.append(Step("Change what imports or names it", others, True))
    stem = (
        PurePosixPath(source).stem
        if PurePosixPath(source).stem != "__init__"
        else PurePosixPath(source).parent.name
    )
    risks = ["links and builds outside of this repository that name the old path break"]
    if source.endswith(".py"):
        risks.append(
            "pickled objects and strings that are put together when the program runs keep the old module name"
        )
    return patched(
        sources,
        "rename",
        title,
        stem,
        outcome,
        usages_of(sources, stem),
        steps,
        risks,
        by_hand=left,
        assumed=named.assumed,
    )


def target_of(source: str, old: str, new: str) -> str:
    """The new path: as written, or, for a module's name or a bare file name, beside the old one."""
    pure = PurePosixPath(source)
    if "/" in new:
        clean = new.removeprefix("./").rstrip("/")
        return clean if PurePosixPath(clean).suffix else f"{clean}{pure.suffix}"
    is_path = "/" in old or old.endswith(pure.suffix or "\0") or new.endswith(pure.suffix or "\0")
    if is_path:
        name = new if PurePosixPath(new).suffix else f"{new}{pure.suffix}"
        return str(pure.with_name(name))
    parts, old_parts, new_parts = module_parts(source), old.split("."), new.split(".")
    if len(new_parts) == 1:
        base = parts[:-1]
    else:
        base = parts[: len(parts) - len(old_parts)]
        if parts[-len(old_parts) :] != tuple(old_parts):
            base = parts[:-1]
            new_parts = new_parts[-1:]
    stem = "/".join((*base, *new_parts)).lstrip("/")
    return f"{stem}/__init__{pure.suffix}" if pure.stem == "__init__" else f"{stem}{pure.suffix}"


def moved_files(sources: Sources, source: str, target: str) -> dict[str, str]:
    """Old path -> new path of all that moves: one file, or with an `__init__` the folder it stands in."""
    if PurePosixPath(source).stem != "__init__" or PurePosixPath(target).stem != "__init__":
        return {source: target}
    folder, new_folder = str(PurePosixPath(source).parent), str(PurePosixPath(target).parent)
    return {p: f"{new_folder}{p[len(folder) :]}" for p in sources.texts if p.startswith(f"{folder}/")}


def import_edits(
    sources: Sources, moves: dict[str, str], left: list[Place]
) -> tuple[list[Edit], list[Place]]:
    """The edits of all imports, and the places where the new name is taken."""
    edits: list[Edit] = []
    problems: list[Place] = []
    if any(p.endswith((".py", ".pyi")) for p in moves):
        python = Python.of(sources)
        found, taken = module_edits(python, moves, left)
        edits += found
        problems += taken
        for path, target in moves.items():
            if sources.language(path) == "python":
                edits += relative_edits(python, path, target, moves)
    if any(p.endswith(SCRIPTS) for p in moves):
        for path in sources.texts:
            if path.endswith(SCRIPTS) and sources.in_time(path):
                edits += script_edits(sources, path, moves)
    return edits, problems


def script_edits(sources: Sources, path: str, moves: dict[str, str]) -> Iterator[Edit]:
    """The edits of the relative imports of one JavaScript file, which may itself move."""
    for start, text, target in specifiers(sources, path):
        if target in moves or path in moves:
            new = specifier(moves.get(path, path), moves.get(target, target), text)
            if new != text:
                yield Edit(path, start, start + len(text), new)


def path_mentions(sources: Sources, old: str, new: str) -> Iterator[Edit]:
    """Where configuration and documents name the whole path of a file."""
    if "/" not in old and not PurePosixPath(old).suffix:
        return
    pattern = re.compile(rf"(?<![\w./-]){re.escape(old)}(?![\w/-])")
    for path in sources.mentioning(old):
        if is_configuration(path) or is_documentation(path):
            yield from (Edit(path, m.start(), m.end(), new) for m in pattern.finditer(sources.texts[path]))
