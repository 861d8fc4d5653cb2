"""The state of `cli_agent_assistant`: plain data only, so that a paused run survives in a checkpoint."""

import operator
import re
from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated, Any, Literal, TypedDict

from cli_guard.model import Skipped, TaskType

Data = dict[str, Any]
REQUEST_CHARS = 20_000
# Not white space: control characters, and the invisible ones that turn or hide text.
CONTROL = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e007f]"
)
# What a terminal takes for itself: colours, cursor moves, titles (ECMA-48).
ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]{0,30}[A-Za-z]|\][^\x07\x1b]{0,300}(?:\x07|\x1b\\)?)")


class State(TypedDict, total=False):
    """What the nodes hand on; the fields down to `metadata` are those of the requirement (Appendix E).

    `last_round`: the planner wants nothing more. `restricted`: the caller named the paths that may be looked at.
    `wishes` is what the words of the request say: `paths` and `symbols` that it names, `named` (a path is given),
    `writes` (files should change), `forbids` (none may), `runs` (something is to be run), `also` (further kinds of
    task), `effect` (the words that want more than that), `assumed`.
    `proposal` is the exact patch that a tool proposes, and its `paths`; it may hold a secret and is never shown: what
    is shown of it stands in `tool_results`.
    """

    input: str
    normalized_input: str
    task_type: TaskType | None
    requested_paths: list[str]
    allowed_paths: list[str]
    repo_snapshot: dict[str, str]
    context_items: list[Data]
    plan: list[Data]
    tool_requests: list[Data]
    tool_results: list[Data]
    blocked_actions: list[Data]
    requires_human_review: bool
    review_reason: str | None
    action_log: Annotated[list[Data], operator.add]
    status: Literal["ok", "needs_review", "failed"]
    final_output: str | None
    metadata: Data
    # What the loop needs beyond it.
    round: int
    last_round: bool
    restricted: bool
    wishes: Data
    proposal: Data
    decision: Literal["allow", "review", "deny"]
    review_id: str | None
    findings: list[Data]
    judged: list[Data]
    suppressed: list[Data]
    skipped: list[Data]


def normalise(text: str) -> str:
    """A request on one line: without control characters, white space collapsed, at most 20,000 characters."""
    return " ".join(CONTROL.sub("", ESCAPE.sub("", text)).split())[:REQUEST_CHARS].rstrip()


def skipped_data(skipped: Iterable[Skipped]) -> list[Data]:
    """What was not reviewed, as plain data."""
    return [asdict(each) for each in skipped]


def log(node: str, **details: object) -> list[Data]:
    """One entry of the action log."""
    return [{"node": node, **details}]
