"""Compare two regular expressions: does one fit all that the other fits, and more?

Whether one that changed holds back less depends on what it is used for: one that a value must fit may not become wider;
one that refuses values, or takes characters out of them, may not become narrower.

A pattern is parsed into branches of pieces, each an atom with a least and a greatest number of times. One holds
another if each branch of it stands in a branch of the one: piece by piece in order, where a piece may be wider, an
anchor may be missing and an optional piece may be added. Nothing is ever matched, and the sizes are bounded.
"""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from cli_guard.code.changes.comparisons import last_words
from cli_guard.code.changes.facts import CodeFact, FactKind
from cli_guard.code.changes.values import key_words, read_strength_words
from cli_guard.lazy import dataclass

LITERAL = re.compile(
    r"(?P<prefix>@|[a-zA-Z]{0,2})(?P<quote>'{3}|\"{3}|['\"`])(?P<inside>.*)(?P=quote)|(?P<slashed>/.+/[a-z]{0,8})"
    r"|%r(?:\{(?P<braced>.*)\}|!(?P<banged>.*)!)[a-z]{0,6}",
    re.DOTALL,
)
IN_TEXT = re.compile(
    r"[rRbBuU@]{0,2}\"(?:[^\"\\\n]|\\.)*\""
    r"|[rRbBuU]{0,2}'(?:[^'\\\n]|\\.)*'"
    r"|`[^`]*`"
    # JavaScript, Ruby
    r"|(?<![\w)\]])/(?![/* ])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]{0,8}"
    r"|%r\{[^{}\n]*\}"
)
DELIMITED = re.compile(
    r"(?P<sign>[/~#!@%])(?P<inside>.*)(?P=sign)(?P<flags>[a-zA-Z]{0,8})", re.DOTALL
)
COUNTS = re.compile(r"\{(\d{1,6})(,?)(\d{0,6})\}")
OPENING = re.compile(r"\(\?(?:P?<[A-Za-z_]\w*>|[a-zA-Z^-]*:|[a-zA-Z]+\)|[=!>]|<[=!])|\(")
MOST_CHARS = 300
MOST_DEPTH = 8
MOST_STEPS = 20_000
ENDLESS = 1 << 30
OTHER = 128
EVERY = frozenset(range(OTHER + 1))
DIGITS = frozenset(map(ord, "0123456789"))
WORDS = (
    DIGITS | frozenset(code for code in range(OTHER) if chr(code).isalpha()) | {ord("_")}
)
BLANKS = frozenset(map(ord, " \t\n\r\f\v"))
CLASSES = {
    "d": DIGITS,
    "w": WORDS,
    "s": BLANKS,
    "D": EVERY - DIGITS,
    "W": EVERY - WORDS,
    "S": EVERY - BLANKS,
    "h": frozenset(map(ord, " \t")),
}
CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0", "e": "\x1b"}
ANCHORS = frozenset(("^", "$", "\\A", "\\z", "\\Z", "\\b", "\\G"))
FIRST = frozenset(("^", "\\A"))
LAST = frozenset(("$", "\\z", "\\Z"))
# Signs that only a pattern has.
PATTERN_SIGN = re.compile(r"[\^$\[\]()|?*+]|\\[a-zA-Z.]")
Change = tuple["ParsedPattern", "ParsedPattern"]
# `^4.10.4` is a range of versions.
MAY_ANCHOR = re.compile(r"[$]|\^(?![0-9])|\\[AzZ]")
NEGATIONS = ("!", "not ", "not(")


@dataclass(frozen=True, slots=True)
class Piece:
    """An atom with how often it may stand: a set of characters, a group of branches, an anchor.

    An `anchor` that begins with `=` is a piece that is not read: it is equal only to the same one.
    """

    chars: frozenset[int] = frozenset()
    anchor: str = ""
    group: "tuple[Branch, ...]" = ()
    low: int = 1
    high: int = 1


Branch = tuple[Piece, ...]


class PatternError(Exception):
    """A text is no pattern that is read here, or is too big."""


@dataclass(frozen=True, slots=True)
class ParsedPattern:
    """The branches of a regular expression, and its flags."""

    branches: tuple[Branch, ...]
    flags: frozenset[str] = frozenset()

    @property
    def anchors(self) -> int:
        """Return how many ends of branches are anchored."""
        ends = [(branch[0], branch[-1]) for branch in self.branches if branch]
        firsts = sum(first.anchor in FIRST for first, _ in ends)
        return firsts + sum(last.anchor in LAST for _, last in ends)

    @property
    def without_anchors(self) -> tuple[Branch, ...]:
        """Return its branches, each without the anchors at its ends."""
        return tuple(
            tuple(piece for piece in branch if piece.anchor not in FIRST | LAST)
            for branch in self.branches
        )

    @property
    def is_whole(self) -> bool:
        """Return whether it is anchored at both ends, as one is that a whole value must fit."""
        return all(
            branch and branch[0].anchor in FIRST and branch[-1].anchor in LAST
            for branch in self.branches
        )


