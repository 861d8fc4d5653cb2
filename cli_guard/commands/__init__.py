"""The engine that judges shell commands: text and context in, a verdict out. It runs nothing and opens no file."""

from cli_guard.commands.model import Context, Effect, EffectKind, Setting, Span, Verdict
from cli_guard.errors import CliGuardError
from cli_guard.model import Decision


def judge(command: str, context: Context | None = None) -> Verdict:
    """Judge one command, which may be a whole script; an error of our own is a verdict that asks.

    Raises TypeError if `command` is not text, CliGuardError.
    """
    try:
        return judge_or_raise(command, context)
    except CliGuardError:
        raise
    except Exception as error:
        if not isinstance(command, str):
            raise
        return verdict_of_failure(command, error)


def judge_or_raise(command: str, context: Context | None = None) -> Verdict:
    """Judge as `judge` does, but raise what goes wrong: for callers that stop by themselves."""
    # Many modules import the types and patterns without judging: the engine is loaded at its first use.
    from cli_guard.commands import engine

    return engine.judge(command, context)


def verdict_of_failure(
    command: str,
    error: Exception,
    advice: str = "`cli-guard check-command` writes a report",
) -> Verdict:
    """Return the verdict on a command that could not be judged: a person has to look."""
    # What the error says may quote the command: only its type is shown.
    reason = f"internal error: {type(error).__name__}, so this was not judged; {advice}"
    effect = Effect(
        EffectKind.UNKNOWN, None, Decision.REVIEW, reason, Span(0, min(len(command), 1))
    )
    return Verdict(command, Decision.REVIEW, reason, (effect,), "partial")


__all__ = [
    "Context",
    "Effect",
    "EffectKind",
    "Setting",
    "Span",
    "Verdict",
    "judge",
    "judge_or_raise",
    "verdict_of_failure",
]
