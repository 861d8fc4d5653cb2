"""Rewrites Python imports of modules that move: absolute, relative, `from package import module`, and `a.b.c` uses."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.edits import Edit
from cli_guard.assistant.editing.model import Place
from cli_guard.assistant.editing.python_modules import common_head, module_parts
from cli_guard.assistant.editing.python_names import Occurrence, span
from cli_guard.assistant.editing.python_rename import Python, collisions
from cli_guard.assistant.editing.sources import is_configuration

if TYPE_CHECKING:
    from ast_grep_py import SgNode

IMPORTS = ("import_statement", "import_from_statement")


def new_dotted(python: Python, old: str, new: str) -> str:
    """The name that a module is imported by where it goes; the root of imports stays the same."""
    parts = module_parts(old)
    root = parts[: len(parts) - len(python.modules.dotted(old).split("."))]
    target = module_parts(new)
    keep = len(root) if target[: len(root)] == root else 0
    return ".".join(target[keep:])


def module_edits(python: Python, moves: dict[str, str], left: list[Place]) -> tuple[list[Edit], list[Place]]:
    """The edits in every file that imports a moved module, and where the new name is taken already."""
    edits: list[Edit] = []
    problems: list[Place] = []
    names = {old: python.modules.dotted(old) for old in moves if old.endswith((".py", ".pyi"))}
    stems = sorted({dotted.rpartition(".")[2] for dotted in names.values()})
    paths = dict.fromkeys(p for stem in stems for p in python.sources.mentioning(stem, "python"))
    for path in paths:
        root = python.sources.root(path)
        if root is None:
            continue
        for statement in root.find_all(any=[{"kind": kind} for kind in IMPORTS]):
            if statement.kind() == "import_statement":
                found, taken = plain_import(python, path, statement, moves)
            else:
                found, taken = from_import(python, path, statement, moves, left)
            edits += found
            problems += taken
    for old, dotted in names.items():
        edits += dotted_mentions(python, dotted, new_dotted(python, old, moves[old]))
    return edits, problems


def plain_import(
    python: Python, path: str, statement: "SgNode", moves: dict[str, str]
) -> tuple[list[Edit], list[Place]]:
    """The edits for `import a.b.c`, with those of its uses where it has no second name."""
    edits: list[Edit] = []
    problems: list[Place] = []
    for child in statement.named_children():
        name = child.field("name") if child.kind() == "aliased_import" else child
        if name is None or name.kind() != "dotted_name":
            continue
        target = python.modules.find(path, name.text())
        if target not in moves or target is None:
            continue
        new = new_dotted(python, target, moves[target])
        edits.append(Edit(path, *span(name), new))
        if child.kind() == "aliased_import":
            continue
        head = name.text().split(".")[0]
        homes = python.names.homes(path, head)
        here = next((o for o in python.names.of(path, head) if o.start == span(name)[0]), None)
        home = homes.home(here) if here is not None else None
        uses = [o for o in python.names.of(path, head) if homes.home(o) == home and o.role == "read"]
        if new.split(".")[0] != head and home is not None:
            problems += collisions(python.names, path, uses, home, new.split(".")[0])
        for use in uses:
            whole = chain(use, name.text())
            if whole is not None:
                edits.append(Edit(path, use.start, whole, new))
    return edits, problems


def chain(use: Occurrence, dotted: str) -> int | None:
    """Where `a.b.c` that begins at a use of `a` ends; None if something else follows."""
    node: SgNode = use.node
    for _ in dotted.split(".")[1:]:
        parent = node.parent()
        if parent is None or parent.kind() != "attribute":
            return None
        node = parent
    return span(node)[1] if re.sub(r"\s", "", node.text()) == dotted else None


def from_import(
    python: Python, path: str, statement: "SgNode", moves: dict[str, str], left: list[Place]
) -> tuple[list[Edit], list[Place]]:
    """The edits for `from a.b import c`, where a.b moves or c is a module that moves."""
    module = statement.field("module_name")
    if module is None:
        return [], []
    text = re.sub(r"\s", "", module.text())
    source = python.modules.find(path, text)
    edits: list[Edit] = []
    problems: list[Place] = []
    moved_here = path in moves
    if source is not None and source in moves and not (moved_here and text.startswith(".")):
        edits.append(Edit(path, *span(module), written(python, path, text, source, moves)))
    names = [c for c in statement.named_children() if span(c) != span(module)]
    for child in names:
        name = child.field("name") if child.kind() == "aliased_import" else child
        if name is None or name.kind() != "dotted_name":
            continue
        dots = text + ("" if text.endswith(".") else ".") + name.text()
        target = python.modules.find(path, dots)
        if target is None or target not in moves or (source is not None and source in moves):
            continue
        old, new = python.modules.dotted(target), new_dotted(python, target, moves[target])
        if old.rpartition(".")[0] != new.rpartition(".")[0]:
            edits += apart(python, path, statement, child, names, new, left)
            continue
        found, taken = renamed_module(python, path, child, name, new.rpartition(".")[2])
        edits += found
        problems += taken
    return edits, problems


def renamed_module(
    python: Python, path: str, child: "SgNode", name: "SgNode", stem: str
) -> tuple[list[Edit], list[Place]]:
    """The edits for a module that keeps its package: its name in the import, and its uses if it has no other."""
    if name.text() == stem:
        return [], []
    edits = [Edit(path, *span(name), stem)]
    if child.kind() == "aliased_import":
        return edits, []
    homes = python.names.homes(path, name.text())
    places = python.names.of(path, name.text())
    here = next((o for o in places if o.start == span(name)[0]), None)
    home = homes.home(here) if here is not None else None
    if home is None:
        return edits, []
    same = [o for o in places if homes.home(o) == home]
    edits += [Edit(path, o.start, o.end, stem) for o in same]
    return edits, list(collisions(python.names, path, same, home, stem))


def apart(
    python: Python,
    path: str,
    statement: "SgNode",
    child: "SgNode",
    names: list["SgNode"],
    new: str,
    left: list[Place],
) -> Iterator[Edit]:
    """A statement of its own for a module that goes to another package, under the name it had here."""
    package, _, stem = new.rpartition(".")
    alias = child.field("alias") if child.kind() == "aliased_import" else None
    bound = alias.text() if alias is not None else child.text()
    what = stem if bound == stem else f"{stem} as {bound}"
    text = f"from {package} import {what}" if package else f"import {what}"
    if len(names) == 1:
        yield Edit(path, *span(statement), text)
    else:
        line = python.sources.line(path, span(child)[0])
        left.append((path, line, f"one import of several: write {text}"))


def written(python: Python, path: str, text: str, source: str, moves: dict[str, str]) -> str:
    """A moved module as the file writes it: by its whole name, or by its place if it was by its place."""
    new = moves[source]
    if text.startswith("."):
        return relative(moves.get(path, path), new)
    return new_dotted(python, source, new)


def relative(importer: str, target: str) -> str:
    """A module by its place: one dot for the folder of the importer."""
    here, there = PurePosixPath(importer).parent.parts, module_parts(target)
    common = len(common_head(here, there))
    return "." * (len(here) - common + 1) + ".".join(there[common:])


def relative_edits(python: Python, path: str, target: str, moves: dict[str, str]) -> Iterator[Edit]:
    """The relative imports of a file that moves to another folder."""
    root = python.sources.root(path)
    for statement in root.find_all(kind="import_from_statement") if root is not None else ():
        module = statement.field("module_name")
        if module is None or not module.text().startswith("."):
            continue
        text = re.sub(r"\s", "", module.text())
        source = python.modules.find(path, text)
        if source is not None:
            new = relative(target, moves.get(source, source))
        else:
            level = len(text) - len(text.lstrip("."))
            folder = PurePosixPath(path).parent.parts
            base = folder[: len(folder) - (level - 1)]
            there = (*base, *(p for p in text.lstrip(".").split(".") if p))
            new = relative(target, "/".join((*there, "__init__.py")))
        if new != text:
            yield Edit(path, *span(module), new)


def dotted_mentions(python: Python, old: str, new: str) -> Iterator[Edit]:
    """Where a string begins with the module's whole name, and where configuration names it."""
    if "." not in old:
        return
    sources = python.sources
    start = re.compile(rf"\A{re.escape(old)}(?=\Z|[.:]\w)")
    inside = re.compile(rf"(?<![\w./-]){re.escape(old)}(?![\w/-])")
    for path in sources.mentioning(old):
        root = sources.root(path) if sources.language(path) == "python" else None
        if root is not None:
            for node in root.find_all(kind="string_content", regex=f"^{re.escape(old)}"):
                match = start.search(node.text())
                if match is not None:
                    at = span(node)[0]
                    yield Edit(path, at, at + len(old), new)
        elif is_configuration(path) or path.endswith((".rst", ".md")):
            yield from (Edit(path, m.start(), m.end(), new) for m in inside.finditer(sources.texts[path]))
