"""Plans what goes from Python code: a definition that nothing uses, unused imports."""

import ast

from cli_guard.assistant.editing.imports import (
    blank_lines_end,
    drop_new_unused,
    find_unused_imports,
    line_end,
    line_start,
    without_imports,
)
from cli_guard.assistant.editing.modules import Python
from cli_guard.assistant.editing.open_ended import plan_uses
from cli_guard.assistant.editing.plan import EditPlan, PlanDraft
from cli_guard.assistant.editing.prose import dynamic_uses, find_dotted_strings
from cli_guard.assistant.editing.scopes import MODULE
from cli_guard.assistant.editing.sources import (
    Sources,
    TextEdit,
    apply_edits,
    find_path,
)
from cli_guard.assistant.editing.targets import (
    exports_of,
    find_targets,
    name_others,
    uses_of,
)
from cli_guard.assistant.replies import count_of
from cli_guard.assistant.request_change import Change


def plan_delete(sources: Sources, intent: Change) -> EditPlan:
    """Return the plan for "delete the function f": refused while anything uses it, and the uses are listed."""
    python = Python(sources)
    found = find_targets(python, intent.get("old"), intent.get("place"), intent.get("sort"))
    found = [each for each in found if each.occurrence.role == "definition"]
    if not found:
        return plan_uses(sources, "edit", intent)
    target = found[0]
    name = found[0].name
    path = found[0].path
    title = f"Delete {target.qualified} in {path}"
    draft = PlanDraft(sources, "edit", title, name, name_others(python, found))
    # Overloads and alternatives of one scope go together.
    own = [
        o for o in python.places_of_home(path, name, target.home) if o.role == "definition"
    ]
    bodies = [python.span(path, each.node) for each in own]
    sure, unsure, _ = uses_of(python, path, name, target.home)
    named = {
        (o.path, o.start)
        for o in (*sure, *unsure)
        if target.owner is None or o.role != "definition"
    }
    if target.home == MODULE:
        named.update(find_dotted_strings(python, exports_of(python, path, name), name))
    uses = [
        (p, s)
        for p, s in sorted(named)
        if p != path or not any(a <= s < b for a, b in bodies)
    ]
    places = [
        *((p, sources.line(p, s), f"uses {name}") for p, s in uses),
        *dynamic_uses(python, name),
    ]
    if places:
        return draft.refuse(f"{name} is used in {count_of(len(places), 'place')}", places)
    text = sources.texts[path]
    module = sources.module(path)
    inner = (
        [each for each in ast.walk(module) if each is not module]
        if module is not None
        else []
    )
    if [target.occurrence.node] in (getattr(each, "body", None) for each in inner):
        edits = [TextEdit(path, *bodies[0], "pass")]
    else:
        edits = [
            TextEdit(path, *whole_lines(text, start, end), "") for start, end in bodies
        ]
    if not name.startswith("_"):
        draft.risks.append(
            f"{name} is public: code outside of this repository may import it"
        )
    return draft.finish(drop_new_unused(sources, apply_edits(sources, edits)))


def whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    first = line_start(text, start)
    stop = blank_lines_end(text, end)
    if stop == len(text):  # the last of a file takes the blank lines before it along
        before = text[:first].rstrip()
        first = line_end(text, len(before)) if before else 0
    return first, stop


def plan_unused_imports(sources: Sources, intent: Change) -> EditPlan:
    """Return the plan for "remove unused imports in path", or in all files."""
    place = intent.get("place").rstrip("/")
    python = Python(sources)
    draft = PlanDraft(
        sources, "remove unused", f"Remove unused imports in {place or 'all files'}"
    )
    paths = [p for p in sources.texts if not place or p.startswith(f"{place}/")]
    if not paths:
        named = find_path(sources, place)
        if not named.path:
            return draft.ask_for_file(named)
        paths = [named.path]
        draft.assumed = named.assumed
    paths = [
        path
        for path in paths
        if sources.language(path) == "python" and sources.has_time(path)
    ]
    if place and not paths:
        return draft.refuse(f"{place} is not Python: only its imports are known here")
    changes = dict[str, str]()
    number = 0
    for path in paths:
        gone = list(find_unused_imports(python, path))
        number += len(gone)
        changes |= {path: without_imports(python, path, gone)} if gone else {}
    draft.title = f"Remove {count_of(number, 'unused import')} in {place or 'all files'}"
    draft.risks.append(
        "an import that is there for what it does when it runs (registering, patching) looks unused"
    )
    draft.risks.append("another module may import the name from here")
    return draft.finish(changes)
