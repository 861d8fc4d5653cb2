"""Compare two regular expressions: does one fit all that the other fits, and more?

Whether one that changed holds back less depends on what it is used for: one that a value must fit may not become wider;
one that refuses values, or takes characters out of them, may not become narrower.

Both are read by `code.automaton_syntax` over one alphabet. One holds another if each branch of it stands in a branch of
the one: part by part in order, where a part may be wider, an anchor may be missing and an optional part may be added.
Nothing is ever matched, and the sizes are bounded.
"""

import re
from collections.abc import Collection
from functools import lru_cache

from cli_guard.code.automaton_syntax import (
    Alphabet,
    At,
    Atomic,
    Back,
    CaptureGroup,
    Chars,
    Choice,
    Look,
    Node,
    NodeSequence,
    Repeat,
    UnreadableError,
    read_pattern,
)
from cli_guard.code.changes.comparisons import last_words
from cli_guard.code.changes.facts import CodeFact, FactKind
from cli_guard.code.changes.values import key_words, read_strength_words
from cli_guard.lazy import dataclass, frozen

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
MOST_CHARS = 300
MOST_STEPS = 20_000
ENDLESS = 1 << 30
FIRST = (At("start"), At("line start"))
LAST = (At("end"), At("last"), At("line end"))
# Signs that only a pattern has.
PATTERN_SIGN = re.compile(r"[\^$\[\]()|?*+]|\\[a-zA-Z.]")
# `^4.10.4` is a range of versions.
MAY_ANCHOR = re.compile(r"[$]|\^(?![0-9])|\\[AzZ]")
NEGATIONS = ("!", "not ", "not(")
REFUSES_LESS = "the pattern of what is refused fits less"
# A literal seldom says whose it is; what these differ in decides nothing here.
DIALECT = "python"
# Parts that are equal only to the same.
FIXED = (At, Look, Back)


# A sequence of parts.
Branch = tuple[Node, ...]


@frozen
class PatternChange:
    """The branches of a regular expression before and after a change, over one alphabet."""

    old: tuple[Branch, ...]
    new: tuple[Branch, ...]

    @property
    def is_wider(self) -> bool:
        """Return whether the new pattern fits all that the old one does, and more."""
        return holds_more(self.new, self.old)

    @property
    def is_narrower(self) -> bool:
        return holds_more(self.old, self.new)

    @property
    def was_whole(self) -> bool:
        """Return whether the old one was anchored at both ends, as one is that a whole value must fit."""
        return all(
            branch and branch[0] in FIRST and branch[-1] in LAST for branch in self.old
        )

    @property
    def lost_anchor(self) -> bool:
        """Return whether anchors at the ends of branches went, and nothing else."""
        same = without_anchors(self.old) == without_anchors(self.new)
        return same and self.is_wider


def without_anchors(branches: tuple[Branch, ...]) -> list[list[Node]]:
    return [[part for part in branch if part not in FIRST + LAST] for branch in branches]


def holds_more(one: tuple[Branch, ...], other: tuple[Branch, ...]) -> bool:
    steps = Steps()
    return contains(one, other, steps) and not contains(other, one, steps)


@dataclass(slots=True)
class Steps:
    """Counts the comparisons of parts; over the bound nothing holds anything."""

    left: int = MOST_STEPS

    def take(self) -> bool:
        self.left -= 1
        return self.left > 0


def branches_of(node: Node) -> tuple[Branch, ...]:
    """Return the alternatives of a node, those of a group without its brackets."""
    while isinstance(node, CaptureGroup | Atomic):
        node = node.part
    every = node.parts if isinstance(node, Choice) else (node,)
    return tuple(
        each.parts if isinstance(each, NodeSequence) else (each,) for each in every
    )


def contains(one: tuple[Branch, ...], other: tuple[Branch, ...], steps: Steps) -> bool:
    """Return whether each branch of the other stands in a branch of the one."""
    return all(
        any(branch_contains(wide, branch, steps) for wide in one) for branch in other
    )


def branch_contains(wide: Branch, narrow: Branch, steps: Steps) -> bool:
    """Return whether the parts of one branch stand, in order, in those of a wider one."""
    reached = {0}
    for at in range(len(wide) + 1):
        # `reached`: how many parts of the narrow branch may be used up before the part `at` of the wide one.
        for used in range(len(narrow)):
            if used in reached and isinstance(narrow[used], At):
                reached.add(used + 1)
        if at == len(wide):
            break
        part = wide[at]
        step = set(reached) if split_repeat(part)[1] == 0 else set()
        for used in reached:
            if used < len(narrow) and part_contains(part, narrow[used], steps):
                step.add(used + 1)
        reached = step
    return len(narrow) in reached


