"""Finds the imports of a Python file that nothing in it uses, and takes them out."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.mentions import word
from cli_guard.assistant.editing.python_names import PythonNames, span
from cli_guard.assistant.editing.sources import Sources

if TYPE_CHECKING:
    from ast_grep_py import SgNode

WHOLE_FILE = re.compile(r"^#\s*(?:ruff|flake8)\s*:\s*noqa(?!:(?!.*F401))", re.MULTILINE | re.IGNORECASE)
KEPT = re.compile(r"#\s*(?:noqa|type:\s*ignore|pragma|pylint|isort|nopycln)", re.IGNORECASE)


def unused_imports(sources: Sources, path: str) -> Iterator[tuple[str, int]]:
    """(name bound, its position) of each import at module level that nothing reads.

    Kept: what `__all__` lists, `X as X`, `__future__`, everything in an `__init__.py`, in `try`, and under a noqa.
    """
    root = sources.root(path)
    if root is None or sources.language(path) != "python" or path.endswith("__init__.py"):
        return
    names, text = PythonNames(sources), sources.texts[path]
    if WHOLE_FILE.search(text):
        return
    for statement in root.named_children():
        if statement.kind() not in ("import_statement", "import_from_statement"):
            continue
        start, end = span(statement)
        if KEPT.search(text, start, text.find("\n", end) if "\n" in text[end:] else len(text)):
            continue
        for name, node in bound_names(statement):
            homes = names.homes(path, name)
            places = names.of(path, name)
            here = next((o for o in places if o.start == span(node)[0]), None)
            home = homes.home(here) if here is not None else None
            if home is None:
                continue
            used = any(
                homes.home(o) == home and o.role not in ("import", "imported", "module")
                for o in places
                if o.start != span(node)[0]
            )
            if not used and not named_in_strings(root, name):
                yield name, span(node)[0]


def bound_names(statement: "SgNode") -> Iterator[tuple[str, "SgNode"]]:
    """The names that an import binds, with the node that says so; `X as X` is meant to be passed on and left out."""
    module = statement.field("module_name")
    for child in statement.named_children():
        if module is not None and span(child) == span(module):
            continue
        if child.kind() == "dotted_name":
            first = next(iter(child.named_children()), child)
            yield first.text(), first
        elif child.kind() == "aliased_import":
            name, alias = child.field("name"), child.field("alias")
            if name is not None and alias is not None and name.text() != alias.text():
                yield alias.text(), alias


def named_in_strings(root: "SgNode", name: str) -> bool:
    """Does a short string hold the name: `__all__`, an annotation in quotes? A type comment counts too."""
    pattern = word(name)
    for node in root.find_all(any=[{"kind": "string_content"}, {"kind": "comment"}], regex=re.escape(name)):
        text = node.text()
        if len(text) < 200 and "\n" not in text and pattern.search(text):
            if node.kind() == "comment" and "type:" not in text:
                continue
            return True
    return False


def without_imports(sources: Sources, path: str, names: set[str]) -> str:
    """The text without these imports; a statement that binds nothing else goes with its line."""
    root, text = sources.root(path), sources.texts[path]
    if root is None:
        return text
    cuts: list[tuple[int, int, str]] = []
    for statement in root.named_children():
        if statement.kind() not in ("import_statement", "import_from_statement"):
            continue
        bound = list(bound_names(statement))
        module = statement.field("module_name")
        parts = [
            c
            for c in statement.named_children()
            if c.kind() in ("dotted_name", "aliased_import")
            and not (module is not None and span(c) == span(module))
        ]
        gone = [node for name, node in bound if name in names]
        if not gone:
            continue
        kept = [p for p in parts if not any(span(p)[0] <= span(g)[0] < span(p)[1] for g in gone)]
        start, end = span(statement)
        if not kept:
            line_start = text.rfind("\n", 0, start) + 1
            newline = text.find("\n", end)
            after = text[end : newline if newline >= 0 else len(text)]
            if text[line_start:start].strip() == "" and not after.strip().startswith(";"):
                cuts.append((line_start, newline + 1 if newline >= 0 else len(text), ""))
            else:
                cuts.append((start, end, "pass"))
        else:
            cuts += cut_parts(parts, kept)
    for start, end, put in reversed(cuts):
        text = text[:start] + put + text[end:]
    return text


def cut_parts(parts: list["SgNode"], kept: list["SgNode"]) -> Iterator[tuple[int, int, str]]:
    """The ranges of the names that go, each with the comma after it, or, at the end, before it."""
    spans, stay = [span(p) for p in parts], {span(p) for p in kept}
    last = max(number for number, each in enumerate(spans) if each in stay)
    for number, each in enumerate(spans[:last]):
        if each not in stay:
            yield each[0], spans[number + 1][0], ""
    if last + 1 < len(spans):
        yield spans[last][1], spans[-1][1], ""
