"""The flow: one LangGraph graph, `cli_agent_assistant`, behind the hooks, the review and the assistant."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cli_guard.graph.build import Graph

__all__ = ["build_graph"]


def build_graph(*, checkpointer: Any = None) -> "Graph":
    """Return the compiled graph, see `cli_guard.graph.build`; langgraph is imported on the first call."""
    from cli_guard.graph.build import build_graph as build

    return build(checkpointer=checkpointer)
