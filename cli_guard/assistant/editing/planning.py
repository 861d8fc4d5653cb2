"""Chooses who plans a request, by what kind of change it is."""

from collections.abc import Callable, Mapping

from cli_guard.assistant.editing.constants import plan_set
from cli_guard.assistant.editing.deletion import plan_delete
from cli_guard.assistant.editing.intents import Intent, IntentKind, read_request
from cli_guard.assistant.editing.migrate import plan_migrate
from cli_guard.assistant.editing.migrations import find
from cli_guard.assistant.editing.model import Plan
from cli_guard.assistant.editing.module_rename import plan_file
from cli_guard.assistant.editing.move import plan_move
from cli_guard.assistant.editing.open_ended import plan_open
from cli_guard.assistant.editing.python_changes import (
    plan_default,
    plan_future,
    plan_parameter,
    plan_prints,
    plan_unused_imports,
)
from cli_guard.assistant.editing.rename import plan_rename
from cli_guard.assistant.editing.replace_call import plan_replace
from cli_guard.assistant.editing.sources import Sources
from cli_guard.assistant.editing.split import plan_split
from cli_guard.assistant.editing.text_changes import (
    plan_add_entry,
    plan_add_line,
    plan_add_section,
    plan_change_text,
    plan_whitespace,
)
from cli_guard.assistant.editing.version import plan_bump

Planner = Callable[[Sources, Intent], Plan]
PLANNERS: Mapping[IntentKind, Planner] = {
    "rename": plan_rename,
    "rename file": plan_file,
    "move": plan_move,
    "split": plan_split,
    "migrate": plan_migrate,
    "replace": plan_replace,
    "change text": plan_change_text,
    "set constant": plan_set,
    "set default": plan_default,
    "bump version": plan_bump,
    "add entry": plan_add_entry,
    "remove unused imports": plan_unused_imports,
    "delete": plan_delete,
    "add line": plan_add_line,
    "add section": plan_add_section,
    "add parameter": plan_parameter,
    "remove prints": plan_prints,
    "whitespace": plan_whitespace,
    "tabs": plan_whitespace,
    "future annotations": plan_future,
}


def plan_for(request: str, sources: Sources) -> Plan:
    """The plan of a request; one that is not mechanical gets the files it concerns."""
    intent = read_request(request)
    if intent.kind == "replace" and find(intent.get("old"), intent.get("new")) is not None:
        return plan_migrate(sources, intent)
    if intent.kind == "migrate" and intent.get("old").removeprefix("./") in sources.texts:
        # "convert lib/view.js to TypeScript" is about a file, not about a library of that name.
        return plan_open(sources, intent)
    return PLANNERS.get(intent.kind, plan_open)(sources, intent)
