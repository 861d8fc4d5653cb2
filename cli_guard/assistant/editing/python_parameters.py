"""Renames a parameter of a Python function: in its body, in its documentation, and in each call that names it."""

import re
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.edits import Edit
from cli_guard.assistant.editing.mentions import word
from cli_guard.assistant.editing.python_classes import Classes, ClassKey, class_of
from cli_guard.assistant.editing.python_members import member_places
from cli_guard.assistant.editing.python_names import MODULE, Occurrence, span
from cli_guard.assistant.editing.python_rename import Found, Python, collisions, exports_of, with_aliases
from cli_guard.assistant.editing.subjects import Subject

if TYPE_CHECKING:
    from ast_grep_py import SgNode


def rename_parameter(python: Python, classes: Classes, subject: Subject, new: str) -> Found:
    """Renames a parameter; for a method, in every class of the family that has it, since calls may reach any."""
    found, old = Found(), subject.name
    functions = [function_node(subject)]
    key = class_of(subject.occurrence)
    is_method = (
        key is not None
        and len(subject.occurrence.scopes) > 1
        and subject.occurrence.scopes[1].kind == "class"
    )
    name = subject.around[-1] if subject.around else ""
    calls: set[tuple[str, int]] = set()
    unsure: list[Occurrence] = []
    if is_method and key is not None and name not in ("__init__", "__new__"):
        family = classes.family(key, name)
        sure, maybe, unique = member_places(python, classes, family, name)
        calls = {(o.path, o.start) for o in (*sure, *(maybe if unique else ()))}
        unsure = [] if unique else maybe
        functions = [n for o in sure if o.role == "definition" and (n := o.node.parent()) is not None]
        paths = [o.path for o in sure if o.role == "definition"]
    else:
        paths = [subject.path]
        if is_method and key is not None:
            calls = class_calls(python, classes, key)
        elif subject.occurrence.scopes[1] == MODULE:
            calls = with_aliases(python, exports_of(python, subject.path, name), name)
        else:
            homes = python.names.homes(subject.path, name)
            calls = {
                (subject.path, o.start)
                for o in python.names.of(subject.path, name)
                if homes.home(o) == subject.occurrence.scopes[1]
            }
    for path, function in zip(paths, functions, strict=True):
        if function is not None:
            rename_inside(python, path, function, old, new, found)
    keywords(python, old, new, calls, {(o.path, o.start) for o in unsure}, found)
    return found


def function_node(subject: Subject) -> "SgNode | None":
    """The function that a parameter belongs to."""
    node: SgNode | None = subject.occurrence.node
    while node is not None and not (
        node.kind() == "function_definition" and span(node)[0] == subject.home.start
    ):
        node = node.parent()
    return node


def class_calls(python: Python, classes: Classes, key: ClassKey) -> set[tuple[str, int]]:
    """Where a class, or one that comes from it, is named: what is called there is its constructor."""
    found: set[tuple[str, int]] = set()
    for member in classes.family(key, "").members:
        found |= with_aliases(python, exports_of(python, member.path, member.name), member.name)
    return found


def rename_inside(python: Python, path: str, function: "SgNode", old: str, new: str, found: Found) -> None:
    """Renames a parameter in one function and in what its docstring says of parameters."""
    start, end = span(function)
    homes = python.names.homes(path, old)
    mine = [
        o
        for o in python.names.of(path, old)
        if (home := homes.home(o)) is not None
        and home.kind == "function"
        and (home.start, home.end) == (start, end)
    ]
    if not any(o.role == "parameter" for o in mine):
        return
    for occurrence in mine:
        found.edits.append(Edit(path, occurrence.start, occurrence.end, new))
        found.places.add((path, occurrence.start))
    home = homes.home(mine[0])
    if home is not None:
        found.collisions += collisions(python.names, path, mine, home, new)
    body = function.field("body")
    first = next(iter(body.named_children()), None) if body is not None else None
    text = first.text() if first is not None and first.kind() == "expression_statement" else ""
    if first is not None and text.lstrip("rRuU")[:1] in ("'", '"'):
        documented = re.compile(
            rf"(:(?:param|type|arg|parameter)\s+(?:[\w.\[\], ]+\s)?|^[ \t]*|``?){re.escape(old)}(?=\s*[:(`])",
            re.M,
        )
        at = span(first)[0]
        for match in documented.finditer(text):
            found.edits.append(Edit(path, at + match.end() - len(old), at + match.end(), new))
    parameters = function.field("parameters")
    rest = [p.text() for p in (parameters.named_children() if parameters is not None else ())]
    for each in (text for text in rest if text.startswith("**") and len(text) < 100):
        found.risks.append(f"it takes {each}: a call that still says {old}= is not refused but lands there")


def keywords(
    python: Python,
    old: str,
    new: str,
    calls: set[tuple[str, int]],
    unsure: set[tuple[str, int]],
    found: Found,
) -> None:
    """Renames the keyword in each call of the function; one that may be a call of it is left to a person."""
    for path in python.sources.mentioning(old, "python"):
        for occurrence in python.names.of(path, old):
            if occurrence.role != "keyword":
                continue
            call = call_around(occurrence.node)
            callee = call.field("function") if call is not None else None
            if callee is None or call is None:
                continue
            last = callee.field("attribute") if callee.kind() == "attribute" else callee
            at = (path, span(last)[0]) if last is not None else (path, -1)
            if at in calls:
                found.edits.append(Edit(path, occurrence.start, occurrence.end, new))
                found.places.add((path, occurrence.start))
            elif at in unsure:
                found.by_hand.append(
                    python.place(occurrence, f"does this call reach it? {old}= is {new}= there")
                )
            elif any(
                (path, span(argument)[0]) in calls
                for argument in (call.field("arguments") or call).named_children()
            ):
                found.by_hand.append(
                    python.place(occurrence, f"the function is handed over here: {old}= may be meant for it")
                )
    for path in python.sources.mentioning(old, "python"):
        for match in word(old).finditer(python.sources.texts[path]):
            if python.sources.texts[path][max(0, match.start() - 1) : match.end() + 2] in (
                f'"{old}":',
                f"'{old}':",
            ):
                line = python.sources.line(path, match.start())
                around = python.sources.texts[path][match.end() : match.end() + 400]
                if "**" in around or "**" in python.sources.line_text(path, line):
                    found.by_hand.append((path, line, f"a key {old!r}: is this dict handed over with **?"))


def call_around(node: "SgNode") -> "SgNode | None":
    """The call that a keyword belongs to."""
    for _ in range(3):
        parent = node.parent()
        if parent is None or parent.kind() == "call":
            return parent
        node = parent
    return None