def part_contains(wide: Node, narrow: Node, steps: Steps) -> bool:
    one, least, most = split_repeat(wide)
    other, fewest, largest = split_repeat(narrow)
    if not steps.take() or least > fewest or most < largest:
        return False
    if isinstance(one, FIXED) or isinstance(other, FIXED):
        return one == other
    if isinstance(one, Chars) and isinstance(other, Chars):
        return not other.mask & ~one.mask
    return contains(branches_of(one), branches_of(other), steps)


def split_repeat(part: Node) -> tuple[Node, int, int]:
    """Return what a part repeats, and how often at least and at most; whether it is greedy decides nothing."""
    while isinstance(part, Atomic):
        part = part.part
    if not isinstance(part, Repeat):
        return part, 1, 1
    return part.part, part.least, ENDLESS if part.most is None else part.most


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
def compare_patterns(old: str, new: str) -> PatternChange | None:
    """Return the patterns that two literals of any language hold, None if one is not read here."""
    was = written_pattern(old)
    now = written_pattern(new)
    if was is None or now is None:
        return None
    alphabet = Alphabet(old + new)
    try:
        before, after = (read_pattern(*each, DIALECT, alphabet)[0] for each in (was, now))
    except UnreadableError:
        return None
    return PatternChange(branches_of(before), branches_of(after))


def written_pattern(literal: str) -> tuple[str, str] | None:
    """Return the text of the pattern in a literal, and its flags."""
    match = LITERAL.fullmatch(literal.strip())
    if match is None or len(literal) >= MOST_CHARS:
        return None
    inside = match["inside"] or match["slashed"] or match["braced"] or match["banged"] or ""
    if match["quote"] and "r" not in match["prefix"].lower() and match["prefix"] != "@":
        inside = inside.replace("\\\\", "\\")
    if delimited := DELIMITED.fullmatch(inside):
        return delimited["inside"], delimited["flags"]
    return inside, ""


def changed_pattern(old: str, new: str) -> PatternChange | None:
    """Return the one pattern in which two texts differ; None if they differ in anything else."""
    was, around = pattern_texts(old)
    now, still = pattern_texts(new)
    if around != still or len(was) != len(now):
        return None
    changed = [(one, other) for one, other in zip(was, now, strict=True) if one != other]
    return compare_patterns(*changed[0]) if len(changed) == 1 else None


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
        if old.name != new.name and of_lines(old.name) == new.name:
            return "each line is enough now, not the whole text"
        change = compare_patterns(old.name, new.name)
        is_open = change is not None and change.lost_anchor
        return "the pattern is no longer anchored at each end as it was" if is_open else ""
    change = changed_pattern(old.text, new.text)
    if old.text != new.text and of_lines(old.text) == new.text:
        return "each line is enough now, not the whole text"
    if change is None:
        return ""
    known = read_strength_words()
    if old.is_call:
        is_first = bool(pattern_texts(old.detail.partition(",")[0])[0])
        is_removing = is_first and last_words(old.name) & known["removes"]
        return "less is taken out than before" if is_removing and change.is_narrower else ""
    if old.is_option and key_words(old.name) & known["refused"]:
        return REFUSES_LESS if change.is_narrower else ""
    if change.was_whole and change.is_wider:
        return "the pattern that a whole value must fit fits more"
    return ""


def of_lines(pattern: str) -> str:
    """Return a pattern with the anchors of lines in the place of those of the whole text."""
    for whole, line in ((r"\A", "^"), (r"\z", "$"), (r"\Z", "$")):
        pattern = pattern.replace(whole, line)
    return pattern


def looser_pattern_operand(old: str, new: str, *, refuses: bool) -> str:
    """Return why an operand of a condition holds back less by its pattern, "" if it does not."""
    change = changed_pattern(old, new)
    if change is None:
        return ""
    is_denied = old.lstrip("( ").startswith(NEGATIONS) or "!~" in old
    if refuses == is_denied:
        return "the pattern that a value must fit fits more" if change.is_wider else ""
    return REFUSES_LESS if change.is_narrower else ""
