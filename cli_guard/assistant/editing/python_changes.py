"""Plans the mechanical changes of Python code: a default, a parameter, unused imports, prints, a deletion."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.calls import calls_in
from cli_guard.assistant.editing.edits import Edit, applied
from cli_guard.assistant.editing.imports import drop_new_unused, line_end
from cli_guard.assistant.editing.intents import Intent
from cli_guard.assistant.editing.mentions import usages_of
from cli_guard.assistant.editing.model import Plan, Step
from cli_guard.assistant.editing.paths import find_path
from cli_guard.assistant.editing.plans import plural, refused, unknown_subject
from cli_guard.assistant.editing.python_classes import Classes, class_of
from cli_guard.assistant.editing.python_names import span
from cli_guard.assistant.editing.python_rename import Python
from cli_guard.assistant.editing.sources import SCRIPT_LANGUAGES, Sources
from cli_guard.assistant.editing.subjects import Subject, subjects
from cli_guard.assistant.editing.text_changes import edited, no_file
from cli_guard.assistant.editing.unused import unused_imports, without_imports
from cli_guard.code.classify import is_test

if TYPE_CHECKING:
    from ast_grep_py import SgNode

PARAMETER = re.compile(
    r"(?P<name>[A-Za-z_]\w*)\s*(?::\s*(?P<type>[^=]+?))?\s*(?:=\s*(?P<default>.+))?", re.DOTALL
)
PRINTS = {
    "python": ("print", "pprint", "pp"),
    "javascript": ("console.log", "console.debug", "console.trace"),
}


def function_named(sources: Sources, intent: Intent) -> tuple[Python, list[Subject]]:
    """The functions and methods that the request means by `owner`; a class stands for its constructor."""
    python = Python.of(sources)
    classes = Classes(python)
    owner = intent.get("owner")
    found = subjects(python, classes, owner, intent.get("place"), "function")
    if not found and any(s.sort == "class" for s in subjects(python, classes, owner)):
        found = subjects(python, classes, f"{owner}.__init__", intent.get("place"))
    return python, [s for s in found if s.occurrence.role == "definition"]


def assumed_of(python: Python, found: list[Subject]) -> str | None:
    """Which of several was taken."""
    if len(found) < 2:
        return None
    others = ", ".join(
        f"{s.qualified} ({s.path}:{python.sources.line(s.path, s.occurrence.start)})" for s in found[1:6]
    )
    return f"{found[0].name} is {found[0].qualified} of {found[0].path}; not taken: {others}"


def plan_default(sources: Sources, intent: Intent) -> Plan:
    """The plan for "set the default of P in f to V"."""
    python, found = function_named(sources, intent)
    if not found:
        return unknown_subject(sources, "edit", intent.get("owner"), intent)
    subject, name, value = found[0], intent.get("name"), intent.get("value").strip().strip("`")
    title = f"Set the default of {name} in {subject.qualified} to {value}"
    node = subject.occurrence.node.parent()
    parameters = node.field("parameters") if node is not None else None
    every = (
        [c for c in parameters.named_children() if c.kind() != "comment"] if parameters is not None else []
    )
    mine = next((c for c in every if parameter_of(c) == name), None)
    if mine is None or not value:
        return Plan(
            "edit",
            f"{subject.qualified} has no parameter {name}",
            name,
            steps=(Step(f"Say which parameter of {subject.qualified} is meant", (subject.path,)),),
            missing=(f"parameter {name} of {subject.qualified} in {subject.path}",),
            skipped=sources.skipped,
        )
    old = mine.field("value")
    risks = ["calls that rely on the old default now get the new one"] if old is not None else []
    if re.match(r"[\[{]|(?:list|dict|set)\(", value):
        risks.append(f"{value} is made once and shared by all calls")
    if old is not None:
        edits = [Edit(subject.path, *span(old), value)]
    else:
        after = every[every.index(mine) + 1 :]
        plain = [
            c for c in after if c.kind() in ("identifier", "typed_parameter") and not c.text().startswith("*")
        ]
        keyword_only = any(
            c.kind() in ("keyword_separator", "list_splat_pattern") for c in every[: every.index(mine)]
        )
        if plain and not keyword_only:
            line = sources.line(subject.path, span(plain[0])[0])
            place = (subject.path, line, f"{parameter_of(plain[0])} follows and has no default")
            return refused(
                sources, "edit", title, subject.name, "a parameter with a default cannot come first", (place,)
            )
        between = " = " if mine.kind() == "typed_parameter" else "="
        edits = [Edit(subject.path, span(mine)[1], span(mine)[1], f"{between}{value}")]
    return edited(
        sources,
        title,
        subject.name,
        applied(sources, edits),
        risks=risks,
        usages=usages_of(sources, subject.name),
        assumed=assumed_of(python, found),
    )


def parameter_of(node: "SgNode") -> str:
    """The name of a parameter."""
    named = node.field("name")
    text = named.text() if named is not None else node.text()
    return re.split(r"[:=\s]", text.lstrip("* "), maxsplit=1)[0]


def plan_parameter(sources: Sources, intent: Intent) -> Plan:
    """The plan for "add parameter p=default to f": at the end, before **kwargs; by keyword alone after *args."""
    python, found = function_named(sources, intent)
    if not found:
        return unknown_subject(sources, "edit", intent.get("owner"), intent)
    subject = found[0]
    text = intent.get("text").strip("`'\" ")
    match = PARAMETER.fullmatch(text)
    title = f"Add the parameter {text} to {subject.qualified} in {subject.path}"
    node = subject.occurrence.node.parent()
    parameters = node.field("parameters") if node is not None else None
    if match is None or parameters is None:
        return refused(sources, "edit", title, subject.name, f"{text} is not a parameter", ())
    every = [c for c in parameters.named_children() if c.kind() != "comment"]
    if any(parameter_of(c) == match["name"] for c in every):
        line = sources.line(subject.path, subject.occurrence.start)
        place = (subject.path, line, f"{subject.qualified} has {match['name']} already")
        return refused(sources, "edit", title, subject.name, "the parameter is there already", (place,))
    if not match["default"]:
        reason = "without a default each call must hand it over: give one, as in p=None"
        return refused(sources, "edit", title, subject.name, reason, ())
    sign = " = " if match["type"] else "="
    written = match["name"] + (f": {match['type']}" if match["type"] else "") + sign + match["default"]
    last = next(
        (c for c in every if c.kind() == "dictionary_splat_pattern" or c.text().startswith("**")), None
    )
    if last is not None:
        edit = Edit(subject.path, span(last)[0], span(last)[0], f"{written}, ")
    elif every:
        end = span(every[-1])[1]
        edit = Edit(subject.path, end, end, f", {written}")
    else:
        inside = span(parameters)[0] + 1
        edit = Edit(subject.path, inside, inside, written)
    risks = ["it has no effect until the body uses it"]
    if class_of(subject.occurrence) is not None:
        risks.append("overriding methods in subclasses do not take it")
    return edited(
        sources,
        title,
        subject.name,
        applied(sources, [edit]),
        risks=risks,
        usages=usages_of(sources, subject.name),
        assumed=assumed_of(python, found),
    )


def plan_unused_imports(sources: Sources, intent: Intent) -> Plan:
    """The plan for "remove unused imports in path", or in all files that are not tests or packages' own."""
    place = intent.get("place")
    assumed: str | None = None
    if place and not any(p.startswith(place.rstrip("/") + "/") for p in sources.texts):
        named = find_path(sources, place)
        if not named.path:
            return no_file(sources, intent, named.missing)
        paths, assumed = [named.path], named.assumed
    else:
        paths = [p for p in sources.texts if not place or p.startswith(place.rstrip("/") + "/")]
    changes: dict[str, str] = {}
    count = 0
    for path in paths:
        if sources.language(path) != "python" or not sources.in_time(path):
            continue
        gone = {name for name, _ in unused_imports(sources, path)}
        if gone:
            count += len(gone)
            changes[path] = without_imports(sources, path, gone)
    where = place or "all files"
    title = f"Remove {count} unused {plural(count, 'import')} in {where}"
    if paths and all(sources.language(p) != "python" for p in paths):
        return refused(
            sources, "remove unused", title, "", f"{where} is not Python: only its imports are known here", ()
        )
    risks = [
        "an import that is there for what it does when it runs (registering, patching) looks unused",
        "another module may import the name from here",
    ]
    return edited(
        sources, title, "", changes, risks=risks if changes else (), assumed=assumed, kind="remove unused"
    )


