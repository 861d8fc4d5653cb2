"""Renames or moves a file: every Python import of it, and the paths and dotted names that mean it."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from cli_guard.assistant.editing.imports import split_import
from cli_guard.assistant.editing.intent import Intent
from cli_guard.assistant.editing.modules import (
    Python,
    join_dotted,
    module_parts,
    module_text,
    relative_module,
)
from cli_guard.assistant.editing.other_languages import PLANNED_ONLY, plan_file_uses, plan_uses
from cli_guard.assistant.editing.plan import Draft, Plan
from cli_guard.assistant.editing.prose import find_dotted
from cli_guard.assistant.editing.sources import (
    Edit,
    Sources,
    apply_edits,
    find_path,
    is_configuration,
    is_documentation,
)
from cli_guard.assistant.editing.targets import collisions
from cli_guard.assistant.editing.usages import Location, outside_history

FROM = re.compile(r"from[\s\\]*")


@dataclass(slots=True)
class ModuleMove:
    """The files that move, and the edits, open places and taken names that follow from it."""

    python: Python
    paths: Mapping[str, str]
    by_hand: list[Location]
    edits: list[Edit] = field(default_factory=list)
    problems: list[Location] = field(default_factory=list)

    def module_name(self, path: str) -> str:
        return new_dotted(self.python, path, self.paths[path])


def plan_file_rename(sources: Sources, intent: Intent) -> Plan:
    """The plan for "rename file a to b" and "rename module a.b to a.c"; a package takes all its files along."""
    old, new = intent.get("old"), intent.get("new")
    named = find_path(sources, old)
    if not named.path:
        return plan_uses(sources, "rename", intent)
    source, python = named.path, Python(sources)
    target = target_of(source, old, new)
    paths = list_moved(sources, source, target)
    stem = (module_parts(source) or (source,))[-1]
    draft = Draft(sources, "rename", f"Rename {source} to {target}", stem, named.assumed)
    taken = [(path, 1, "a file of that name is there") for path in paths.values() if path in sources.texts]
    if target == source:
        return draft.refuse("it has that name already")
    if any(sources.language(path) in PLANNED_ONLY for path in paths):
        return plan_file_uses(draft, source, target)
    if taken:
        return draft.refuse("the new path is taken", taken)
    work = ModuleMove(python, paths, draft.by_hand)
    rename_modules(work)
    if work.problems:
        return draft.refuse("the new name means something else there", work.problems)
    for path in paths:
        work.edits += path_mentions(sources, path, paths[path])
    edits = outside_history(sources, work.edits)
    changes = apply_edits(sources, edits)
    for path, moved in paths.items():
        changes[moved] = changes.pop(path, sources.texts[path])
    draft.add_step(f"Move {source} to {target}", paths)
    draft.add_step("Change what imports or names it", sorted({e.path for e in edits} - set(paths)))
    draft.risks.append("links and builds outside of this repository that name the old path break")
    if source.endswith(".py"):
        draft.risks.append("pickled objects and strings that are built at run time keep the old module name")
    return draft.finish(changes, {moved: path for path, moved in paths.items()})


def target_of(source: str, old: str, new: str) -> str:
    """The new path: as written, or, for a module's name or a bare file name, beside the old one."""
    pure = PurePosixPath(source)
    if "/" in new:
        clean = new.removeprefix("./").rstrip("/")
        return clean if PurePosixPath(clean).suffix else f"{clean}{pure.suffix}"
    ending = pure.suffix or "\0"
    if "/" in old or old.endswith(ending) or new.endswith(ending):
        return str(pure.with_name(new if PurePosixPath(new).suffix else f"{new}{pure.suffix}"))
    parts, old_parts, new_parts = module_parts(source), old.split("."), new.split(".")
    base = parts[: len(parts) - len(old_parts)]
    if len(new_parts) == 1 or parts[-len(old_parts) :] != tuple(old_parts):
        base, new_parts = parts[:-1], new_parts[-1:]
    stem = "/".join((*base, *new_parts)).lstrip("/")
    return f"{stem}/__init__{pure.suffix}" if pure.stem == "__init__" else f"{stem}{pure.suffix}"


def list_moved(sources: Sources, source: str, target: str) -> dict[str, str]:
    """Old path -> new path of all that moves: one file, or with an `__init__` the folder that it is in."""
    if PurePosixPath(source).stem != "__init__" or PurePosixPath(target).stem != "__init__":
        return {source: target}
    folder, new_folder = str(PurePosixPath(source).parent), str(PurePosixPath(target).parent)
    return {p: f"{new_folder}{p[len(folder) :]}" for p in sources.texts if p.startswith(f"{folder}/")}


def new_dotted(python: Python, old: str, new: str) -> str:
    """The name that a module is imported by where it goes; the root of imports stays the same."""
    parts, target = module_parts(old), module_parts(new)
    root = parts[: len(parts) - len(python.module_name(old).split("."))]
    return ".".join(target[len(root) if target[: len(root)] == root else 0 :])


