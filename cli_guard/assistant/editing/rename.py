"""Plans a rename: what the name means, where it is surely meant, what is left and what may break."""

from cli_guard.assistant.editing.edits import Edit, Result, applied, result
from cli_guard.assistant.editing.intents import Intent
from cli_guard.assistant.editing.javascript_modules import SCRIPTS
from cli_guard.assistant.editing.mentions import usages_of
from cli_guard.assistant.editing.model import Plan, Step
from cli_guard.assistant.editing.module_rename import plan_file
from cli_guard.assistant.editing.paths import find_path
from cli_guard.assistant.editing.plans import mention_risks, patched, refused, unknown_subject
from cli_guard.assistant.editing.python_classes import Classes, class_of
from cli_guard.assistant.editing.python_members import rename_member
from cli_guard.assistant.editing.python_parameters import rename_parameter
from cli_guard.assistant.editing.python_rename import (
    Found,
    Python,
    collisions,
    exports_of,
    rename_places,
    shadow_risk,
    valid_name,
)
from cli_guard.assistant.editing.script_rename import plan_script_rename
from cli_guard.assistant.editing.sources import Sources
from cli_guard.assistant.editing.strings import (
    doctest_edits,
    dotted_strings,
    dynamic_uses,
    listed_in_all,
    own_strings,
    prose_edits,
)
from cli_guard.assistant.editing.subjects import Subject, subjects
from cli_guard.assistant.editing.unique_rename import plan_unique_rename

FILES = (".py", ".pyi", ".md", ".toml", ".json", ".yml", ".yaml", ".txt", ".css", ".html", *SCRIPTS)


def plan_rename(sources: Sources, intent: Intent) -> Plan:
    """The plan for "rename X to Y"."""
    old, new = intent.get("old"), intent.get("new")
    if intent.get("sort") in ("module", "package", "file") or "/" in old or old.endswith(FILES):
        return plan_file(sources, intent)
    new = new.rpartition(".")[2]
    python = Python.of(sources)
    classes = Classes(python)
    found = subjects(python, classes, old, intent.get("place"), intent.get("sort"))
    if not found and find_path(sources, old).path and "." in old:
        return plan_file(sources, intent)
    if not found:
        elsewhere = plan_script_rename(sources, intent) or plan_unique_rename(sources, intent)
        if elsewhere is not None:
            return elsewhere
        return unknown_subject(sources, "rename", old, intent)
    return python_rename(python, classes, found, new)


def python_rename(python: Python, classes: Classes, found: list[Subject], new: str) -> Plan:
    """The rename of the first of several definitions; the others are named as what was not taken."""
    subject, old = found[0], found[0].name
    title = f"Rename the {word_for(subject)} {subject.qualified} in {subject.path} to {new}"
    reason = valid_name(new) or ("it has that name already" if new == old else None)
    if reason is not None:
        return refused(python.sources, "rename", title, old, f"{title}: {reason}", ())
    edits, assumed = edits_for(python, classes, subject, new)
    notes = [assumed] if assumed else []
    others = [s for s in found[1:] if (s.path, s.home) != (subject.path, subject.home)]
    if others:
        named = ", ".join(f"{s.qualified} ({s.path}:{line_of(python, s)})" for s in others[:5])
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        notes.insert(
            0,
            f"{old} is the {word_for(subject)} {subject.qualified} of {subject.path}; not taken: {named}{more}",
        )
    note = "; ".join(notes) or None
    if edits.collisions:
        return refused(
            python.sources, "rename", title, old, f"{new} cannot be used here", tuple(edits.collisions), note
        )
    unique = len(subjects(python, classes, old)) == 1
    extend_beyond_code(python, subject, edits, new, unique=unique)
    outcome = result(python.sources, applied(python.sources, edits.edits))
    return finished(python, subject, new, title, edits, outcome, note)


def edits_for(python: Python, classes: Classes, subject: Subject, new: str) -> tuple[Found, str | None]:
    """The edits in code, and what was assumed about them."""
    old = subject.name
    if subject.sort == "parameter":
        return rename_parameter(python, classes, subject, new), None
    if subject.home.kind == "class":
        owner = class_of(subject.occurrence)
        if owner is not None:
            return rename_member(python, classes, owner, old, new)
    if subject.home.kind == "module":
        places = exports_of(python, subject.path, old)
        found = rename_places(python, places, old, new)
        for path, start in listed_in_all(python, sorted(places), old):
            found.edits.append(Edit(path, start, start + len(old), new))
            found.places.add((path, start))
        for path, start in own_strings(python, places, old):
            found.edits.append(Edit(path, start, start + len(old), new))
        for path, start in dotted_strings(python, set(places), old):
            found.edits.append(Edit(path, start, start + len(old), new))
            found.places.add((path, start))
        return found, None
    found = Found()
    homes = python.names.homes(subject.path, old)
    mine = [o for o in python.names.of(subject.path, old) if homes.home(o) == subject.home]
    found.edits += [Edit(subject.path, o.start, o.end, new) for o in mine]
    found.places |= {(subject.path, o.start) for o in mine}
    found.collisions += collisions(python.names, subject.path, mine, subject.home, new)
    return found, None


def extend_beyond_code(python: Python, subject: Subject, found: Found, new: str, *, unique: bool) -> None:
    """Adds prose that surely means it, and strings that may reach it; a local name has neither."""
    if subject.sort in ("parameter", "local"):
        return
    old = subject.name
    taken = {(e.path, e.start) for e in found.edits}
    found.by_hand += dynamic_uses(python, old, taken)
    if unique:
        found.edits += prose_edits(
            python, old, new, also=(python.modules.dotted(subject.path), *subject.around)
        )
        if subject.home.kind == "module":
            found.edits += doctest_edits(python, old, new)


def finished(
    python: Python, subject: Subject, new: str, title: str, found: Found, outcome: Result, note: str | None
) -> Plan:
    """The plan with its steps, risks and patch."""
    old, sources = subject.name, python.sources
    paths = tuple(sorted({path for path, _ in found.places}))
    others = tuple(p for p in outcome.changes if p not in paths)
    steps = [Step(f"Rename {subject.qualified} where it is defined", (subject.path,), True)]
    if len(paths) > 1:
        steps.append(Step("Rename its imports and uses", tuple(p for p in paths if p != subject.path), True))
    if others:
        steps.append(Step("Rename it where documents name it", others, True))
    risks = [*found.risks, *shadow_risk(new)]
    public = not old.startswith("_") and subject.sort not in ("parameter", "local")
    if public and not subject.around:
        risks.append(
            f"{old} can be imported from {python.modules.dotted(subject.path)}: who does so elsewhere breaks"
        )
    risks += mention_risks(sources, old, {(e.path, e.start) for e in found.edits})
    usages = usages_of(sources, old, only=found.places)
    return patched(
        sources, "rename", title, old, outcome, usages, steps, risks, by_hand=found.by_hand, assumed=note
    )


def word_for(subject: Subject) -> str:
    """The word for what a subject is."""
    return "local variable" if subject.sort == "local" else subject.sort


def line_of(python: Python, subject: Subject) -> int:
    """The line of a definition."""
    return python.sources.line(subject.path, subject.occurrence.start)
