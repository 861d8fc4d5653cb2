"""Plans "move f to module m": a Python definition that goes to another file."""

from pathlib import PurePosixPath

from cli_guard.assistant.editing.edits import result
from cli_guard.assistant.editing.intents import Intent
from cli_guard.assistant.editing.mentions import usages_of
from cli_guard.assistant.editing.model import Plan, Step
from cli_guard.assistant.editing.module_rename import plan_file
from cli_guard.assistant.editing.paths import find_path
from cli_guard.assistant.editing.plans import listed, patched, refused, unknown_subject
from cli_guard.assistant.editing.python_classes import Classes
from cli_guard.assistant.editing.python_move import move_names
from cli_guard.assistant.editing.python_names import MODULE
from cli_guard.assistant.editing.python_rename import Python
from cli_guard.assistant.editing.sources import Sources
from cli_guard.assistant.editing.subjects import subjects


def plan_move(sources: Sources, intent: Intent) -> Plan:
    """The plan for "move f to m"."""
    old, new = intent.get("old"), intent.get("new")
    if intent.get("sort") in ("module", "file", "package") or "/" in old or old.endswith(".py"):
        return plan_file(sources, intent)
    python = Python.of(sources)
    found = [s for s in subjects(python, Classes(python), old, intent.get("place")) if s.home == MODULE]
    if not found:
        if find_path(sources, old).path and "." in old:
            return plan_file(sources, intent)
        return unknown_subject(sources, "move", old, intent)
    subject = found[0]
    target, assumed = target_path(sources, subject.path, new)
    title = f"Move {subject.name} from {subject.path} to {target}"
    if target == subject.path:
        return refused(sources, "move", title, subject.name, "it is there already", ())
    if not target.endswith(".py"):
        return refused(sources, "move", title, subject.name, f"{target} is not a Python module", ())
    if len(found) > 1:
        others = listed([s.path for s in found[1:]])
        assumed = "; ".join(
            filter(None, (f"{old} is the one of {subject.path}; not taken: {others}", assumed))
        )
    move = move_names(python, subject.path, [subject.name], target)
    if move.problems:
        return refused(
            sources, "move", title, subject.name, "it cannot go there as it is", tuple(move.problems), assumed
        )
    outcome = result(sources, move.changes)
    importers = tuple(sorted(set(outcome.changes) - {subject.path, target}))
    steps = [
        Step(f"Put {subject.name} into {target}, with the imports it needs", (target,), True),
        Step(f"Take it out of {subject.path}", (subject.path,), True),
    ]
    if importers:
        steps.append(Step(f"Import it from {target}", importers, True))
    risks = [*move.risks, f"who imports it from {python.modules.dotted(subject.path)} elsewhere breaks"]
    usages = usages_of(sources, subject.name)
    return patched(
        sources,
        "move",
        title,
        subject.name,
        outcome,
        usages,
        steps,
        risks,
        by_hand=move.by_hand,
        assumed=assumed,
    )


def target_path(sources: Sources, source: str, new: str) -> tuple[str, str | None]:
    """The module that is meant: one that is there, or a new one beside the old."""
    named = find_path(sources, new)
    if named.path:
        return named.path, named.assumed
    suffix = PurePosixPath(source).suffix
    if "/" in new:
        path = new if PurePosixPath(new).suffix else f"{new}{suffix}"
    elif new.endswith(suffix):
        path = str(PurePosixPath(source).with_name(new))
    else:
        path = str(PurePosixPath(source).with_name(new.rpartition(".")[2] + suffix))
    return path, f"{path} is not there yet: it is made"