def path_mentions(sources: Sources, old: str, new: str) -> Iterator[Edit]:
    if "/" not in old and not PurePosixPath(old).suffix:
        return
    pattern = re.compile(rf"(?<![\w./-]){re.escape(old)}(?![\w/-])")
    for path in sources.mentioning(old):
        if is_configuration(path) or is_documentation(path):
            yield from (Edit(path, m.start(), m.end(), new) for m in pattern.finditer(sources.texts[path]))


def rename_modules(work: ModuleMove) -> None:
    """Rewrite every import of the modules that move, and where strings and configuration name them."""
    python, moved = work.python, {p for p in work.paths if p.endswith((".py", ".pyi"))}
    stems = {python.module_name(path).rpartition(".")[2] for path in moved}
    for path in dict.fromkeys(p for stem in sorted(stems) for p in python.mentioning(stem)):
        for statement, _ in python.file(path).imports:
            if isinstance(statement, ast.ImportFrom):
                rename_in_from(work, path, statement)
            else:
                rename_in_import(work, path, statement)
    for path in moved:
        if path in python.texts and python.sources.language(path) == "python":
            work.edits += relative_edits(work, path)
        work.edits += find_dotted_mentions(python, python.module_name(path), work.module_name(path))


def rename_in_import(work: ModuleMove, path: str, statement: ast.Import) -> None:
    """Rename in `import a.b.c`, with its uses where it has no second name."""
    python = work.python
    for alias in statement.names:
        target = python.find(path, alias.name)
        if target is None or target not in work.paths:
            continue
        new, start = work.module_name(target), python.span(path, alias)[0]
        work.edits.append(Edit(path, start, start + len(alias.name), new))
        bound = python.file(path).by_node.get(alias)
        if alias.asname or bound is None:
            continue
        home, head = python.home(bound), new.partition(".")[0]
        uses = [each for each in python.places_of_home(path, bound.name, home) if each.role == "read"]
        if head != bound.name and home is not None:
            work.problems += collisions(python, path, uses, home, head)
        for use in uses:
            if python.texts[path].startswith(alias.name, use.start):
                end = use.start + len(alias.name)
                if not re.match(r"\w", python.texts[path][end : end + 1]):
                    work.edits.append(Edit(path, use.start, end, new))


def rename_in_from(work: ModuleMove, path: str, statement: ast.ImportFrom) -> None:
    """Rename in `from a.b import c`, where a.b moves or c is a module that moves."""
    python, text = work.python, module_text(statement)
    source, start = python.find(path, text), python.span(path, statement)[0]
    if source in work.paths and source is not None:
        if statement.level and path in work.paths:
            return  # a relative import of a file that moves along
        begin = FROM.match(python.texts[path], start)
        if begin is not None and python.texts[path].startswith(text, begin.end()):
            to = work.paths[source]
            new = relative_module(path, to) if statement.level else work.module_name(source)
            work.edits.append(Edit(path, begin.end(), begin.end() + len(text), new))
        return
    apart: dict[ast.alias, str] = {}
    for alias in statement.names:
        target = python.find(path, join_dotted(text, alias.name))
        if target is None or target not in work.paths:
            continue
        package, _, stem = work.module_name(target).rpartition(".")
        if package != python.module_name(target).rpartition(".")[0]:
            bound = alias.asname or alias.name
            what = stem if bound == stem else f"{stem} as {bound}"
            apart[alias] = f"from {package} import {what}" if package else f"import {what}"
        elif alias.name != stem:
            rename_alias(work, path, alias, stem)
    if apart:
        work.edits.append(split_import(python, path, statement, apart, apart.values()))


def rename_alias(work: ModuleMove, path: str, alias: ast.alias, stem: str) -> None:
    """Rename a module that keeps its package: in the import, and its uses if it has no second name."""
    python = work.python
    start = python.span(path, alias)[0]
    work.edits.append(Edit(path, start, start + len(alias.name), stem))
    bound = python.file(path).by_node.get(alias)
    home = python.home(bound) if bound is not None and not alias.asname else None
    if home is not None:
        same = python.places_of_home(path, alias.name, home)
        work.edits += [Edit(path, each.start, each.end, stem) for each in same]
        work.problems += collisions(python, path, same, home, stem)


def relative_edits(work: ModuleMove, path: str) -> Iterator[Edit]:
    python, text = work.python, work.python.texts[path]
    for statement, _ in python.file(path).imports:
        if not isinstance(statement, ast.ImportFrom) or not statement.level:
            continue
        module = module_text(statement)
        source = python.find(path, module)
        if source is None:
            folder = PurePosixPath(path).parent.parts
            base = folder[: len(folder) - statement.level + 1]
            source = "/".join((*base, *(statement.module or "").split("."), "__init__.py"))
        new = relative_module(work.paths[path], work.paths.get(source, source))
        begin = FROM.match(text, python.span(path, statement)[0])
        if new != module and begin is not None and text.startswith(module, begin.end()):
            yield Edit(path, begin.end(), begin.end() + len(module), new)


def find_dotted_mentions(python: Python, old: str, new: str) -> Iterator[Edit]:
    """Where a string begins with the module's whole name, and where configuration and documents name it."""
    for path, match in find_dotted(python, old, prose=True) if "." in old else ():
        if match["module"] is None:
            yield Edit(path, *match.span("name"), new)
