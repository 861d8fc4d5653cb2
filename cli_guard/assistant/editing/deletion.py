"""Plans the deletion of a Python function, method or class: refused while anything uses it."""

from typing import TYPE_CHECKING

from cli_guard.assistant.editing.edits import Edit, applied
from cli_guard.assistant.editing.imports import blank_lines_end, drop_new_unused, line_end
from cli_guard.assistant.editing.intents import Intent
from cli_guard.assistant.editing.mentions import usages_of
from cli_guard.assistant.editing.model import Plan
from cli_guard.assistant.editing.plans import plural, refused, unknown_subject
from cli_guard.assistant.editing.python_changes import assumed_of
from cli_guard.assistant.editing.python_classes import Classes, class_of
from cli_guard.assistant.editing.python_members import member_places
from cli_guard.assistant.editing.python_names import span
from cli_guard.assistant.editing.python_rename import Python, exports_of, with_aliases
from cli_guard.assistant.editing.sources import Sources
from cli_guard.assistant.editing.strings import dotted_strings, dynamic_uses, listed_in_all
from cli_guard.assistant.editing.subjects import Subject, subjects
from cli_guard.assistant.editing.text_changes import edited

if TYPE_CHECKING:
    from ast_grep_py import SgNode


def plan_delete(sources: Sources, intent: Intent) -> Plan:
    """The plan for "delete the function f": refused while anything uses it, and the uses are listed."""
    python = Python.of(sources)
    classes = Classes(python)
    found = subjects(python, classes, intent.get("old"), intent.get("place"), intent.get("sort"))
    found = [s for s in found if s.occurrence.role == "definition"]
    if not found:
        return unknown_subject(sources, "edit", intent.get("old"), intent)
    subject, name = found[0], found[0].name
    title = f"Delete {subject.qualified} in {subject.path}"
    own = {o.start for o in python.names.of(subject.path, name) if same_definition(python, subject, o.start)}
    uses = uses_of(python, classes, subject)
    bodies = [bounds(o.node) for o in python.names.of(subject.path, name) if o.start in own]
    inside = {(p, s) for p, s in uses if p == subject.path and any(a <= s < b for a, b in bodies)}
    uses = sorted(set(uses) - inside)
    places_left = [(p, sources.line(p, s), f"uses {name}") for p, s in uses]
    places_left += list(dynamic_uses(python, name, set()))
    if places_left:
        reason = f"{name} is used in {len(places_left)} {plural(len(places_left), 'place')}"
        return refused(sources, "edit", title, name, reason, tuple(places_left), assumed_of(python, found))
    text = sources.texts[subject.path]
    if only_child(subject):
        edits = [Edit(subject.path, *bodies[0], "pass")]
    else:
        edits = [Edit(subject.path, *whole_lines(text, a, b), "") for a, b in bodies]
    risks = []
    if not name.startswith("_"):
        risks.append(f"{name} is public: who imports it from outside of this repository breaks")
    changes = drop_new_unused(sources, applied(sources, edits))
    return edited(
        sources,
        title,
        name,
        changes,
        risks=risks,
        usages=usages_of(sources, name),
        assumed=assumed_of(python, found),
    )


def uses_of(python: Python, classes: Classes, subject: Subject) -> list[tuple[str, int]]:
    """The places that name a definition as (path, position), its own among them."""
    name = subject.name
    if subject.home.kind == "class":
        key = class_of(subject.occurrence)
        if key is None:
            return []
        sure, unsure, _ = member_places(python, classes, classes.family(key, name), name)
        return [(o.path, o.start) for o in (*sure, *unsure) if o.role != "definition"]
    if subject.home.kind == "module":
        places = exports_of(python, subject.path, name)
        return [
            *with_aliases(python, places, name),
            *listed_in_all(python, sorted(places), name),
            *dotted_strings(python, set(places), name),
        ]
    homes = python.names.homes(subject.path, name)
    return [
        (subject.path, o.start) for o in python.names.of(subject.path, name) if homes.home(o) == subject.home
    ]


def same_definition(python: Python, subject: Subject, start: int) -> bool:
    """Is a place one of the `def`s of the subject? Overloads and alternatives of one scope go together."""
    homes = python.names.homes(subject.path, subject.name)
    return any(
        o.start == start and o.role == "definition" and homes.home(o) == subject.home
        for o in python.names.of(subject.path, subject.name)
    )


def bounds(name: "SgNode") -> tuple[int, int]:
    """Where a definition begins, its decorators included, and ends."""
    node = name.parent() or name
    above = node.parent()
    return span(above if above is not None and above.kind() == "decorated_definition" else node)


def only_child(subject: Subject) -> bool:
    """Is a definition all that its block holds?"""
    node: SgNode | None = subject.occurrence.node
    while node is not None and node.kind() != "block":
        node = node.parent()
        if node is not None and node.kind() == "module":
            return False
    return node is not None and len([c for c in node.named_children() if c.kind() != "comment"]) == 1


def whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """The lines of a definition and the blank ones after it."""
    first, stop = text.rfind("\n", 0, start) + 1, blank_lines_end(text, end)
    if stop == len(text):  # the last of a file takes the blank lines before it along
        before = text[:first].rstrip()
        first = line_end(text, len(before)) if before else 0
    return first, stop
