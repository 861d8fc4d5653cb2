"""The engine that judges shell commands: text and context in, a verdict out; it runs and opens nothing."""

from cli_guard.commands.model import Context, Effect, Kind, Setting, Span, Verdict


def judge(command: str, context: Context | None = None) -> Verdict:
    """Judges one command, which may be a whole script. Raises TypeError for what is no text; nothing else."""
    # Types and patterns are wanted by many who judge nothing: the engine itself is loaded when it is needed.
    from cli_guard.commands import engine

    return engine.judge(command, context)


__all__ = ["Context", "Effect", "Kind", "Setting", "Span", "Verdict", "judge"]
