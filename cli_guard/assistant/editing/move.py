"""Moves a top-level Python definition to another module: what it uses comes along, what imports it follows."""

import ast
import re
from collections.abc import Iterator
from dataclasses import field
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
from cli_guard.assistant.editing.module_rename import new_dotted, plan_file_rename
from cli_guard.assistant.editing.modules import (
    ImportedName,
    Python,
    is_package_of,
    module_text,
    relative_module,
)
from cli_guard.assistant.editing.open_ended import plan_uses
from cli_guard.assistant.editing.plan import EditPlan, PlanDraft
from cli_guard.assistant.editing.prose import find_dotted_strings
from cli_guard.assistant.editing.scopes import MODULE, Occurrence
from cli_guard.assistant.editing.sources import Sources, TextEdit, apply_edits, find_path
from cli_guard.assistant.editing.targets import find_targets, name_others, sources_of_name
from cli_guard.assistant.editing.usages import Place
from cli_guard.assistant.request_change import Change
from cli_guard.lazy import dataclass

FUTURE = "from __future__ import annotations"
TYPES_ONLY_BLOCK = re.compile(r"^if\s+(?:\w+\.)?TYPE_CHECKING\s*:", re.MULTILINE)
MOVABLE = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
)
DEFINITIONS = MOVABLE[:3]


def plan_move(sources: Sources, intent: Change) -> EditPlan:
    """Return the plan for "move f to m"."""
    old = intent.get("old")
    new = intent.get("new")
    if (
        intent.get("sort") in ("module", "file", "package")
        or "/" in old
        or old.endswith(".py")
    ):
        return plan_file_rename(sources, intent)
    python = Python(sources)
    found = [
        each
        for each in find_targets(python, old, intent.get("place"))
        if each.home == MODULE
    ]
    if not found:
        is_file = "." in old and find_path(sources, old).path
        return (
            plan_file_rename(sources, intent)
            if is_file
            else plan_uses(sources, "move", intent)
        )
    name = found[0].name
    path = found[0].path
    target, note = target_path(sources, path, new)
    draft = PlanDraft(
        sources,
        "move",
        f"Move {name} from {path} to {target}",
        name,
        name_others(python, found),
    )
    draft.assume(note)
    if target == path:
        return draft.refuse("it is there already")
    if not target.endswith(".py"):
        return draft.refuse(f"{target} is not a Python module")
    changes = Move(python, path, name, target, draft).compute()
    if draft.problems:
        return draft.refuse("it cannot go there as it is", draft.problems)
    draft.add_step(f"Put {name} into {target}, with the imports it needs", [target])
    draft.add_step(f"Take it out of {path}", [path])
    draft.add_step(f"Import it from {target}", sorted(set(changes) - {path, target}))
    module = python.module_name(path)
    draft.risks.append(
        f"code outside of this repository that imports it from {module} breaks"
    )
    return draft.finish(changes)


def target_path(sources: Sources, source: str, new: str) -> tuple[str, str | None]:
    """Return the module that is meant: one that is there, or a new one beside the old."""
    named = find_path(sources, new)
    pure = PurePosixPath(source)
    if named.path:
        return named.path, named.assumed
    if "/" in new:
        path = new if PurePosixPath(new).suffix else f"{new}{pure.suffix}"
    else:
        name = new if new.endswith(pure.suffix) else new.rpartition(".")[2] + pure.suffix
        path = str(pure.with_name(name))
    return path, f"{path} is not there yet: it is made"


