"""Patterns of the configuration over parsed commands: what they match, deny, review and allow."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from cli_guard.commands.effects.arguments import read_arguments
from cli_guard.commands.effects.places import is_below, resolve_path
from cli_guard.commands.expand.fields import Field
from cli_guard.commands.expand.parameters import GLOB
from cli_guard.commands.invocations import SYSTEM_PROGRAMS, Invocation
from cli_guard.commands.model import Context, Effect, Kind, Pattern, Setting
from cli_guard.commands.programs import table
from cli_guard.model import Decision

PIECE = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)|(\s+)""", re.DOTALL)
OPERATORS = re.compile(r"[;&|<>()$`]")
MOST_WORDS = 32
# A pattern that allows a command never lifts these: switching off the guard, showing a secret, taking rights.
NEVER_LIFTED = frozenset((Kind.GUARD, Kind.CREDENTIAL, Kind.PRIVILEGE))
# The kinds of option value that decide which code runs.
CODE = frozenset(("shell", "script", "command", "module", "folder", "env", "config", "config-env", Kind.EXEC))
VARIABLE = re.compile(r"[A-Za-z_]\w*[:+?!]?=")
WILDCARD = "\0"


@dataclass(frozen=True)
class Shape:
    """A parsed pattern: for each word the texts between its `*`. `open`: any number of words may follow."""

    words: tuple[tuple[str, ...], ...]
    open: bool


@cache
def shape_of(text: str) -> Shape:
    """Split a pattern into words as a shell does; a quoted `*` is a literal star. Raises ValueError."""
    words: list[list[str]] = []
    at, inside = 0, False
    while at < len(text):
        piece = PIECE.match(text, at)
        if piece is None:
            raise ValueError(f"the pattern {text!r} ends inside quotes or with a backslash")
        at = piece.end()
        single, double, escaped, bare, blank = piece.groups()
        if OPERATORS.search(bare or "") or re.search(r"(?<!\\)[$`]", double or ""):
            raise ValueError(f"the pattern {text!r} is more than the plain words of one command")
        if blank is None and not inside:
            words.append([""])
        inside = blank is None
        if bare is not None:
            first, *others = bare.split("*")
            words[-1][-1] += first
            words[-1] += others
        elif inside:
            unescaped = re.sub(r'\\(["\\$`])', r"\1", double) if double is not None else None
            words[-1][-1] += single if single is not None else unescaped or escaped or ""
    if not words or not any(words[0]) or "=" in "".join(words[0]):
        raise ValueError(f"the pattern {text!r} does not begin with the name of a program")
    if len(words) > MOST_WORDS:
        raise ValueError(f"the pattern {text[:40]!r}... has more than {MOST_WORDS} words")
    is_open = len(words[-1]) > 1 and not any(words[-1])
    return Shape(tuple(tuple(word) for word in (words[:-1] if is_open else words)), is_open)


def check_pattern(pattern: Pattern) -> None:
    """Raise ValueError for a pattern that matches nothing, or allows everything."""
    if len(shape_of(pattern.text).words[0]) > 1 and pattern.decision is Decision.ALLOW:
        raise ValueError(f"the pattern {pattern.text!r} allows programs that it does not name")


def matches(pieces: tuple[str, ...], text: str) -> bool:
    """Return whether a word matches, `*` being anything between two pieces."""
    if len(pieces) == 1:
        return text == pieces[0]
    first, *middle, last = pieces
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for piece in middle:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def covers(new: str, old: str) -> bool:
    """Return whether one pattern certainly matches all that another one does."""
    wide, narrow = shape_of(new), shape_of(old)
    texts = [WILDCARD.join(word) for word in narrow.words]
    if len(texts) < len(wide.words) or not (wide.open or (len(texts) == len(wide.words) and not narrow.open)):
        return False
    return all(matches(word, text) for word, text in zip(wide.words, texts, strict=False))


def fit_pattern(pattern: Pattern, invocation: Invocation) -> tuple[Field, ...] | None:
    """Return the words that a pattern names in a command, None if it does not match.

    Unknown words match a pattern that denies or reviews, never one that allows.
    """
    shape, name = shape_of(pattern.text), invocation.name
    has_path = any("/" in piece for piece in shape.words[0])
    if name and not matches(shape.words[0], name if has_path else name.rpartition("/")[2]):
        return None
    words, harmless = invocation.spelled
    if pattern.decision is Decision.ALLOW:
        elsewhere = "/" in name and not has_path and not SYSTEM_PROGRAMS.match(name)
        if elsewhere or not invocation.plain:
            return None
        words = words if harmless else invocation.fields
    found = next((each for each in (invocation.fields, words) if may_match(shape, each)), None)
    return found and found[: len(shape.words)]


def may_match(shape: Shape, words: Sequence[Field]) -> bool:
    """Return whether these may be the words of a pattern; the caller has matched a known program.

    At least one known word has to match.
    """
    first, end = words[0], len(shape.words)
    places = {(1, True)} if first.known else {(at, False) for at in reach(shape.words[:1], 0, first) if at}
    for word in words[1:]:
        if shape.open and (end, True) in places:
            return True
        places = {(to, fits or word.known) for at, fits in places for to in reach(shape.words, at, word)}
        if not places:
            return False
    return (end, True) in places


