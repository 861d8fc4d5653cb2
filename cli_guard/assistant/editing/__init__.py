"""Plans changes over many files, and computes them where a change is mechanical. Writes nothing: texts in, plan out."""

from collections.abc import Callable, Mapping

from cli_guard.assistant.editing.migration import is_library, plan_migrate
from cli_guard.assistant.editing.open_ended import (
    plan_file_rename,
    plan_open,
    plan_uses,
)
from cli_guard.assistant.editing.plan import EditPlan
from cli_guard.assistant.editing.rename import plan_rename
from cli_guard.assistant.editing.sources import Sources
from cli_guard.assistant.editing.text_changes import (
    plan_bump,
    plan_change_text,
    plan_constant,
)
from cli_guard.assistant.request import read_request
from cli_guard.assistant.request_change import Change

__all__ = ["EditPlan", "plan_refactor"]

PLANNERS: Mapping[str, Callable[[Sources, Change], EditPlan]] = {
    "rename": plan_rename,
    "rename file": plan_file_rename,
    "move": plan_uses,
    "change text": plan_change_text,
    "set constant": plan_constant,
    "bump version": plan_bump,
    "delete": plan_uses,
}


def plan_refactor(request: str, texts: Mapping[str, str]) -> EditPlan:
    """Plan a change: "rename X to Y", "from log4j to slf4j", "move f to m", "change 'a' to 'b' in m".

    `texts` is path -> text of the whole repository. What is beyond the bound of the work is in `skipped`, and there is
    no patch then. A request that is not mechanical gets the files it concerns and the steps.
    """
    sources = Sources(texts)
    intent = read_request(request, texts).change
    is_swap = intent.kind == "replace" or intent.opens_as("swap")
    is_move = intent.kind == "migrate" or (is_swap and " " not in intent.get("new"))
    # "convert lib/view.js to TypeScript" and "from loading to pathlib" are about code here, not about a library.
    if is_move and is_library(sources, intent.get("old")):
        return plan_migrate(sources, intent)
    return PLANNERS.get(intent.kind, plan_open)(sources, intent)
