"""Renames or moves a file: every Python import of it, and the paths and dotted names that mean it."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from cli_guard.assistant.editing.imports import split_import
from cli_guard.assistant.editing.modules import (
    Python,
    join_dotted,
    module_parts,
    module_text,
    relative_module,
)
from cli_guard.assistant.editing.open_ended import plan_uses
from cli_guard.assistant.editing.plan import EditPlan, PlanDraft, covering_tests
from cli_guard.assistant.editing.prose import find_dotted
from cli_guard.assistant.editing.sources import (
    Sources,
    TextEdit,
    apply_edits,
    find_path,
    is_configuration,
    is_documentation,
)
from cli_guard.assistant.editing.targets import collisions
from cli_guard.assistant.editing.usages import outside_history
from cli_guard.assistant.request_change import Change
from cli_guard.code.file_imports import ImportGraph
from cli_guard.lazy import dataclass

PLANNED_ONLY = frozenset({"javascript", "typescript", "tsx", "go", "java", "rust"})
FROM = re.compile(r"from[\s\\]*")


def plan_file_rename(sources: Sources, intent: Change) -> EditPlan:
    """Return the plan for "rename file a to b" and "rename module a.b to a.c"; a package takes all its files along."""
    old = intent.get("old")
    new = intent.get("new")
    named = find_path(sources, old)
    if not named.path:
        return plan_uses(sources, "rename", intent)
    source = named.path
    python = Python(sources)
    target = target_of(source, old, new)
    paths = list_moved(sources, source, target)
    stem = (module_parts(source) or (source,))[-1]
    draft = PlanDraft(
        sources, "rename", f"Rename {source} to {target}", stem, named.assumed
    )
    taken = [
        (path, 1, "a file of that name is there")
        for path in paths.values()
        if path in sources.texts
    ]
    if target == source:
        return draft.refuse("it has that name already")
    if any(sources.language(path) in PLANNED_ONLY for path in paths):
        importers = sorted(ImportGraph(sources.texts).importers_of(source))
        draft.add_step(f"Move {source} to {target}", [source])
        draft.add_step("Change what imports it", importers)
        tests = covering_tests(sources, [source], stem) or [source]
        draft.add_step("Compile, and run the tests", tests)
        draft.risks.append("no patch: only imports of Python are changed here")
        return draft.propose()
    if taken:
        return draft.refuse("the new path is taken", taken)
    work = ModuleMove(python, paths, draft)
    work.rename_modules()
    if draft.problems:
        return draft.refuse("the new name means something else there", draft.problems)
    for path in paths:
        draft.edits += path_mentions(sources, path, paths[path])
    edits = outside_history(draft.edits)
    changes = apply_edits(sources, edits)
    for path, moved in paths.items():
        changes[moved] = changes.pop(path, sources.texts[path])
    draft.add_step(f"Move {source} to {target}", paths)
    draft.add_step(
        "Change what imports or names it", sorted({e.path for e in edits} - set(paths))
    )
    draft.risks.append(
        "links and builds outside of this repository that name the old path break"
    )
    if source.endswith(".py"):
        draft.risks.append(
            "pickled objects and strings that are built at run time keep the old module name"
        )
    return draft.finish(changes, {moved: path for path, moved in paths.items()})


def target_of(source: str, old: str, new: str) -> str:
    """Return the new path: as written, or, for a module's name or a bare file name, beside the old one."""
    pure = PurePosixPath(source)
    if "/" in new:
        clean = new.removeprefix("./").rstrip("/")
        return clean if PurePosixPath(clean).suffix else f"{clean}{pure.suffix}"
    ending = pure.suffix or "\0"
    if "/" in old or old.endswith(ending) or new.endswith(ending):
        return str(
            pure.with_name(new if PurePosixPath(new).suffix else f"{new}{pure.suffix}")
        )
    parts = module_parts(source)
    old_parts = old.split(".")
    new_parts = new.split(".")
    base = parts[: len(parts) - len(old_parts)]
    if len(new_parts) == 1 or parts[-len(old_parts) :] != tuple(old_parts):
        base = parts[:-1]
        new_parts = new_parts[-1:]
    stem = "/".join((*base, *new_parts)).lstrip("/")
    return (
        f"{stem}/__init__{pure.suffix}"
        if pure.stem == "__init__"
        else f"{stem}{pure.suffix}"
    )


def list_moved(sources: Sources, source: str, target: str) -> dict[str, str]:
    """Return old path -> new path of all that moves: one file, or with an `__init__` the folder that it is in."""
    if PurePosixPath(source).stem != "__init__" or PurePosixPath(target).stem != "__init__":
        return {source: target}
    folder = str(PurePosixPath(source).parent)
    new_folder = str(PurePosixPath(target).parent)
    return {
        p: f"{new_folder}{p[len(folder) :]}"
        for p in sources.texts
        if p.startswith(f"{folder}/")
    }


def new_dotted(python: Python, old: str, new: str) -> str:
    """Return the name that a module is imported by where it goes; the root of imports stays the same."""
    parts = module_parts(old)
    target = module_parts(new)
    root = parts[: len(parts) - len(python.module_name(old).split("."))]
    return ".".join(target[len(root) if target[: len(root)] == root else 0 :])


def path_mentions(sources: Sources, old: str, new: str) -> Iterator[TextEdit]:
    if "/" not in old and not PurePosixPath(old).suffix:
        return
    pattern = re.compile(rf"(?<![\w./-]){re.escape(old)}(?![\w/-])")
    for path in sources.mentioning(old):
        if is_configuration(path) or is_documentation(path):
            yield from (
                TextEdit(path, m.start(), m.end(), new)
                for m in pattern.finditer(sources.texts[path])
            )


