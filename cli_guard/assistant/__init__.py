"""The assistant: answers and proposals for a request at the terminal, behind `propose`. No hook loads it.

request + snapshot -> propose -> the graph, with the assistant in its context -> Proposal
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from cli_guard.lazy import frozen

if TYPE_CHECKING:
    from cli_guard.graph.context import Context
    from cli_guard.graph.run import Pause
    from cli_guard.graph.state import Data, State

__all__ = ["Proposal", "propose"]

# What is shown of a run; the rest of its state is the graph's own.
SHOWN_FIELDS = (
    "input status task_type final_output plan tool_results blocked_actions requires_human_review review_reason"
    " review_id action_log requested_paths skipped"
).split()


@frozen
class Proposal:
    """What came of a request: `status` is ok, needs_review or failed; `data` is the state as JSON data.

    `patch` is the exact patch that is proposed, "" if there is none or if it holds a secret; `notes` are for stderr.
    `pause` is the run that an approval resumes, None where there is nothing to approve; `state` is its state.
    """

    status: str
    text: str
    data: dict[str, object]
    patch: str = ""
    notes: tuple[str, ...] = ()
    state: "State | None" = field(default=None, repr=False)
    pause: "Pause | None" = field(default=None, repr=False)


def propose(
    request: str,
    snapshot: Mapping[str, str],
    *,
    paths: Sequence[str] | None = None,
    context: "Context | None" = None,
    metadata: "Data | None" = None,
) -> Proposal:
    """Answer a request about the files of a snapshot (text by path).

    Nothing is written or run: what a person must approve is in the proposal. `paths` narrow what may be looked at.
    `context` adds what a repository has: its policy, what writes and runs after an approval, further tools. `metadata`
    goes into the state.
    """
    from cli_guard.graph.context import Context
    from cli_guard.graph.run import run_graph
    from cli_guard.secrets.printable import json_value
    from cli_guard.secrets.redact import mask_everywhere, masks_in

    asked: State = {"input": request, "metadata": metadata or {}}
    if paths is not None:
        asked["allowed_paths"] = list(paths)
    state, pause = run_graph(asked, replace(context or Context(), snapshot=snapshot))
    patch = str(state["proposal"].get("patch", ""))
    shown = next(
        (str(r["patch"]) for r in reversed(state["tool_results"]) if "patch" in r), ""
    )
    # A secret in the words of the request is not repeated to a terminal or a log.
    masked = mask_everywhere(
        {key: state.get(key) for key in SHOWN_FIELDS}, masks_in(request)
    )
    data = json_value(masked)
    assert isinstance(data, dict)  # noqa: S101 - a dict gives one
    # A patch that is shown otherwise than it is holds a secret.
    exact = patch if patch == shown else ""
    return Proposal(
        state["status"],
        str(data["final_output"] or ""),
        data,
        exact,
        state=state,
        pause=pause,
    )
