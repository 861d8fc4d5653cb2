"""Renames a parameter of a Python function in its body and its calls."""

import ast
import re

from cli_guard.assistant.editing.classes import Classes, ClassKey
from cli_guard.assistant.editing.modules import Python
from cli_guard.assistant.editing.scopes import MODULE, Scope
from cli_guard.assistant.editing.sources import Edit
from cli_guard.assistant.editing.targets import (
    Renaming,
    Target,
    exports_of,
    rename_in_scope,
    with_aliases,
)

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def rename_parameter(python: Python, target: Target, new: str, work: Renaming) -> None:
    """Rename a parameter; for a method, in every class of the family that has it, since calls may reach any."""
    scopes, path = target.occurrence.scopes, target.path
    name = scopes[0].name
    functions = [(path, scopes[0])]
    owner = ClassKey(path, scopes[1].start, scopes[1].name) if scopes[1].kind == "class" else None
    unsure: set[tuple[str, int]] = set()
    if owner is None and scopes[1] == MODULE:
        calls = with_aliases(python, exports_of(python, path, name))
    elif owner is None:
        calls = {(path, each.start) for each in python.places_of_home(path, name, scopes[1])}
    elif name in ("__init__", "__new__"):
        members = Classes(python).family(owner, "").members
        exports = (exports_of(python, each.path, each.name) for each in members)
        calls = {place for each in exports for place in with_aliases(python, each)}
    else:
        sure, maybe, is_unique = Classes(python).member_places(Classes(python).family(owner, name), name)
        calls = {(each.path, each.start) for each in (*sure, *(maybe if is_unique else ()))}
        unsure = set() if is_unique else {(each.path, each.start) for each in maybe}
        functions = [
            (each.path, Scope("function", python.head(each.path, each.node), name))
            for each in sure
            if isinstance(each.node, FUNCTIONS)
        ]
    for each, scope in functions:
        rename_inside(python, each, scope, target.name, new, work)
    rename_keywords(python, target.name, new, calls, unsure, work)


def rename_inside(python: Python, path: str, scope: Scope, old: str, new: str, work: Renaming) -> None:
    bound = next((o for o in python.places_of_home(path, old, scope) if o.role == "parameter"), None)
    if bound is None:
        return
    rename_in_scope(python, path, old, scope, new, work)
    function = bound.around
    if not isinstance(function, FUNCTIONS):
        return
    if ast.get_docstring(function, clean=False) is not None:
        documented = re.compile(
            r"(?::(?:param|type|arg|parameter)\s+(?:[\w.\[\], ]+\s)?|^[ \t]*|``?)"
            rf"(?P<name>{re.escape(old)})(?=\s*[:(`])",
            re.MULTILINE,
        )
        for match in documented.finditer(python.texts[path], *python.span(path, function.body[0])):
            work.edits.append(Edit(path, match.start("name"), match.end("name"), new))
    if function.args.kwarg is not None:
        kwargs = f"**{function.args.kwarg.arg}"
        work.risks.append(f"it takes {kwargs}: a call that still says {old}= is not refused but lands there")


def rename_keywords(
    python: Python,
    old: str,
    new: str,
    calls: set[tuple[str, int]],
    unsure: set[tuple[str, int]],
    work: Renaming,
) -> None:
    """Rename the keyword in each call of the function; one that may be a call of it is left to a person."""
    for path in python.mentioning(old):
        by_node = python.file(path).by_node
        for each in python.places(path, old):
            call = each.around
            if each.role != "keyword" or not isinstance(call, ast.Call):
                continue
            callee = by_node.get(call.func)
            at = (path, callee.start) if callee is not None else (path, -1)
            given = [by_node[argument] for argument in call.args if argument in by_node]
            if at in calls:
                work.take(each, new)
            elif at in unsure:
                work.by_hand.append(python.location(each, f"does this call reach it? {old}= is {new}= there"))
            elif any((path, argument.start) in calls for argument in given):
                reason = f"the function is handed over here: {old}= may be meant for it"
                work.by_hand.append(python.location(each, reason))
        text = python.texts[path]
        for match in re.finditer(rf"(['\"]){re.escape(old)}\1\s*:", text):
            line = python.line(path, match.start())
            around = python.sources.line_text(path, line) + text[match.end() : match.end() + 400]
            if "**" in around:
                work.by_hand.append((path, line, f"a key {old!r}: is this dict handed over with **?"))
