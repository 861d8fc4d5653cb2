"""Every tool that the graph may ask for."""

from cli_guard.tools.acting import acting_tools
from cli_guard.tools.helping import helping_tools
from cli_guard.tools.proposing import proposing_tools
from cli_guard.tools.reading import reading_tools
from cli_guard.tools.recording import recording_tools
from cli_guard.tools.reviewing import reviewing_tools
from cli_guard.tools.sandbox import sandbox_tools
from cli_guard.tools.tool import Tool


def all_tools() -> dict[str, Tool]:
    """The tools by name."""
    further = (*helping_tools(), *proposing_tools(), *acting_tools(), *sandbox_tools())
    return {
        **reviewing_tools(),
        **reading_tools(),
        **recording_tools(),
        **{tool.name: tool for tool in further},
    }
