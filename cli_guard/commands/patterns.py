"""Patterns of the configuration over parsed commands: what they match, deny, review and allow."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from cli_guard.commands.expand.fields import Field
from cli_guard.commands.expand.parameters import GLOB
from cli_guard.commands.invocations import SYSTEM_PROGRAMS, ProgramInvocation
from cli_guard.commands.model import Pattern
from cli_guard.lazy import frozen, regex
from cli_guard.model import Decision

PIECE = regex(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)|(\s+)""", re.DOTALL)
OPERATORS = regex(r"[;&|<>()$`]")
MOST_WORDS = 32
# Where the programs of a project are, from one of its folders.
PROJECT_PROGRAM = regex(
    r"(?:\./)?(?:\.?venv/bin|node_modules/\.bin|vendor/bin|bin)/[^/]+\Z"
)
WILDCARD = "\0"


@frozen
class Shape:
    """A parsed pattern: for each word the texts between its `*`. `open`: any number of words may follow."""

    words: tuple[tuple[str, ...], ...]
    open: bool


@cache
def shape_of(text: str) -> Shape:
    """Split a pattern into words as a shell does; a quoted `*` is a literal star. Raises ValueError."""
    words: list[list[str]] = []
    at = 0
    inside = False
    while at < len(text):
        piece = PIECE.match(text, at)
        if piece is None:
            raise ValueError(f"the pattern {text!r} ends inside quotes or with a backslash")
        at = piece.end()
        single, double, escaped, bare, blank = piece.groups()
        if OPERATORS.search(bare or "") or re.search(r"(?<!\\)[$`]", double or ""):
            raise ValueError(
                f"the pattern {text!r} is more than the plain words of one command"
            )
        if blank is None and not inside:
            words.append([""])
        inside = blank is None
        if bare is not None:
            first, *others = bare.split("*")
            words[-1][-1] += first
            words[-1] += others
        elif inside:
            unescaped = (
                re.sub(r'\\(["\\$`])', r"\1", double) if double is not None else None
            )
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
        raise ValueError(
            f"the pattern {pattern.text!r} allows programs that it does not name"
        )


def matches(pieces: tuple[str, ...], text: str) -> bool:
    """Return whether a word matches, `*` being anything between two pieces."""
    first, *others = map(re.escape, pieces)
    if not others:
        return text == pieces[0]
    # Atomic groups: a piece is looked for once, so a pattern with many stars stays fast.
    middle = "".join(f"(?>.*?{piece})" for piece in others[:-1])
    return re.fullmatch(f"{first}{middle}.*{others[-1]}", text, re.DOTALL) is not None


def covers(new: str, old: str) -> bool:
    """Return whether one pattern certainly matches all that another one does."""
    wide = shape_of(new)
    narrow = shape_of(old)
    texts = [WILDCARD.join(word) for word in narrow.words]
    if len(texts) < len(wide.words) or not (
        wide.open or (len(texts) == len(wide.words) and not narrow.open)
    ):
        return False
    return all(matches(word, text) for word, text in zip(wide.words, texts, strict=False))


def fit_pattern(
    pattern: Pattern, invocation: ProgramInvocation
) -> tuple[Field, ...] | None:
    """Return the words that a pattern names in a command, None if it does not match.

    Unknown words match a pattern that denies or reviews, never one that allows.
    """
    shape = shape_of(pattern.text)
    name = invocation.name
    has_path = any("/" in piece for piece in shape.words[0])
    if name and not matches(shape.words[0], name if has_path else invocation.program):
        return None
    words, harmless = invocation.spelled
    if pattern.decision is Decision.ALLOW:
        known = SYSTEM_PROGRAMS.match(name) or PROJECT_PROGRAM.match(name)
        elsewhere = "/" in name and not has_path and not known
        if elsewhere or not invocation.plain:
            return None
        words = words if harmless else invocation.fields
    found = next(
        (each for each in (invocation.fields, words) if may_match(shape, each)), None
    )
    return found and found[: len(shape.words)]


def may_match(shape: Shape, words: Sequence[Field]) -> bool:
    """Return whether these may be the words of a pattern; the caller has matched a known program.

    At least one known word has to match.
    """
    first = words[0]
    end = len(shape.words)
    places = (
        {(1, True)}
        if first.known
        else {(at, False) for at in reach(shape.words[:1], 0, first) if at}
    )
    for word in words[1:]:
        if shape.open and (end, True) in places:
            return True
        places = {
            (to, fits or word.known)
            for at, fits in places
            for to in reach(shape.words, at, word)
        }
        if not places:
            return False
    return (end, True) in places


def reach(pattern: tuple[tuple[str, ...], ...], at: int, word: Field) -> Iterator[int]:
    """Yield the positions in a pattern that a word of a command, which may expand to several, can reach."""
    several = word.many or word.pattern
    start = word.start
    if word.assumed:
        start = ""
    elif word.pattern:
        start = GLOB.split(start)[0]
    if several and not start:
        yield at
    for place in range(at, len(pattern)):
        pieces = pattern[place]
        begins = pieces[0].startswith(start) or (
            len(pieces) > 1 and start.startswith(pieces[0])
        )
        if word.known and not matches(pieces, start):
            return
        if not begins and not word.known and (place == at or word.pattern):
            return
        yield place + 1
        if not several:
            return
