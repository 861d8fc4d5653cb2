"""The tools of the graph: name, schema, risk class and function. A request adds those of the assistant."""

from cli_guard.graph.tools.effects import acting_tools, recording_tools
from cli_guard.graph.tools.reviewers import reviewing_tools
from cli_guard.graph.tools.tool import Tool

__all__ = ["guard_tools"]


def guard_tools() -> dict[str, Tool]:
    """Return the reviewers and the tools with an effect, by name."""
    effects = (*recording_tools(), *acting_tools())
    return {**reviewing_tools(), **{tool.name: tool for tool in effects}}
