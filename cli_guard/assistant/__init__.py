"""The assistant: answers and proposals for a request at the terminal, behind `propose`. No hook loads it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cli_guard.assistant.proposal import Proposal
    from cli_guard.graph.context import Context

__all__ = ["propose"]


def propose(
    request: str,
    snapshot: Mapping[str, str],
    *,
    paths: Sequence[str] | None = None,
    context: "Context | None" = None,
) -> "Proposal":
    """Answer a request about some files (text by path), see `cli_guard.assistant.proposal`.

    Nothing is written or run: what a person must approve is in the proposal. The graph is imported on the first call.
    """
    from cli_guard.assistant.proposal import propose as make

    return make(request, snapshot, paths=paths, context=context)