def plan_prints(sources: Sources, intent: Intent) -> Plan:
    """The plan for "remove the debug prints in path": the statements that only print."""
    place = intent.get("place")
    named = find_path(sources, place) if place else None
    if named is not None and not named.path:
        return no_file(sources, intent, named.missing)
    paths = [named.path] if named is not None else [p for p in sources.texts if not is_test(p)]
    edits: list[Edit] = []
    for path in paths:
        if sources.in_time(path):
            edits += print_edits(sources, path)
    title = f"Remove {len(edits)} {plural(len(edits), 'print')} in {place or 'all files'}"
    risks = ["what a print calls to get its text is no longer called"]
    if any(re.search(r"__main__|argparse|click", sources.texts[p]) for p in {e.path for e in edits}):
        risks.append("a program's own output is printed too: look at each that goes")
    changes = drop_new_unused(sources, applied(sources, edits))
    return edited(sources, title, "print", changes, risks=risks, assumed=named.assumed if named else None)


def print_edits(sources: Sources, path: str) -> Iterator[Edit]:
    """The edits that take out the printing statements of one file."""
    language = sources.language(path) or ""
    wanted = PRINTS.get("javascript" if language in SCRIPT_LANGUAGES else language)
    if wanted is None:
        return
    text = sources.texts[path]
    gone: dict[tuple[int, int], list[SgNode]] = {}
    for call in calls_in(sources, path):
        statement = call.node.parent()
        if call.callee not in wanted or statement is None or statement.kind() != "expression_statement":
            continue
        block = statement.parent()
        if block is not None:
            gone.setdefault(span(block), []).append(statement)
    for statements in gone.values():
        block = statements[0].parent()
        others = [c for c in block.named_children() if c.kind() != "comment"] if block is not None else []
        empties = (
            language == "python"
            and len(others) == len(statements)
            and block is not None
            and block.kind() == "block"
        )
        for number, statement in enumerate(statements):
            start, end = span(statement)
            alone = block is not None and block.kind() in ("block", "module", "program", "statement_block")
            if (empties and number == 0) or not alone:
                yield Edit(path, start, end, "pass" if language == "python" else ";" if not alone else "")
                continue
            line_start, stop = text.rfind("\n", 0, start) + 1, line_end(text, end)
            if text[line_start:start].strip() or text[end:stop].strip().lstrip(";"):
                yield Edit(path, start, end, "pass" if language == "python" else "")
            else:
                yield Edit(path, line_start, stop, "")


