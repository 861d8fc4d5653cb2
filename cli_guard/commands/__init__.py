"""The engine that judges shell commands: text and context in, a verdict out. It runs nothing and opens no file."""

from cli_guard.commands.model import Context, Effect, Kind, Setting, Span, Verdict


def judge(command: str, context: Context | None = None) -> Verdict:
    """Judge one command, which may be a whole script. Raises TypeError if `command` is not text."""
    # Many modules import the types and patterns without judging: the engine is loaded at its first use.
    from cli_guard.commands import engine

    return engine.judge(command, context)


__all__ = ["Context", "Effect", "Kind", "Setting", "Span", "Verdict", "judge"]
