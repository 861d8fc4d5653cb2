"""The judge: a command and its context in, a verdict out."""

import re
from collections.abc import Iterator

from cli_guard.commands.effects.parsed_call import PHRASES
from cli_guard.commands.floors import ALTERNATIVES
from cli_guard.commands.lifting import apply_patterns
from cli_guard.commands.model import (
    GRAVITY,
    Context,
    Effect,
    Kind,
    Pattern,
    Profile,
    Setting,
    Span,
    Verdict,
    strictest,
)
from cli_guard.commands.patterns import fit_pattern
from cli_guard.commands.profiles import apply_profile
from cli_guard.commands.saving import pattern_to_save
from cli_guard.commands.scope import CLOCK, NOTHING, Clock, OutOfBudget, OutOfTime, Scope, Stream
from cli_guard.commands.walk import Shell
from cli_guard.model import Decision

# Files whose known text is judged when they are run.
SHELL_TEXT = re.compile(r"(?:\.(?:sh|bash)|/(?!(?:GNU)?[Mm]akefile|[Jj]ustfile|Rakefile)[^./]+)\Z")
# The grammar takes quadratic time for a pipeline of many stages (1 s for 5,000), and for many here-documents.
MOST_MARKS = {"|": 1_000, "<<": 500}
# Characters, and seconds of processor time for a verdict: a person or an agent waits; a script in a change may be long.
LONGEST = {Setting.AGENT: 40_000, Setting.PERSON: 40_000, Setting.CHANGE: 100_000}
SECONDS = {Setting.AGENT: 0.12, Setting.PERSON: 0.12, Setting.CHANGE: 5.0}
# A text of at most so many characters and nodes is judged in full, however slow the machine is.
SHORT = 5_200
UNTIMED_NODES = 10_000
# When the time is up, the first characters (so many) are judged on their own.
BEGINNING = 2_000
# The code of a written file in which commands are looked for, by its ending, and how many of them are judged.
LANGUAGES = {"py": "python", "js": "node", "mjs": "node", "cjs": "node"}
MOST_HIDDEN = 5
SECONDS_FOR_BEGINNING = 0.04


def judge(command: str, context: Context | None = None) -> Verdict:
    """Judge one command, which may be a whole script. Raises TypeError if `command` is not text."""
    if not isinstance(command, str):
        raise TypeError(f"a command is text, not {type(command).__name__}")
    context = context or Context()
    problem = find_unreadable(command)
    if problem:
        effect = Effect(Kind.UNKNOWN, None, Decision.REVIEW, problem, Span(0, min(len(command), 1)))
        return Verdict(command, Decision.REVIEW, problem, (effect,), "partial")
    shell = walk(command, context)
    unread = frozenset(
        path
        for path, stream in shell.scope.files.items()
        if stream.text is None or not SHELL_TEXT.search(path)
    )
    if context.profile is Profile.WORKSPACE:
        shell.effects |= {effect: [None] for effect in find_hidden_commands(shell, context)}
    found = apply_profile(command, shell.effects, shell.invocations, context, unread)
    effects = apply_patterns(command, found, shell.invocations, context)
    decision = strictest([effect.decision for effect in effects])
    decisive = [effect for effect in effects if effect.decision is decision]
    first = min(decisive, key=rank_effect, default=None)
    if first is None or decision is Decision.ALLOW:
        lifted = min((each for each in effects if each not in shell.effects), key=rank_effect, default=None)
        plain = "reads only" if effects else "has no effect but its output"
        reason = lifted.reason if lifted else plain
        return Verdict(command, Decision.ALLOW, reason, effects, files=shell.find_tainted_files())
    more = len(decisive) - 1
    reason = first.reason if not more else f"{first.reason} (and {more} more)"
    coverage = "partial" if shell.partial else "full"
    alternative = first.alternative or ALTERNATIVES.get(first.rule)
    asks = decision is Decision.REVIEW and context.setting is not Setting.CHANGE
    pattern = pattern_to_save(decisive, found) if asks else None
    return Verdict(
        command, decision, reason, effects, coverage, alternative, pattern, shell.find_tainted_files()
    )