def plan_future(sources: Sources, intent: Intent) -> Plan:
    """The plan for "add `from __future__ import annotations` to path": after the docstring."""
    place = intent.get("place")
    named = find_path(sources, place)
    if not named.path:
        return no_file(sources, intent, named.missing)
    path, text = named.path, sources.texts[named.path]
    statement = "from __future__ import annotations"
    title = f"Add {statement} to {path}"
    if sources.language(path) != "python":
        return refused(sources, "edit", title, "", f"{path} is not Python", ())
    at = 0
    root = sources.root(path)
    first = True
    for node in root.named_children() if root is not None else ():
        if node.kind() == "comment" and at == 0:
            at = line_end(text, node.range().end.index)
        elif first and node.kind() == "expression_statement" and node.text().lstrip("rRuU")[:1] in ("'", '"'):
            at = line_end(text, node.range().end.index)
            first = False
        else:
            break
    end = "\r\n" if "\r\n" in text else "\n"
    there = re.search(r"^from __future__ import .*\bannotations\b", text, re.MULTILINE)
    lead = end if at and text[at - 1 : at] == "\n" and text[:at].strip() else ""
    gap = end if not re.match(r"\s*(?:from|import)\b|\s*$", text[at:]) else ""
    body = text[at:].lstrip("\r\n") if gap == "" and lead else text[at:]
    changes = {} if there else {path: f"{text[:at]}{lead}{statement}{end}{gap}{body}"}
    risks = [
        "annotations become strings: what reads them when the program runs (pydantic, dataclasses, typer) must cope"
    ]
    return edited(sources, title, "annotations", changes, risks=risks, assumed=named.assumed)
