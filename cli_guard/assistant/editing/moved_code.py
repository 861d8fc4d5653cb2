"""What a piece of Python that moves is: its statements, the names it uses, and the imports it needs elsewhere."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.imports import blank_lines_end
from cli_guard.assistant.editing.model import Place
from cli_guard.assistant.editing.python_imports import new_dotted, relative
from cli_guard.assistant.editing.python_names import MODULE, Occurrence, span
from cli_guard.assistant.editing.python_rename import Python
from cli_guard.assistant.editing.strings import listed_in_all

if TYPE_CHECKING:
    from ast_grep_py import SgNode

WORDS = re.compile(r"[^\W\d]\w*")
TYPES_ONLY = re.compile(r"if\s+(?:\w+\.)?TYPE_CHECKING\s*:")


@dataclass(slots=True)
class Move:
    """A move as new texts; with `problems` there are none. `needs` are names that the moved code uses, by module."""

    changes: dict[str, str] = field(default_factory=dict)
    by_hand: list[Place] = field(default_factory=list)
    problems: list[Place] = field(default_factory=list)
    risks: list[str] = field(default_factory=list)
    importers: set[str] = field(default_factory=set)
    # Imports to add, by the file that names the moved code through its module.
    added: dict[str, set[str]] = field(default_factory=dict)
    # Imports that the moved code needs for its annotations alone.
    for_types: set[str] = field(default_factory=set)


def definitions_of(python: Python, source: str, names: Collection[str], move: Move) -> list["SgNode"]:
    """The statements that define the names, in order; one inside of `if` or `try` is a problem."""
    root = python.sources.root(source)
    found: dict[tuple[int, int], SgNode] = {}
    if root is None:
        return []
    tops = {span(child): child for child in root.named_children()}
    for name in sorted(names):
        homes = python.names.homes(source, name)
        for occurrence in python.names.of(source, name):
            if homes.home(occurrence) != MODULE or occurrence.role not in ("definition", "binding"):
                continue
            node: SgNode | None = occurrence.node
            while node is not None and span(node) not in tops:
                node = node.parent()
            kinds = (
                "function_definition",
                "class_definition",
                "decorated_definition",
                "expression_statement",
            )
            if node is not None:
                node = tops[span(node)]  # an assignment has the range of its statement
            if node is None or node.kind() not in (*kinds, "type_alias_statement"):
                move.problems.append(python.place(occurrence, f"{name} is defined under a condition"))
            else:
                found[span(node)] = node
    return [found[key] for key in sorted(found)]


def used_names(
    python: Python, source: str, names: Collection[str], inside: list[tuple[int, int]], move: Move
) -> dict[str, str]:
    """The module-level names that the moved code uses: name -> `source`, or "" where an import binds it."""
    text = python.sources.texts[source]
    words = {w for start, end in inside for w in WORDS.findall(text[start:end])}
    needed: dict[str, str] = {}
    star = bool(python.modules.star_imports(source)) or re.search(r"^from \S+ import \*", text, re.MULTILINE)
    for name in sorted(words - set(names)):
        homes = python.names.homes(source, name)
        places = python.names.of(source, name)
        mine = [o for o in places if any(a <= o.start < b for a, b in inside)]
        for occurrence in mine:
            if occurrence.role == "global":
                move.problems.append(python.place(occurrence, f"it sets {name} of its module"))
        if any(homes.home(o) == MODULE for o in mine):
            by_import = any(
                o.role in ("import", "binding") and in_import(o) for o in places if homes.home(o) == MODULE
            )
            needed[name] = "" if by_import else source
    if star:
        move.risks.append(
            f"{source} imports everything from another module: what of it the moved code uses is not known"
        )
    return needed


def in_import(occurrence: Occurrence) -> bool:
    """Does an import bind the name here?"""
    return occurrence.role == "import" or (
        (parent := occurrence.node.parent()) is not None and parent.kind() == "aliased_import"
    )


def carried_imports(
    python: Python, source: str, target: str, needed: dict[str, str], move: Move
) -> list[str]:
    """The imports that the moved code needs where it goes."""
    found = []
    own = sorted(n for n, origin in needed.items() if origin == source)
    if own:
        found.append(import_text(python, target, target, source, own))
    for name in sorted(n for n, origin in needed.items() if not origin):
        homes = python.names.homes(source, name)
        bound = next(o for o in python.names.of(source, name) if in_import(o) and homes.home(o) == MODULE)
        statement = bound.node.parent()
        while statement is not None and statement.kind() not in ("import_statement", "import_from_statement"):
            statement = statement.parent()
        if statement is None:
            continue
        parent = statement.parent()
        here = python.modules.source_of(bound)
        if target in (
            here.module if here is not None else None,
            python.modules.module_of(source, bound.node),
        ):
            continue
        text = single_import(python, bound, statement, source, target)
        above = parent.parent() if parent is not None else None
        if parent is not None and parent.kind() == "module":
            found.append(text)
        elif above is not None and TYPES_ONLY.match(above.text()[:80]):
            move.for_types.add(text)
        else:
            move.by_hand.append((target, 1, f"bring this import along as it is guarded there: {text}"))
    return sorted(
        dict.fromkeys(found), key=lambda t: (t.startswith("from ."), not t.startswith("import "), t)
    )


def single_import(python: Python, bound: Occurrence, statement: "SgNode", source: str, target: str) -> str:
    """The part of an import that binds one name, as the target writes it."""
    around = bound.node.parent()
    if around is not None and around.kind() == "aliased_import":
        written = around.text()
    else:
        written = around.text() if around is not None and around.kind() == "dotted_name" else bound.name
    if statement.kind() == "import_statement":
        return f"import {written}"
    module = statement.field("module_name")
    text = re.sub(r"\s", "", module.text()) if module is not None else ""
    if text.startswith(".") and source.rpartition("/")[0] != target.rpartition("/")[0]:
        meant = python.modules.find(source, text)
        if meant is not None:
            text = relative(target, meant)
    return f"from {text} import {written}"


def import_text(python: Python, importer: str, near: str, module: str, names: list[str]) -> str:
    """`from module import names` as a file writes imports: by place, if it does so for its own package."""
    text = python.sources.texts.get(near, "")
    by_place = re.search(r"^[ \t]*from \.", text, re.MULTILINE) is not None
    if near not in python.sources.texts:
        by_place = (
            re.search(r"^[ \t]*from \.", python.sources.texts.get(module, ""), re.MULTILINE) is not None
        )
    package = python.modules.dotted(importer).split(".")[0]
    other = dotted_of(python, module, importer)
    same = package == other.split(".")[0] and "." in other
    return f"from {relative(importer, module) if by_place and same else other} import {', '.join(names)}"


def dotted_of(python: Python, path: str, beside: str) -> str:
    """The name of a module, also of one that is still to be made: as a file of the same root is named."""
    return python.modules.dotted(path) if path in python.sources.texts else new_dotted(python, beside, path)


def remaining_uses(
    python: Python, source: str, names: Collection[str], inside: list[tuple[int, int]]
) -> dict[str, int]:
    """The moved names that the rest of the module uses, each with its first place."""
    found: dict[str, int] = {}
    for name in sorted(names):
        homes = python.names.homes(source, name)
        for occurrence in python.names.of(source, name):
            outside = not any(a <= occurrence.start < b for a, b in inside)
            if outside and homes.home(occurrence) == MODULE:
                found.setdefault(name, occurrence.start)
        for _, start in listed_in_all(python, [source], name):
            found.setdefault(name, start)
    return found


def comment_start(text: str, start: int) -> int:
    """Where the comment lines right above a statement begin."""
    first = text.rfind("\n", 0, start) + 1
    while first:
        above = text.rfind("\n", 0, first - 1) + 1
        if not text[above:first].lstrip().startswith("#") or text[above:first].startswith("#!"):
            break
        first = above
    return first


def whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """A statement with the comment lines right above it and the blank lines below."""
    return comment_start(text, start), blank_lines_end(text, end)


def names_in(python: Python, source: str, inside: list[tuple[int, int]]) -> set[str]:
    """The top-level names that statements define."""
    text = python.sources.texts[source]
    words = {w for start, end in inside for w in WORDS.findall(text[start:end])}
    return {
        word
        for word in words
        if any(
            o.role in ("definition", "binding")
            and o.scopes[0] == MODULE
            and any(a <= o.start < b for a, b in inside)
            for o in python.names.of(source, word)
        )
    }