def find_hidden_commands(shell: Shell, context: Context) -> Iterator[Effect]:
    """Yield an effect for each file that the script writes with a shell command in it that is always denied."""
    from cli_guard.commands.inline import acts

    for path, stream in shell.scope.files.items():
        language = LANGUAGES.get(path.rpartition(".")[2])
        if language is None or not stream.text or len(stream.text) > SHORT:
            continue
        texts = [act.shell or act.suspect for act in acts(language, stream.text)]
        for text in [text for text in texts if text][:MOST_HIDDEN]:
            inner, _ = walk_in_time(text, context, SECONDS_FOR_BEGINNING)
            denied = next((each for each in inner.effects if each.decision is Decision.DENY), None)
            if denied:
                reason = f"writes code that {denied.reason}"
                yield Effect(Kind.EXEC, path, Decision.REVIEW, reason, Span(0, 0))


def rank_effect(effect: Effect) -> tuple[bool, int, bool, int]:
    """Return the sort key that puts the effect to name first.

    Floors come before patterns, then the worst kind, the most specific reason, and the position in the command.
    """
    is_floor = effect.decision is Decision.DENY and bool(effect.rule)
    is_vague = effect.target == "" or effect.reason.endswith(PHRASES[effect.kind])
    return not is_floor, GRAVITY.index(effect.kind), is_vague, effect.span.start


def example_matches(pattern: Pattern, command: str) -> bool:
    if find_unreadable(command):
        return False
    return any(fit_pattern(pattern, each) is not None for each in walk(command, Context()).invocations)


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


def cut_to_bounds(command: str, setting: Setting) -> tuple[str, str | None]:
    """Return the beginning of a text, up to the bounds, and why the rest is not judged (None if all of it is)."""
    text, problem = command, None
    if len(text) > LONGEST[setting]:
        text = text[: LONGEST[setting]]
        problem = f"longer than {LONGEST[setting]:,} characters: it is not judged in full"
    for mark, most in MOST_MARKS.items():
        pieces = text.split(mark, most + 1)
        if len(pieces) > most + 1:
            text = mark.join(pieces[: most + 1])
            problem = f"has more than {most:,} `{mark}`: it is not judged in full"
    return text, problem


def walk(text: str, context: Context) -> Shell:
    """Walk through a text. Running out of budget or time is an effect; the effects found before are kept."""
    part, problem = cut_to_bounds(text, context.setting)
    if problem and context.setting is Setting.CHANGE:
        # The reviewer of commands judges a long script in parts of its own.
        part = ""
    shell, in_time = walk_in_time(part, context, SECONDS[context.setting], problem)
    if not in_time and len(part) > BEGINNING:
        # Parsing may have used up the time: judge at least the beginning.
        beginning = part[:BEGINNING]
        line_end = beginning.rfind("\n") + 1 or len(beginning)
        first, _ = walk_in_time(beginning[:line_end], context, SECONDS_FOR_BEGINNING)
        shell.effects = {**shell.effects, **first.effects}
    return shell


def walk_in_time(
    text: str, context: Context, seconds: float, problem: str | None = None
) -> tuple[Shell, bool]:
    """Walk through a text for at most `seconds`; return whether it was finished. Emit `problem` as an effect."""
    files = {path: Stream(None, taints) for path, taints in context.files.items()}
    shell = Shell(Scope(context, folder=context.folder, files=files))
    if problem:
        shell.emit(Kind.UNKNOWN, None, problem, Span(0, 1))
    outer = CLOCK.set(Clock(seconds, UNTIMED_NODES if len(text) <= SHORT else UNTIMED_NODES // 20))
    try:
        shell.run_text(text)
        while shell.uncalled:
            shell.call(*shell.uncalled.popitem(), None, NOTHING)
    except (OutOfBudget, RecursionError) as error:
        reason = str(error) if isinstance(error, OutOfBudget) else "too deeply nested"
        shell.emit(Kind.UNKNOWN, None, reason, Span(0, 0))
        return shell, not isinstance(error, OutOfTime)
    finally:
        CLOCK.reset(outer)
    return shell, True
