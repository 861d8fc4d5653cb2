"""Imports of a Python file: which one a name needs, where it goes, and which ones nothing uses any more."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator

from cli_guard.assistant.editing.modules import Python, module_text
from cli_guard.assistant.editing.sources import LineMap, Sources, TextEdit
from cli_guard.assistant.editing.usages import word

WHOLE_FILE = re.compile(
    r"^#\s*(?:ruff|flake8)\s*:\s*noqa(?!:(?!.*F401))", re.MULTILINE | re.IGNORECASE
)
KEPT = re.compile(r"#\s*(?:noqa|type:\s*ignore|pragma|pylint|isort|nopycln)", re.IGNORECASE)
FIRST_LINES = re.compile(r"(?:#(?:!|.*coding[:=]).*(?:\n|\Z))*")
Import = ast.Import | ast.ImportFrom


def line_end(text: str, position: int) -> int:
    found = text.find("\n", position)
    return len(text) if found < 0 else found + 1


def line_start(text: str, position: int) -> int:
    return text.rfind("\n", 0, position) + 1


def blank_lines_end(text: str, position: int) -> int:
    """Return the position after the line that a position is on, and after the blank lines that follow it."""
    end = line_end(text, position)
    while end < len(text) and not text[end : line_end(text, end)].strip():
        end = line_end(text, end)
    return end


def add_imports(sources: Sources, text: str, statements: Iterable[str]) -> str:
    """Return the text with imports added after the ones of its head; one that is there already is not added."""
    end = "\r\n" if "\r\n" in text else "\n"
    for statement in statements:
        if re.search(rf"^{re.escape(statement)}\s*$", text, re.MULTILINE) is None:
            at = import_place(sources, text)
            lead = "" if at == 0 or text[at - 1] == "\n" else end
            text = f"{text[:at]}{lead}{statement}{end}{text[at:]}"
    return text


def import_place(sources: Sources, text: str) -> int:
    """Return the position after the imports that a module begins with, or after its docstring."""
    first = FIRST_LINES.match(text)
    tree = sources.parse(text)
    lines = LineMap(text)
    at = first.end() if first is not None else 0
    for number, node in enumerate(tree.body if isinstance(tree, ast.Module) else ()):
        is_docstring = (
            number == 0
            and isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
        )
        if not is_docstring and not isinstance(node, Import):
            break
        at = line_end(text, lines.span(node)[1])
    return at


def find_unused_imports(python: Python, path: str) -> Iterator[ast.alias]:
    """Yield each part of an import at module level that nothing reads.

    Kept: what `__all__` lists, `X as X`, `__future__`, everything in an `__init__.py`, in `try`, and under a noqa.
    """
    module = python.sources.module(path)
    text = python.texts[path]
    if module is None or path.endswith("__init__.py") or WHOLE_FILE.search(text):
        return
    for statement in module.body:
        if (
            not isinstance(statement, Import)
            or getattr(statement, "module", "") == "__future__"
        ):
            continue
        start, end = python.span(path, statement)
        if KEPT.search(text, start, line_end(text, end)):
            continue
        for alias in statement.names:
            bound = python.file(path).by_node.get(alias)
            if bound is None or alias.asname == alias.name:
                continue
            same = python.places_of_home(path, bound.name, bound.home)
            if not any(each.role != "import" for each in same) and not is_in_string(
                python, path, bound.name
            ):
                yield alias


def is_in_string(python: Python, path: str, name: str) -> bool:
    """Return whether a short string (an annotation in quotes) or a type comment holds the name."""
    pattern = word(name)
    text = python.texts[path]
    strings = (
        text[start:end] for start, end in python.file(path).strings if end - start < 200
    )
    return any("\n" not in each and pattern.search(each) for each in strings) or any(
        pattern.search(match[0]) for match in re.finditer(r"#[ \t]*type:.*", text)
    )


def without_imports(python: Python, path: str, gone: Collection[ast.alias]) -> str:
    """Return the text without these parts of imports; a statement that binds nothing else goes with its line."""
    text = python.texts[path]
    cuts: list[tuple[int, int, str]] = []
    for statement, _ in python.file(path).imports:
        kept = [each for each in statement.names if each not in gone]
        if len(kept) == len(statement.names):
            continue
        start, end = python.span(path, statement)
        if kept:
            spans = [python.span(path, each) for each in statement.names]
            last = max(
                number for number, each in enumerate(statement.names) if each not in gone
            )
            for number, each in enumerate(statement.names[:last]):
                if each in gone:
                    cuts.append((spans[number][0], spans[number + 1][0], ""))
            cuts.append((spans[last][1], spans[-1][1], ""))
        elif is_alone(text, start, end):
            cuts.append((line_start(text, start), line_end(text, end), ""))
        else:
            cuts.append((start, end, "pass"))
    for start, end, put in sorted(cuts, reverse=True):
        text = text[:start] + put + text[end:]
    return text


def is_alone(text: str, start: int, end: int) -> bool:
    after = text[end : line_end(text, end)].strip()
    return not text[line_start(text, start) : start].strip() and (
        not after or after.startswith("#")
    )


def drop_new_unused(sources: Sources, changes: dict[str, str]) -> dict[str, str]:
    """Return the new texts without the imports that were used before and are not any more."""
    found = dict(changes)
    before = Python(sources)
    for path, text in changes.items():
        if sources.language(path) != "python":
            continue
        old = find_unused_imports(before, path) if path in sources.texts else ()
        known = {ast.unparse(alias) for alias in old}
        after = Python(sources.with_texts({path: text}))
        gone = [
            each
            for each in find_unused_imports(after, path)
            if ast.unparse(each) not in known
        ]
        if gone:
            found[path] = without_imports(after, path, gone)
    return found


def split_import(
    python: Python,
    path: str,
    statement: ast.ImportFrom,
    gone: Collection[ast.alias],
    new: Iterable[str] = (),
) -> TextEdit:
    """Take some names out of a from-import, and put the statements `new` after it."""
    text = python.texts[path]
    start, end = python.span(path, statement)
    kept = [ast.unparse(each) for each in statement.names if each not in gone]
    old = [f"from {module_text(statement)} import {', '.join(kept)}"] if kept else []
    if not old and not new and is_alone(text, start, end):
        return TextEdit(path, line_start(text, start), line_end(text, end), "")
    indent = text[line_start(text, start) : start]
    return TextEdit(path, start, end, f"\n{indent}".join([*old, *new]) or "pass")
