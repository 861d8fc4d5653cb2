"""Whether a pattern that changed holds back less: that depends on what it is used for.

One that a value must fit may not become wider; one that refuses values, or takes characters out of them, may not become
narrower.
"""

import re
from collections.abc import Collection

from cli_guard.code.changes.comparisons import last_words
from cli_guard.code.changes.facts import CodeFact, FactKind
from cli_guard.code.changes.patterns import (
    ParsedPattern,
    is_wider,
    pattern_texts,
    read_pattern,
)
from cli_guard.code.changes.values import key_words, read_strength_words

Change = tuple[ParsedPattern, ParsedPattern]
MAY_ANCHOR = re.compile(r"[$^]|\\[AzZ]")
NEGATIONS = ("!", "not ", "not(")


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
    if old.kind is FactKind.CALL:
        is_first = bool(pattern_texts(old.detail.partition(",")[0])[0])
        is_removing = is_first and last_words(old.name) & known["removes"]
        return "less is taken out than before" if is_removing and is_wider(was, now) else ""
    if old.kind is FactKind.OPTION and key_words(old.name) & known["refused"]:
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