@dataclass(slots=True)
class Move:
    """The move of what `source` defines as `name` to `target`, which is made if it is not there."""

    python: Python
    source: str
    name: str
    target: str
    draft: PlanDraft
    # The statements that move, as (start, end).
    moved: list[tuple[int, int]] = field(default_factory=list)
    # What else of the module they use, and the imports that bind it; no import for what the module defines itself.
    needed: dict[str, list[Occurrence]] = field(default_factory=dict)
    # Who must import `name` from the target, and the import statements that are added to a file.
    importers: set[str] = field(default_factory=set)
    added: dict[str, set[str]] = field(default_factory=dict)
    # Imports that the moved code needs for its annotations alone.
    for_types: set[str] = field(default_factory=set)

    def compute(self) -> dict[str, str]:
        """Return the new texts; none if there is a problem."""
        python = self.python
        sources = self.python.sources
        source = self.source
        target = self.target
        self.find_statements()
        self.find_needed()
        if self.draft.problems:
            return {}
        for name in sorted({self.name, *self.needed}):
            self.draft.problems += self.find_taken(name)
        stays = [each for each in self.places() if not self.is_moved(each)]
        own = self.own_names()
        if stays and own:
            reason = f"{source} still uses {self.name}, which needs {', '.join(own)} of {source}: an import cycle"
            self.draft.problems.append(python.location(stays[0], reason))
        text = sources.texts[source]
        edits = [
            TextEdit(source, comment_start(text, a), blank_lines_end(text, b - 1), "")
            for a, b in self.moved
        ]
        edits += self.importer_edits()
        if stays:
            self.importers.add(source)
            self.add_import(source, self.import_text(source, target, [self.name]))
        self.check_cycles()
        if self.draft.problems:
            return {}
        changes = apply_edits(sources, edits)
        for path, statements in sorted(self.added.items()):
            changes[path] = add_imports(
                sources, changes.get(path, sources.texts[path]), sorted(statements)
            )
        before = changes.get(target, sources.texts.get(target, "")).lstrip("\r\n")
        changes = {
            p: text.lstrip("\r\n") for p, text in drop_new_unused(sources, changes).items()
        }
        changes[target] = self.target_text(before)
        return changes

    def places(self) -> list[Occurrence]:
        return self.python.places_of_home(self.source, self.name, MODULE)

    def is_moved(self, occurrence: Occurrence) -> bool:
        return any(start <= occurrence.start < end for start, end in self.moved)

    def own_names(self) -> list[str]:
        """Return what the moved code uses and its module defines itself."""
        return sorted(name for name, bound in self.needed.items() if not bound)

    def find_statements(self) -> None:
        """Find the statements that define the name; one inside of `if` or `try` is a problem."""
        python = self.python
        source = self.source
        text = self.python.texts[self.source]
        module = python.sources.module(source)
        tops = [
            (python.span(source, node), node)
            for node in (module.body if module is not None else ())
        ]
        found: set[tuple[int, int]] = set()
        for each in self.places():
            if each.role not in ("definition", "binding"):
                continue
            span, node = next(
                (top for top in tops if top[0][0] <= each.start < top[0][1]), ((0, 0), None)
            )
            is_other = isinstance(node, DEFINITIONS) and node.name != self.name
            if not isinstance(node, MOVABLE) or is_other:
                self.draft.problems.append(
                    python.location(each, f"{self.name} is defined under a condition")
                )
            elif not is_alone(text, *span):
                self.draft.problems.append(
                    python.location(each, f"{self.name} shares its line with other code")
                )
            else:
                # A comment that ends its last line goes along.
                found.add((span[0], line_end(text, span[1])))
        self.moved = sorted(found)

    def find_needed(self) -> None:
        """Find the module-level names that the moved code uses."""
        python = self.python
        names = self.python.file(self.source)
        for name, places in names.places.items():
            mine = (
                [each for each in places if self.is_moved(each)]
                if name != self.name
                else []
            )
            if any(each.role == "global" for each in mine):
                self.draft.problems.append(
                    python.location(mine[0], f"it sets {name} of its module")
                )
            if any(each.home == MODULE for each in mine):
                same = python.places_of_home(self.source, name, MODULE)
                self.needed[name] = [each for each in same if each.role == "import"]
        if any(statement.names[0].name == "*" for statement, _ in names.imports):
            self.draft.risks.append(
                f"{self.source} imports everything from another module: what of it the moved code uses is not known"
            )

    def find_taken(self, name: str) -> list[Place]:
        """Return where the target binds the name to something else already."""
        origins = self.origins_of(name)
        if any(origin is not None and origin.module == self.target for origin in origins):
            return []
        for each in self.python.places_of_home(self.target, name, MODULE):
            here = self.python.source_of(each)
            if each.role == "import":
                is_other = here not in origins and (
                    here is None or here.module != self.source
                )
            else:
                is_other = each.role in ("definition", "binding")
            if is_other:
                return [self.python.location(each, f"{self.target} has {name} already")]
        return []

    def origins_of(self, name: str) -> list[ImportedName | None]:
        """Return where the imports of a needed name take it from; None for a module as a whole."""
        return [self.python.source_of(each) for each in self.needed.get(name, ())]

    def importer_edits(self) -> Iterator[TextEdit]:
        """Yield the edits in every other file that takes the name from the old module."""
        python = self.python
        source = self.source
        target = self.target
        for each, module in sources_of_name(python, self.name):
            if module != source or each.path == source:
                continue
            self.importers.add(each.path)
            if isinstance(each.node, ast.Attribute):
                dotted = self.name_module(target, source)
                length = len(ast.unparse(each.node.value))
                yield TextEdit(each.path, each.start - 1 - length, each.start - 1, dotted)
                self.add_import(each.path, f"import {dotted}")
            elif isinstance(each.around, ast.ImportFrom):
                gone = [alias for alias in each.around.names if alias.name == self.name]
                is_relative = each.around.level
                where = (
                    relative_module(each.path, target)
                    if is_relative
                    else self.name_module(target, each.path)
                )
                new = f"from {where} import {', '.join(map(ast.unparse, gone))}"
                yield split_import(
                    python,
                    each.path,
                    each.around,
                    gone,
                    [new] if each.path != target else [],
                )
        for path, start in find_dotted_strings(python, {source}, self.name):
            reason = f"a string names {self.name} by its old module"
            self.draft.by_hand.append((path, python.line(path, start), reason))

    def add_import(self, path: str, statement: str) -> None:
        self.added.setdefault(path, set()).add(statement)

    def import_text(self, importer: str, module: str, names: list[str]) -> str:
        """Return `from module import names` as a file writes imports: by place, if it does so for its own package."""
        texts = self.python.texts
        other = self.name_module(module, importer)
        text = texts[importer] if importer in texts else texts.get(module, "")
        is_same = (
            self.python.module_name(importer).split(".")[0] == other.split(".")[0]
            and "." in other
        )
        is_relative = (
            is_same and re.search(r"^[ \t]*from \.", text, re.MULTILINE) is not None
        )
        return f"from {relative_module(importer, module) if is_relative else other} import {', '.join(names)}"

    def name_module(self, path: str, beside: str) -> str:
        """Return the name of a module, also of one that is still to be made: as a file of the same root is named."""
        python = self.python
        return (
            python.module_name(path)
            if path in python.texts
            else new_dotted(python, beside, path)
        )

    def check_cycles(self) -> None:
        """Note a problem, if what the target must import now leads back to it."""
        python = self.python
        target = self.target
        origins = [origin for name in self.needed for origin in self.origins_of(name)]
        wanted = {
            each.module for each in origins if each is not None and each.module is not None
        }
        wanted |= {self.source} if self.own_names() else set()
        # A package is loaded before all that is in it: that is no cycle of a new import's making.
        importers = {
            each for each in self.importers - {target} if not is_package_of(each, target)
        }
        there = set(python.list_loaded(target))
        ways = [
            (target, python.import_path(m, target, importers))
            for m in sorted(wanted - there - {target})
        ]
        for importer in sorted(importers) if there else ():
            if target not in set(python.list_loaded(importer)):
                ways.append((importer, python.import_path(target, importer)))
        for path, way in ways:
            if way:
                self.draft.problems.append(
                    (path, 1, f"an import cycle: {' -> '.join([path, *way])}")
                )

    def needed_imports(self) -> list[str]:
        """Return the imports that the moved code needs where it goes."""
        python = self.python
        source = self.source
        target = self.target
        found = set[str]()
        module = python.sources.module(source)
        for_types = [
            statement for statement, at_load in python.file(source).imports if not at_load
        ]
        own = self.own_names()
        if own:
            found.add(self.import_text(target, source, own))
        for bound in (
            self.needed[name][0] for name in sorted(self.needed) if self.needed[name]
        ):
            origin = python.source_of(bound)
            if target in (
                origin.module if origin is not None else None,
                python.find_imported(bound),
            ):
                continue
            text = self.import_alone(bound)
            if module is not None and bound.around in module.body:
                found.add(text)
            elif bound.around in for_types:
                self.for_types.add(text)
            else:
                reason = f"bring this import along as it is guarded there: {text}"
                self.draft.by_hand.append((target, 1, reason))
        return sorted(
            found, key=lambda t: (t.startswith("from ."), not t.startswith("import "), t)
        )

    def import_alone(self, bound: Occurrence) -> str:
        """Return the part of an import that binds one name, as the target writes it."""
        statement = bound.around
        written = ast.unparse(bound.node)
        if not isinstance(statement, ast.ImportFrom):
            return f"import {written}"
        text = module_text(statement)
        if (
            statement.level
            and self.source.rpartition("/")[0] != self.target.rpartition("/")[0]
        ):
            meant = self.python.find(self.source, text)
            text = relative_module(self.target, meant) if meant is not None else text
        return f"from {text} import {written}"

    def target_text(self, before: str) -> str:
        """Return the text of the target with the moved code at its end and the imports it needs."""
        text = self.python.texts[self.source]
        imports = self.needed_imports()
        code = (
            "\n\n\n".join(
                text[comment_start(text, start) : end].rstrip() for start, end in self.moved
            )
            + "\n"
        )
        if FUTURE in text and FUTURE not in before:
            if before.strip():
                risk = (
                    f"the new module does not say {FUTURE}: annotations are evaluated there"
                )
                self.draft.risks.append(risk)
            else:
                before = f"{FUTURE}\n"
        extra = ["from typing import TYPE_CHECKING"] if self.for_types else []
        head = add_imports(self.python.sources, before, [*imports, *extra])
        if self.for_types:
            lines = "".join(f"\n    {each}" for each in sorted(self.for_types))
            block = TYPES_ONLY_BLOCK.search(head)
            at = (
                block.end()
                if block is not None
                else import_place(self.python.sources, head)
            )
            put = lines if block is not None else f"\nif TYPE_CHECKING:{lines}\n"
            head = f"{head[:at]}{put}{head[at:]}"
        return f"{head.rstrip()}\n\n\n{code}" if head.strip() else code


def comment_start(text: str, start: int) -> int:
    first = line_start(text, start)
    while first:
        above = line_start(text, first - 1)
        if not text[above:first].lstrip().startswith("#") or text[above:first].startswith(
            "#!"
        ):
            break
        first = above
    return first