def reach(pattern: tuple[tuple[str, ...], ...], at: int, word: Field) -> Iterator[int]:
    """Yield the positions in a pattern that a word of a command, which may expand to several, can reach."""
    several, start = word.many or word.pattern, word.start
    if word.assumed:
        start = ""
    elif word.pattern:
        start = GLOB.split(start)[0]
    if several and not start:
        yield at
    for place in range(at, len(pattern)):
        pieces = pattern[place]
        begins = pieces[0].startswith(start) or (len(pieces) > 1 and start.startswith(pieces[0]))
        if word.known and not matches(pieces, start):
            return
        if not begins and not word.known and (place == at or word.pattern):
            return
        yield place + 1
        if not several:
            return


def apply_patterns(
    found: dict[Effect, list[Invocation | None]], invocations: Sequence[Invocation], context: Context
) -> tuple[Effect, ...]:
    """Apply the patterns to the effects of a script: deny before review before allow before the engine.

    `found` maps each effect to its commands. The effects of a reviewed change are never allowed.
    """
    if not context.patterns:
        return tuple(found)
    allowing = [each for each in context.patterns if each.decision is Decision.ALLOW]
    if context.setting is Setting.CHANGE:
        allowing = []
    own = [lift_effect(effect, callers, allowing, context) for effect, callers in found.items()]
    kinds = {caller: effect.kind for effect, callers in reversed(found.items()) for caller in callers}
    hits: dict[Effect, None] = {}
    for pattern in context.patterns:
        if pattern.decision is not Decision.ALLOW:
            met = [each for each in invocations if fit_pattern(pattern, each) is not None]
            hits.update(
                dict.fromkeys(effect_of_pattern(pattern, each, kinds.get(each, Kind.READ)) for each in met)
            )
    asked = [effect for effect in hits if effect.decision is Decision.REVIEW]
    return (*asked, *own, *(effect for effect in hits if effect.decision is Decision.DENY))


def effect_of_pattern(pattern: Pattern, invocation: Invocation, kind: Kind) -> Effect:
    """Build the effect of a pattern that reviews or denies: of the kind that the command has."""
    reason = (
        f"the pattern {pattern.text!r} {'denies' if pattern.decision is Decision.DENY else 'asks for'} it"
    )
    return Effect(kind, pattern.text, pattern.decision, with_reason(reason, pattern), invocation.span)


def lift_effect(
    effect: Effect, callers: Sequence[Invocation | None], allowing: Sequence[Pattern], context: Context
) -> Effect:
    """Allow an effect if a pattern covers every command that it comes from."""
    if effect.decision is not Decision.REVIEW or effect.kind in NEVER_LIFTED:
        return effect
    patterns = [allowed_by(effect, caller, allowing, context) if caller else None for caller in callers]
    if not patterns or not all(patterns) or patterns[0] is None:
        return effect
    reason = with_reason(f"{effect.reason}, which the pattern {patterns[0].text!r} allows", patterns[0])
    return replace(effect, decision=Decision.ALLOW, reason=reason)


def allowed_by(
    effect: Effect, caller: Invocation, allowing: Sequence[Pattern], context: Context
) -> Pattern | None:
    """Return the pattern that allows a command, or its words within the runner's (`uv run pytest *`)."""
    outer: Invocation | None = caller
    project = context.root or context.folder
    if (
        effect.kind is Kind.EXEC
        and project
        and not (caller.folder and is_below(caller.folder, project, context))
    ):
        return None
    while outer is not None and caller.plain:
        for pattern in allowing:
            words = fit_pattern(pattern, outer)
            if words is None or names_code(effect, outer, words) or adds_code(pattern, outer, context):
                continue
            if outer is caller or caller.fields[0].span in {word.span for word in words[1:]}:
                return pattern
        outer = outer.parent
    return None


def names_code(effect: Effect, invocation: Invocation, words: Sequence[Field]) -> bool:
    """Return whether only words beyond the pattern name code to run (`git fetch --upload-pack=CODE`)."""
    target = effect.target or ""
    if effect.kind is not Kind.EXEC or target.partition(" ")[0] == invocation.name.rpartition("/")[2]:
        return False
    last = target.rpartition("/")[2]
    more = [word.start for word in invocation.fields if all(word is not each for each in words)]
    return bool(more) and (target.startswith("-") or any(last in text for text in more))


def adds_code(pattern: Pattern, invocation: Invocation, context: Context) -> bool:
    """Return whether a command adds code, a folder or a variable to the words of a pattern (`go test -exec X`).

    Code is also what lies outside the project (`pytest ../other`).
    """
    shape, spec = shape_of(pattern.text), table(invocation.name.rpartition("/")[2])
    named = {word[0] for word in shape.words if len(word) == 1}
    if spec is None or (not shape.open and len(named) == len(set(shape.words))):
        return False
    named |= {word.partition("=")[0] for word in named}
    given = read_arguments(spec, list(invocation.fields[1:]))
    options = [option for option in given.present if option.takes in CODE or option.effect is Kind.EXEC]
    given_to = [*given.operands, *(value for option, value in given.values if option.takes != Kind.WRITE)]
    outside = [each.start for each in given_to if lies_outside(each.start, invocation.folder, context)]
    added = [each.start for each in given.operands if VARIABLE.match(each.start)]
    return any(not named.intersection(each.names) for each in options) or not named.issuperset(
        added + outside
    )


def lies_outside(word: str, folder: str | None, context: Context) -> bool:
    """Return whether a word is a path that leaves the project."""
    if not word.startswith(("/", "~")) and ".." not in word.split("/"):
        return False
    project = context.root or context.folder
    return not project or not is_below(resolve_path(word, folder, context), project, context)


def with_reason(text: str, pattern: Pattern) -> str:
    """Append the reason of a pattern to a sentence, on one line."""
    return f"{text}: {' '.join(pattern.reason.split())}" if pattern.reason else text
