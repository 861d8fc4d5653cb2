"""The engine that judges shell commands: text and context in, a verdict out; it runs and opens nothing."""

from cli_guard.policy.commands.judge import judge
from cli_guard.policy.commands.model import Context, Effect, Kind, Setting, Span, Verdict

__all__ = ["Context", "Effect", "Kind", "Setting", "Span", "Verdict", "judge"]
