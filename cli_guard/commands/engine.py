"""The one judge: a command and where it would run -> a verdict."""

from cli_guard.commands.effects.called import PHRASES
from cli_guard.commands.floors import ALTERNATIVES
from cli_guard.commands.model import (
    GRAVITY,
    Context,
    Effect,
    Kind,
    Pattern,
    Setting,
    Span,
    Verdict,
    strictest,
)
from cli_guard.commands.patterns import apply_patterns, fit_pattern
from cli_guard.commands.saving import pattern_to_save
from cli_guard.commands.scope import NOTHING, OutOfBudget, Scope, Stream
from cli_guard.commands.walk import Shell
from cli_guard.model import Decision

LONGEST = 100_000


def judge(command: str, context: Context | None = None) -> Verdict:
    """Judges one command, which may be a whole script. Raises TypeError for what is no text; nothing else."""
    if not isinstance(command, str):
        raise TypeError(f"a command is text, not {type(command).__name__}")
    problem = find_unreadable(command)
    if problem:
        effect = Effect(Kind.UNKNOWN, None, Decision.REVIEW, problem, Span(0, min(len(command), 1)))
        return Verdict(command, Decision.REVIEW, problem, (effect,), "partial")
    context = context or Context()
    shell = walk(command, context)
    effects = apply_patterns(shell.effects, shell.invocations, context)
    decision = strictest([effect.decision for effect in effects])
    decisive = [effect for effect in effects if effect.decision is decision]
    first = min(decisive, key=rank_effect, default=None)
    if first is None or decision is Decision.ALLOW:
        lifted = next((effect.reason for effect in effects if effect not in shell.effects), "reads only")
        reason = lifted if effects else "has no effect but its output"
        return Verdict(command, Decision.ALLOW, reason, effects, files=shell.find_tainted_files())
    more = len(decisive) - 1
    reason = first.reason if not more else f"{first.reason} (and {more} more)"
    coverage = "partial" if shell.partial else "full"
    alternative = first.alternative or ALTERNATIVES.get(first.rule)
    asks = decision is Decision.REVIEW and context.setting is not Setting.CHANGE
    pattern = pattern_to_save(decisive, shell.effects) if asks else None
    return Verdict(
        command, decision, reason, effects, coverage, alternative, pattern, shell.find_tainted_files()
    )


def rank_effect(effect: Effect) -> tuple[bool, int, bool, int]:
    """The sort key by which a verdict names its first effect.

    Floors come before patterns, then the worst kind, the most specific reason, and what is first in the command.
    """
    is_floor = effect.decision is Decision.DENY and bool(effect.rule)
    is_vague = effect.target == "" or effect.reason.endswith(PHRASES[effect.kind])
    return not is_floor, GRAVITY.index(effect.kind), is_vague, effect.span.start


def example_matches(pattern: Pattern, command: str) -> bool:
    """Does a pattern match one of the commands in a text?"""
    if find_unreadable(command):
        return False
    return any(fit_pattern(pattern, each) is not None for each in walk(command, Context()).invocations)


def find_unreadable(command: str) -> str | None:
    """Why a text cannot be judged at all, None if it can."""
    if not command.strip():
        return "empty: there is no command to judge"
    if "\0" in command:
        return "holds a NUL character, which no shell takes"
    try:
        command.encode("utf-8")
    except UnicodeEncodeError:
        return "holds bytes that are no UTF-8 text"
    if len(command) > LONGEST:
        return f"longer than {LONGEST:,} characters: it is not looked at in full"
    return None


def walk(text: str, context: Context) -> Shell:
    """The shell that has walked through a text. Running out of budget is an effect; what was found before stays."""
    files = {path: Stream(None, taints) for path, taints in context.files.items()}
    shell = Shell(Scope(context, folder=context.folder, files=files))
    try:
        shell.run_text(text)
        while shell.uncalled:
            shell.call(*shell.uncalled.popitem(), None, NOTHING)
    except (OutOfBudget, RecursionError) as error:
        shell.emit(
            Kind.UNKNOWN,
            None,
            str(error) if isinstance(error, OutOfBudget) else "too deeply nested",
            Span(0, 0),
        )
    return shell