def is_wider(new: ParsedPattern, old: ParsedPattern) -> bool:
    """Return whether the new pattern fits all that the old one does, and more."""
    count = Steps()
    if new.branches == old.branches:
        return "i" in new.flags - old.flags
    return contains(new.branches, old.branches, count) and not contains(
        old.branches, new.branches, count
    )


@dataclass(slots=True)
class Steps:
    """Counts the comparisons of pieces; over the bound nothing holds anything."""

    left: int = MOST_STEPS

    def take(self) -> bool:
        self.left -= 1
        return self.left > 0


def contains(one: tuple[Branch, ...], other: tuple[Branch, ...], steps: Steps) -> bool:
    """Return whether each branch of the other stands in a branch of the one."""
    return all(
        any(branch_contains(wide, branch, steps) for wide in one) for branch in other
    )


def branch_contains(wide: Branch, narrow: Branch, steps: Steps) -> bool:
    """Return whether the pieces of one branch stand, in order, in those of a wider one."""
    reached = {0}
    for at in range(len(wide) + 1):
        # `reached`: how many pieces of the narrow branch may be used up before the piece `at` of the wide one.
        for used in range(len(narrow)):
            if used in reached and narrow[used].anchor in ANCHORS:
                reached.add(used + 1)
        if at == len(wide):
            break
        piece = wide[at]
        step = set(reached) if piece.low == 0 else set()
        for used in reached:
            if used < len(narrow) and piece_contains(piece, narrow[used], steps):
                step.add(used + 1)
        reached = step
    return len(narrow) in reached


def piece_contains(wide: Piece, narrow: Piece, steps: Steps) -> bool:
    if not steps.take() or wide.low > narrow.low or wide.high < narrow.high:
        return False
    if wide.anchor or narrow.anchor:
        return wide.anchor == narrow.anchor
    if wide.group or narrow.group:
        return contains(
            wide.group or ((Piece(wide.chars),),),
            narrow.group or ((Piece(narrow.chars),),),
            steps,
        )
    return narrow.chars <= wide.chars


@lru_cache(maxsize=2_000)
def pattern_texts(text: str) -> tuple[tuple[str, ...], str]:
    """Return the literals in a text that look like patterns, and the text with a gap in place of each."""
    found = []
    rest = text
    for match in IN_TEXT.finditer(text):
        if PATTERN_SIGN.search(match[0]):
            found.append(match[0])
            rest = rest.replace(match[0], "\0", 1)
    return tuple(found), rest


@lru_cache(maxsize=2_000)
def read_pattern(literal: str) -> ParsedPattern | None:
    """Return the pattern that a literal of any language holds, None for one that is not read here."""
    match = LITERAL.fullmatch(literal.strip())
    if match is None or len(literal) >= MOST_CHARS:
        return None
    inside = match["inside"] or match["slashed"] or match["braced"] or match["banged"] or ""
    if match["quote"] and "r" not in match["prefix"].lower() and match["prefix"] != "@":
        inside = inside.replace("\\\\", "\\")
    flags = ""
    if delimited := DELIMITED.fullmatch(inside):
        inside = delimited["inside"]
        flags = delimited["flags"]
    try:
        return ParsedPattern(PatternReader(inside).read(), frozenset(flags))
    except PatternError:
        return None