@dataclass(slots=True)
class ModuleMove:
    """The files that move (old path -> new path), and the draft that the edits and the taken names go to."""

    python: Python
    paths: Mapping[str, str]
    draft: PlanDraft

    def rename_modules(self) -> None:
        """Rewrite every import of the modules that move, and where strings and configuration name them."""
        python = self.python
        moved = {p for p in self.paths if p.endswith((".py", ".pyi"))}
        stems = {python.module_name(path).rpartition(".")[2] for path in moved}
        mentioning = (p for stem in sorted(stems) for p in python.mentioning(stem))
        # What moves is read in any case: its relative imports count from its own place.
        for path in dict.fromkeys((*mentioning, *moved)):
            for statement, _ in python.file(path).imports:
                if isinstance(statement, ast.ImportFrom):
                    self.rename_in_from(path, statement)
                else:
                    self.rename_in_import(path, statement)
        for path in moved:
            old = python.module_name(path)
            new = self.new_name(path)
            # Where a string begins with the whole name, and where configuration and documents hold it.
            for other, match in find_dotted(python, old, prose=True) if "." in old else ():
                if match["module"] is None:
                    self.draft.edits.append(TextEdit(other, *match.span("name"), new))

    def new_name(self, path: str) -> str:
        return new_dotted(self.python, path, self.paths[path])

    def find_moved(self, path: str, module: str) -> str | None:
        """Return the file that moves and is meant by a module in an import of a file."""
        found = self.python.find(path, module)
        return found if found in self.paths else None

    def rename_in_import(self, path: str, statement: ast.Import) -> None:
        """Rename in `import a.b.c`, with its uses where it has no second name."""
        python = self.python
        text = self.python.texts[path]
        for alias in statement.names:
            target = self.find_moved(path, alias.name)
            if target is None:
                continue
            new = self.new_name(target)
            start = python.span(path, alias)[0]
            self.draft.edits.append(TextEdit(path, start, start + len(alias.name), new))
            bound = python.file(path).by_node.get(alias)
            home = bound.home if bound is not None and not alias.asname else None
            if bound is None or home is None:
                continue
            uses = [
                each
                for each in python.places_of_home(path, bound.name, home)
                if each.role == "read"
            ]
            head = new.partition(".")[0]
            if head != bound.name:
                self.draft.problems += collisions(python, path, uses, home, head)
            whole = re.compile(rf"{re.escape(alias.name)}(?!\w)")
            found = (whole.match(text, each.start) for each in uses)
            self.draft.edits += [
                TextEdit(path, *match.span(), new) for match in found if match is not None
            ]

    def rename_in_from(self, path: str, statement: ast.ImportFrom) -> None:
        """Rename in `from a.b import c`, where a.b moves, c is a module that moves, or the import by its place does."""
        python = self.python
        text = module_text(statement)
        source = self.find_moved(path, text)
        if statement.level and path in self.paths:
            meant = python.find(path, text) or namespace_of(path, statement)
            self.rename_module(
                path,
                statement,
                relative_module(self.paths[path], self.paths.get(meant, meant)),
            )
        elif source is not None:
            by_place = relative_module(path, self.paths[source])
            self.rename_module(
                path, statement, by_place if statement.level else self.new_name(source)
            )
        if source is not None:
            return
        apart: dict[ast.alias, str] = {}
        for alias in statement.names:
            target = self.find_moved(path, join_dotted(text, alias.name))
            if target is None:
                continue
            package, _, stem = self.new_name(target).rpartition(".")
            if package != python.module_name(target).rpartition(".")[0]:
                bound = alias.asname or alias.name
                what = stem if bound == stem else f"{stem} as {bound}"
                apart[alias] = (
                    f"from {package} import {what}" if package else f"import {what}"
                )
            elif alias.name != stem:
                self.rename_alias(path, alias, stem)
        if apart:
            self.draft.edits.append(
                split_import(python, path, statement, apart, apart.values())
            )

    def rename_module(self, path: str, statement: ast.ImportFrom, new: str) -> None:
        """Rename the module of a from-import, where it is written in one piece."""
        text = self.python.texts[path]
        old = module_text(statement)
        begin = FROM.match(text, self.python.span(path, statement)[0])
        if new != old and begin is not None and text.startswith(old, begin.end()):
            self.draft.edits.append(
                TextEdit(path, begin.end(), begin.end() + len(old), new)
            )

    def rename_alias(self, path: str, alias: ast.alias, stem: str) -> None:
        """Rename a module that keeps its package: in the import, and its uses if it has no second name."""
        python = self.python
        start = python.span(path, alias)[0]
        self.draft.edits.append(TextEdit(path, start, start + len(alias.name), stem))
        bound = python.file(path).by_node.get(alias)
        home = bound.home if bound is not None and not alias.asname else None
        if home is not None:
            same = python.places_of_home(path, alias.name, home)
            self.draft.edits += [each.replace(stem) for each in same]
            self.draft.problems += collisions(python, path, same, home, stem)


def namespace_of(path: str, statement: ast.ImportFrom) -> str:
    """Return the `__init__` that a relative import would mean, of a folder that has none."""
    folder = PurePosixPath(path).parent.parts
    base = folder[: len(folder) - statement.level + 1]
    return "/".join((*base, *(statement.module or "").split("."), "__init__.py"))
