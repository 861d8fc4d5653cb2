"""The judge: a command and its context in, a verdict out."""

from cli_guard.commands.effects.call import DELETED, PHRASES
from cli_guard.commands.floors import ALTERNATIVES
from cli_guard.commands.lifting import apply_patterns
from cli_guard.commands.model import (
    Context,
    Effect,
    EffectKind,
    Pattern,
    Profile,
    Setting,
    Span,
    Verdict,
    strictest,
)
from cli_guard.commands.patterns import fit_pattern
from cli_guard.commands.profiles import Callers, apply_profile
from cli_guard.commands.saving import pattern_to_save
from cli_guard.commands.scope import NOTHING, OutOfBudget, ShellScope, Stream
from cli_guard.commands.shell import Shell
from cli_guard.commands.tasks import judge_tasks
from cli_guard.commands.walk import new_shell
from cli_guard.model import Decision

# Characters: a person or an agent waits for the verdict; a script in a change may be long.
LONGEST = {Setting.AGENT: 40_000, Setting.PERSON: 40_000, Setting.CHANGE: 100_000}

MOST_REASONS = 3
LISTING = "cli-guard check-command --format json"


def judge(command: str, context: Context | None = None) -> Verdict:
    """Judge one command, which may be a whole script. Raises TypeError if `command` is not text."""
    if not isinstance(command, str):
        raise TypeError(f"a command is text, not {type(command).__name__}")
    context = context or Context()
    problem = find_unreadable(command)
    if problem:
        effect = Effect(
            EffectKind.UNKNOWN,
            None,
            Decision.REVIEW,
            problem,
            Span(0, min(len(command), 1)),
        )
        return Verdict(command, Decision.REVIEW, problem, (effect,), "partial")
    shell = walk(command, context)
    written: dict[Effect, Callers] = {}
    unread: set[str] = set()
    if context.setting is not Setting.CHANGE and shell.written:
        from cli_guard.commands.written import judge_written

        written, unread = judge_written(shell, context)
    whole = frozenset(shell.written) - unread - shell.extended
    found = apply_profile(
        command, shell.effects, shell.invocations, context, frozenset(unread), whole
    )
    found |= written
    if context.setting is not Setting.CHANGE and context.profile is not Profile.FLOORS:
        found |= judge_tasks(shell, context)
    effects = apply_patterns(command, found, shell.invocations, context)
    decision = strictest([effect.decision for effect in effects])
    decisive = [effect for effect in effects if effect.decision is decision]
    first = min(decisive, key=rank_effect, default=None)
    if first is None or decision is Decision.ALLOW:
        lifted = min(
            (each for each in effects if each not in shell.effects),
            key=rank_effect,
            default=None,
        )
        plain = "reads only" if effects else "has no effect but its output"
        reason = lifted.reason if lifted else plain
        return Verdict(
            command, Decision.ALLOW, reason, effects, files=shell.find_tainted_files()
        )
    coverage = "partial" if shell.partial else "full"
    alternative = first.alternative or ALTERNATIVES.get(first.rule)
    asks = decision is Decision.REVIEW and context.setting is not Setting.CHANGE
    pattern = pattern_to_save(decisive, found) if asks else None
    return Verdict(
        command,
        decision,
        list_reasons(decisive),
        effects,
        coverage,
        alternative,
        pattern,
        shell.find_tainted_files(),
    )


def list_reasons(decisive: list[Effect]) -> str:
    """Join the reasons of a verdict, the worst first, each once and at most MOST_REASONS."""
    ranked = sorted(decisive, key=rank_effect)
    reasons = list(dict.fromkeys(each.reason for each in ranked))
    shown = reasons[:MOST_REASONS]
    if more := len(reasons) - len(shown):
        shown.append(f"and {more} more ({LISTING} lists all)")
    return "; ".join(shown)


def rank_effect(effect: Effect) -> tuple[bool, int, bool, int]:
    """Return the sort key that puts the effect to name first.

    Floors come before patterns, then the worst kind, the most specific reason, and the position in the command.
    """
    is_floor = effect.decision is Decision.DENY and bool(effect.rule)
    is_vague = effect.target == "" or effect.reason.endswith(
        (PHRASES[effect.kind], DELETED)
    )
    return not is_floor, list(EffectKind).index(effect.kind), is_vague, effect.span.start


def example_matches(pattern: Pattern, command: str) -> bool:
    if find_unreadable(command):
        return False
    return any(
        fit_pattern(pattern, each) is not None
        for each in walk(command, Context()).invocations
    )


def find_unreadable(command: str) -> str | None:
    """Return why a text cannot be judged at all, None if it can."""
    if not command.strip():
        return "empty: there is no command to judge"
    if "\0" in command:
        return "holds a NUL character, which no shell accepts"
    try:
        command.encode("utf-8")
    except UnicodeEncodeError:
        return "holds bytes that are not UTF-8"
    return None


def walk(text: str, context: Context) -> Shell:
    """Walk through a text. What exceeds the bounds is an effect; the effects found before are kept."""
    files = {path: Stream(None, taints) for path, taints in context.files.items()}
    shell = new_shell(ShellScope(context, folder=context.folder, files=files))
    most = LONGEST[context.setting]
    if len(text) > most:
        shell.emit(
            EffectKind.UNKNOWN,
            None,
            f"longer than {most:,} characters: it is not judged in full",
            Span(0, 1),
        )
        # The reviewer of commands judges a long script in parts of its own.
        text = "" if context.setting is Setting.CHANGE else text[:most]
    try:
        shell.run_text(text)
        while shell.uncalled:
            shell.call(*shell.uncalled.popitem(), None, NOTHING)
    except (OutOfBudget, RecursionError) as error:
        reason = str(error) if isinstance(error, OutOfBudget) else "too deeply nested"
        shell.emit(EffectKind.UNKNOWN, None, reason, Span(0, 0))
    return shell