@dataclass(slots=True)
class PatternReader:
    """Reads a pattern from left to right."""

    text: str
    at: int = 0
    depth: int = 0

    def read(self) -> tuple[Branch, ...]:
        """Return the branches of the whole text."""
        branches = self._branches()
        if self.at < len(self.text):
            raise PatternError
        return branches

    def _branches(self) -> tuple[Branch, ...]:
        found = [tuple(self._pieces())]
        while self.text[self.at : self.at + 1] == "|":
            self.at += 1
            found.append(tuple(self._pieces()))
        return tuple(found)

    def _pieces(self) -> Iterator[Piece]:
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            piece = self._atom()
            low, high = self._times()
            yield Piece(piece.chars, piece.anchor, piece.group, low, high)

    def _atom(self) -> Piece:
        char = self.text[self.at]
        if char == "(":
            return self._group()
        if char == "[":
            return Piece(self._class())
        self.at += 1
        if char in "^$":
            return Piece(anchor=char)
        if char == ".":
            return Piece(EVERY - {ord("\n")})
        if char == "\\":
            return self._escaped()
        if char in "*+?":
            raise PatternError
        return Piece(chars_of(char))

    def _escaped(self) -> Piece:
        char = self.text[self.at : self.at + 1]
        if not char:
            raise PatternError
        self.at += 1
        if f"\\{char}" in ANCHORS:
            return Piece(anchor=f"\\{char}")
        if char in CLASSES:
            return Piece(CLASSES[char])
        if char.isalnum() and char not in CONTROLS:
            # `\\x41`, `\\p{L}`, `\\1`: equal only to the same.
            match = re.compile(r"\{[^}]{0,20}\}|[0-9a-fA-F]{0,4}").match(self.text, self.at)
            rest = match[0] if match else ""
            self.at += len(rest)
            return Piece(anchor=f"={char}{rest}")
        return Piece(chars_of(CONTROLS.get(char, char)))

    def _group(self) -> Piece:
        match = OPENING.match(self.text, self.at)
        self.depth += 1
        if match is None or self.depth > MOST_DEPTH:
            raise PatternError
        self.at = match.end()
        if match[0].endswith(")"):
            self.depth -= 1
            return Piece(anchor=f"={match[0]}")
        start = self.at
        branches = self._branches()
        if self.text[self.at : self.at + 1] != ")":
            raise PatternError
        inside = self.text[start : self.at]
        self.at += 1
        self.depth -= 1
        if match[0][-1] in "=!>":
            return Piece(anchor=f"={match[0]}{inside}")
        return Piece(group=branches)

    def _class(self) -> frozenset[int]:
        self.at += 1
        is_negated = self.text[self.at : self.at + 1] == "^"
        self.at += is_negated
        found: set[int] = set()
        last: int | None = None
        first = self.at
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == "]" and self.at - 1 > first:
                return EVERY - found if is_negated else frozenset(found)
            chars = chars_of(char)
            if char == "\\":
                chars = self._escaped().chars
            if char == "[" or not chars:
                raise PatternError  # `[[:alpha:]]`, `\\p{L}`
            is_range = (
                char == "-" and last is not None and self.text[self.at : self.at + 1] != "]"
            )
            if is_range and last is not None:
                found.update(range(last, min(self._end_of_range(), OTHER) + 1))
                last = None
                continue
            found |= chars
            last = min(chars) if len(chars) == 1 else None
        raise PatternError

    def _end_of_range(self) -> int:
        char = self.text[self.at : self.at + 1]
        self.at += 1
        chars = self._escaped().chars if char == "\\" else chars_of(char or "\0")
        if len(chars) != 1:
            raise PatternError
        return min(chars)

    def _times(self) -> tuple[int, int]:
        """Return how often the last atom may stand; whether it is greedy decides nothing about what fits."""
        char = self.text[self.at : self.at + 1]
        match = COUNTS.match(self.text, self.at)
        if match:
            low = int(match[1])
            high = int(match[3] or ENDLESS) if match[2] else low
            self.at = match.end()
        elif char in ("*", "+", "?"):
            low = 1 if char == "+" else 0
            high = 1 if char == "?" else ENDLESS
            self.at += 1
        else:
            return 1, 1
        if self.text[self.at : self.at + 1] in ("?", "+"):
            self.at += 1
        return low, high


def chars_of(char: str) -> frozenset[int]:
    return frozenset((min(ord(char), OTHER),))


def changed_pattern(old: str, new: str) -> Change | None:
    """Return the one pattern in which two texts differ, before and after; None if they differ in anything else."""
    was, around = pattern_texts(old)
    now, still = pattern_texts(new)
    if around != still or len(was) != len(now):
        return None
    changed = [(one, other) for one, other in zip(was, now, strict=True) if one != other]
    if len(changed) != 1:
        return None
    before = read_pattern(changed[0][0])
    after = read_pattern(changed[0][1])
    return (before, after) if before and after else None


def looser_pattern(old: CodeFact, new: CodeFact, operands: Collection[str]) -> str:
    """Return why the pattern in a fact holds back less, "" if it does not or nobody can say.

    `operands`: what the unit asked before. Of a pattern in one of them, the condition says what it is used for.
    """
    if old.kind is FactKind.TEXT:
        if any(old.name in operand for operand in operands):
            return ""
        # Most texts are no patterns, and reading them as such takes long.
        if MAY_ANCHOR.search(old.name) is None:
            return ""
        return lost_anchor(read_pattern(old.name), read_pattern(new.name))
    change = changed_pattern(old.text, new.text)
    if change is None:
        return ""
    was, now = change
    known = read_strength_words()
    if old.is_call:
        is_first = bool(pattern_texts(old.detail.partition(",")[0])[0])
        is_removing = is_first and last_words(old.name) & known["removes"]
        return "less is taken out than before" if is_removing and is_wider(was, now) else ""
    if old.is_option and key_words(old.name) & known["refused"]:
        return "the pattern of what is refused fits less" if is_wider(was, now) else ""
    if was.is_whole and is_wider(now, was):
        return "the pattern that a whole value must fit fits more"
    return ""


def lost_anchor(was: ParsedPattern | None, now: ParsedPattern | None) -> str:
    if was is None or now is None or was.without_anchors != now.without_anchors:
        return ""
    if now.anchors >= was.anchors or not is_wider(now, was):
        return ""
    return "the pattern is no longer anchored at each end as it was"


def looser_pattern_operand(old: str, new: str, *, refuses: bool) -> str:
    """Return why an operand of a condition holds back less by its pattern, "" if it does not."""
    change = changed_pattern(old, new)
    if change is None:
        return ""
    was, now = change
    is_denied = old.lstrip("( ").startswith(NEGATIONS) or "!~" in old
    if refuses == is_denied:
        return "the pattern that a value must fit fits more" if is_wider(now, was) else ""
    return "the pattern of what is refused fits less" if is_wider(was, now) else ""
