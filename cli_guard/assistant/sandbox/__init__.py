"""The run tool: bash text over a snapshot of a repository, in an interpreter inside this process.

Two layers (seed 002). `execution` has the semantics of Unix: raw bytes, lossless, no metadata. `presentation` is
applied once, after the chain has ended: what is binary, too long or an error becomes something to go on from.
"""

from cli_guard.assistant.sandbox.commands import description
from cli_guard.assistant.sandbox.model import (
    CommandWorld,
    RunLimits,
    RunResult,
)
from cli_guard.assistant.sandbox.runner import run

__all__ = [
    "CommandWorld",
    "RunLimits",
    "RunResult",
    "description",
    "run",
]
