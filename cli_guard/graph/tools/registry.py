"""Every tool that the graph may ask for."""

from cli_guard.assistant.tools.projects import helping_tools
from cli_guard.assistant.tools.proposals import proposing_tools
from cli_guard.assistant.tools.retrieval import reading_tools
from cli_guard.assistant.tools.sandbox import sandbox_tools
from cli_guard.graph.tools.git import recording_tools
from cli_guard.graph.tools.reviewers import reviewing_tools
from cli_guard.graph.tools.tool import Tool
from cli_guard.graph.tools.writing import acting_tools


def all_tools() -> dict[str, Tool]:
    """The tools by name."""
    further = (*helping_tools(), *proposing_tools(), *acting_tools(), *sandbox_tools())
    return {
        **reviewing_tools(),
        **reading_tools(),
        **recording_tools(),
        **{tool.name: tool for tool in further},
    }
