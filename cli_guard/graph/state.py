"""The state of `cli_agent_assistant`: plain data, and the frozen types of `cli_guard.model` that a checkpoint keeps."""

import operator
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict

from cli_guard.model import FINDING_ENUMS, Action, Finding, Skipped, Suppressed

# The kinds of task: those of the requirement (Appendix E), and those of the hooks.
TaskType = Literal[
    "repo_qna",
    "doc_generation",
    "refactor_plan",
    "command_help",
    "test_workflow",
    "code_change",
    "change_review",
    "unsupported",
]

Data = dict[str, Any]
REQUEST_CHARS = 20_000
# Not white space: control characters, and the invisible ones that turn or hide text.
CONTROL = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e007f]"
)
# Escape sequences, which a terminal interprets: colours, cursor moves, titles (ECMA-48).
ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]{0,30}[A-Za-z]|\][^\x07\x1b]{0,300}(?:\x07|\x1b\\)?)")
# The last line of a request, if it asks about what is above it.
ASKED_BELOW = re.compile(
    r"(?i)\n[^\w\n]{0,9}(?P<asked>(?:where|what|who|why|how|which)\b[^\n]{0,300}"
    r"\b(?:this|that|it)\b[^\n]{0,200})$"
)


class State(TypedDict, total=False):
    """The data that nodes pass on; the fields down to `metadata` are those of the requirement (Appendix E).

    `tool_requests` are exact, secrets included; `plan` is what was planned so far, as it may be shown.
    `context_items` is what a reader of the state needs to follow a run over a snapshot: the review of a change that is
    handed in, as a hook does, has none.
    `last_round`: the planner wants nothing more. `restricted`: the caller named the paths that may be looked at.
    `wishes` is what the words of the request say: `paths` and `symbols` that it names, `named` (a path is given),
    `writes` (files should change), `forbids` (none may), `runs` (something is to be run), `also` (further kinds of
    task), `effect` (the words that want more than that), `assumed`.
    `judged` is each finding that stands (`finding`) with what policy makes of it (`decision`).
    `proposal` is the exact patch that a tool proposes, and its `paths`; it may hold a secret and is never shown;
    the part that may be shown is in `tool_results`.
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
    # Further fields that the loop needs.
    round: int
    last_round: bool
    restricted: bool
    wishes: Data
    proposal: Data
    decision: Literal["allow", "review", "deny"]
    review_id: str | None
    findings: list[Finding]
    judged: list[Data]
    suppressed: list[Suppressed]
    skipped: list[Skipped]


def normalise(text: str) -> str:
    """Return a request on one line, at most 20,000 characters; drop control characters, collapse white space.

    A text that is pasted above a question about it keeps its lines, without the empty ones.
    """
    plain = CONTROL.sub("", ESCAPE.sub("", text))
    lines = (" ".join(line.split()) for line in plain.splitlines())
    whole = "\n".join(filter(None, lines))[:REQUEST_CHARS].rstrip()
    return whole if question_of(whole) != whole else " ".join(whole.split())


def question_of(text: str) -> str:
    """Return the question about a text that is pasted above it (`where does this come from`); else the whole text."""
    asked = ASKED_BELOW.search(text)
    return asked["asked"] if asked else text


# The only types that reading a checkpoint may build, besides plain data.
KEPT_TYPES = tuple(
    (kind.__module__, kind.__name__)
    for kind in (Finding, Suppressed, Skipped, *FINDING_ENUMS.values())
)


def is_intact(state: Mapping[str, Any]) -> bool:
    """Return whether a state read from a checkpoint has its types again; an older version kept plain data."""
    objects = (
        (Finding, state["findings"]),
        (Finding, [each["finding"] for each in state["judged"]]),
        (Suppressed, state["suppressed"]),
        (Skipped, state["skipped"]),
    )
    return all(
        isinstance(each, kind) for kind, listed in objects for each in listed
    ) and all(map(is_request, state["tool_requests"]))


def is_request(value: object) -> bool:
    """Return whether a value has the form of a tool request."""
    return (
        isinstance(value, dict)
        and value.keys() == {"tool", "arguments", "risk", "purpose"}
        and isinstance(value["arguments"], dict)
        and all(isinstance(value[key], str) for key in ("tool", "risk", "purpose"))
    )


def requested(state: Mapping[str, Any]) -> list[Action]:
    """Return the tool requests of a state as actions."""
    return [Action(**each) for each in state["tool_requests"]]


def as_data(action: Action) -> Data:
    """Return an action as a state keeps it: plain data, under the names of the requirement."""
    return {
        "tool": action.tool,
        "arguments": dict(action.arguments),
        "risk": action.risk,
        "purpose": action.purpose,
    }


def ran_of(state: State) -> Data:
    """Return the result of the command that was run, empty if none was."""
    return next(
        (
            r
            for r in state["tool_results"]
            if r["tool"] == "run_command" and "exit_code" in r
        ),
        {},
    )


def log(node: str, **details: object) -> list[Data]:
    """Build one entry of the action log."""
    return [{"node": node, **details}]
