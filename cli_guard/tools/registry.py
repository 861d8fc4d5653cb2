"""Every tool that the graph may ask for."""

from cli_guard.tools.reading import reading_tools
from cli_guard.tools.recording import recording_tools
from cli_guard.tools.reviewing import reviewing_tools
from cli_guard.tools.tool import Tool


def all_tools() -> dict[str, Tool]:
    """The tools by name."""
    return {**reviewing_tools(), **reading_tools(), **recording_tools()}
