"""The run tool: bash text over a snapshot of a repository, executed without a process and shown for a reader.

Two layers (seed 002). `execution` has the semantics of Unix: raw bytes, lossless, no metadata. `presentation` is
applied once, after the chain has ended: what is binary, too long or an error becomes something to go on from.
"""

from cli_guard.assistant.sandbox.commands import description
from cli_guard.assistant.sandbox.model import Image, Limits, McpTool, McpTools, Ran, Shell
from cli_guard.assistant.sandbox.running import run

__all__ = ["Image", "Limits", "McpTool", "McpTools", "Ran", "Shell", "description", "run"]
