"""Regular expressions that a change writes and that take too long for some texts, see `code.automaton`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from posixpath import commonprefix
from typing import TYPE_CHECKING

from cli_guard.code.automaton import EXPONENTIAL, Attack, find_attack
from cli_guard.code.automaton_places import WrittenPattern, find_patterns, may_hold_patterns
from cli_guard.code.classify import has_long_line
from cli_guard.code.languages import FAMILY
from cli_guard.code.test_files import is_test_or_example
from cli_guard.lazy import frozen
from cli_guard.model import FileChange, Finding, Severity, Skipped
from cli_guard.reviewers.code.before import text_before
from cli_guard.reviewers.code.parsed_text import unreadable
from cli_guard.reviewers.code.remarks import MAX_PER_RULE, Location, remark
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule, read_table

if TYPE_CHECKING:
    from cli_guard.code.taint.tables import Tables

# Each takes a fifth of a second at worst.
MOST_JUDGED = 25
REPEATS = re.compile(r"[)\].\w}/ ][*+]|\d,\}")
# A comparison of a length, or the beginning of a text cut off, in the lines above.
BOUNDS = re.compile(
    r"\blen\([^()]*\)\s*[<>]|\.(?:length|size|Length|count)(?:\(\))?\s*[<>]"
    r"|\[:\s*(?:\d+|[A-Z_]{2,})\]|\.(?:slice|substring|substr|Substring|take)\(0?,?\s*\w+|\[0\.{2,3}\w+\]"
)
LINES_ABOVE = 12
# Folders of programs that read what the project's own developers write.
DEVELOPERS = frozenset("script scripts tool tools build ci .github".split())
SHOWN = 40


@frozen
class SlowPattern:
    """A pattern with a text for which it takes long, and the lines that match something with it."""

    pattern: WrittenPattern
    attack: Attack
    lines: tuple[int, ...]


def inspect(
    subject: ReviewInput, change: FileChange, language: str, text: str
) -> Iterator[Finding | Skipped]:
    """Yield a finding for each new pattern of exponential time, and for each of polynomial time that input reaches.

    Of other patterns of polynomial time, which are many, one in a file stands for all.
    """
    top = change.path.partition("/")[0]
    if is_test_or_example(change.path) or not may_hold_patterns(language, text):
        return
    # The patterns of a bundle are written elsewhere.
    if has_long_line(text):
        return
    if not any(map(REPEATS.search, change.added.values())):
        return
    if unreadable(language, text):
        return
    old = text_before(subject, change, text) or ""
    new, gone = _compare_patterns(subject, change, language, text, old)
    if len(new) > MOST_JUDGED:
        left = len(new) - MOST_JUDGED
        yield Skipped(change.path, f"code: {left} more regular expressions not judged")
    slow = _judge_all(new[:MOST_JUDGED], language, text)
    if slow and gone:
        before = _judge_all(gone[:MOST_JUDGED], language, old)
        slow = [s for s in slow if not any(_is_successor(s, each) for each in before)]
    reached = _lines_of_input(subject, language, text) if slow else frozenset()
    others: list[Finding] = []
    for each in slow[:MAX_PER_RULE]:
        is_reached = not reached.isdisjoint(each.lines)
        finding = _finding(change, each, text, is_reached=is_reached)
        if is_reached or each.attack.growth == EXPONENTIAL:
            yield finding
        elif top not in DEVELOPERS:
            others.append(finding)
    yield from others[:1]


def _compare_patterns(
    subject: ReviewInput, change: FileChange, language: str, text: str, old: str
) -> tuple[list[WrittenPattern], list[WrittenPattern]]:
    """Return the patterns on lines of the change that the file did not have before, and those that it lost."""
    every = list(find_patterns(subject.trees.root(language, text), language))
    found = [pattern for pattern in every if change.touches(*_lines_of(pattern))]
    if not old or not found or unreadable(language, old):
        return found, []
    before = list(find_patterns(subject.trees.root(language, old), language))
    now = {(each.text, each.flags) for each in every}
    known = {(each.text, each.flags) for each in before}
    new = [each for each in found if (each.text, each.flags) not in known]
    return new, [each for each in before if (each.text, each.flags) not in now]


def _judge_all(
    patterns: Sequence[WrittenPattern], language: str, text: str
) -> list[SlowPattern]:
    return [each for pattern in patterns if (each := _judge(pattern, language, text))]


def _is_successor(new: SlowPattern, old: SlowPattern) -> bool:
    """Return whether a pattern begins as one in whose place it came, and is slow for the same text."""
    before = old.pattern.text
    alike = len(commonprefix((before, new.pattern.text)))
    return new.attack.growth == old.attack.growth and 2 * alike >= len(before)


def _lines_of(pattern: WrittenPattern) -> tuple[int, int]:
    place = pattern.node.range()
    return place.start.line + 1, place.end.line + 1


def _judge(pattern: WrittenPattern, language: str, text: str) -> SlowPattern | None:
    """Return a pattern that takes long, None for another one, or if each match is of a text of limited length."""
    dialect = FAMILY.get(language, language)
    attack = find_attack(pattern.text, dialect, pattern.flags, pattern.part)
    if attack is None:
        return None
    lines = text.split("\n")
    uses: tuple[int, ...] = _lines_of(pattern)[:1]
    if pattern.name:
        name = re.compile(rf"\b{re.escape(pattern.name)}\b")
        uses = tuple(at for at, line in enumerate(lines, 1) if name.search(line[:500]))
        uses = tuple(at for at in uses if at != _lines_of(pattern)[0]) or uses
    free = tuple(at for at in uses if not _is_bounded(lines, at))
    return SlowPattern(pattern, attack, free) if free else None


def _is_bounded(lines: list[str], at: int) -> bool:
    return any(BOUNDS.search(line[:500]) for line in lines[max(at - LINES_ABOVE, 0) : at])


def _lines_of_input(subject: ReviewInput, language: str, text: str) -> frozenset[int]:
    """Return the lines on which something from outside this machine is matched with a pattern."""
    from cli_guard.code.taint.flows import flows_if_readable

    return frozenset(
        line
        for flow in flows_if_readable(subject.trees, language, text, _tables_for(language))
        if flow.kind == KIND and not flow.source.local and flow.guesses < 2
        for line in range(flow.line, flow.end_line + 1)
    )


@cache
def _tables_for(language: str) -> "Tables | None":
    """Return what is known of a language, with each match as a sink."""
    from cli_guard.code.taint.tables import Tables, compile_entry, tables_of

    known = tables_of(language)
    if known is None:
        return None
    rows = read_table("languages/regexes.toml")[FAMILY.get(language, language)]["matches"]
    made = (compile_entry("sink", {"kind": KIND, **each}) for each in rows)
    return Tables((*known.entries, *made))


KIND = "regex-time"


@cache
def _rule_of(growth: str) -> Rule:
    return catalog.one("code", f"code-regex-{growth}")


def _finding(
    change: FileChange, slow: SlowPattern, text: str, *, is_reached: bool
) -> Finding:
    attack = slow.attack
    rule = _rule_of(attack.growth)
    first, last = _lines_of(slow.pattern)
    shown = text.split("\n")[first - 1]
    column = shown.find(slow.pattern.text)
    place = Location(change.path, first, last, shown, slow.pattern.text, column)
    end = f", then {attack.suffix!a}" if attack.suffix else ""
    start = ascii(attack.prefix[:SHOWN]) + ", then " if attack.prefix != "\0" else ""
    example = f"{start}{attack.pump[:SHOWN]!a} many times{end}"
    reach = ", and it is matched with input" if is_reached else ""
    message = f"This pattern takes {attack.growth} time for a text of {example}{reach}"
    found = remark(rule, place, message=message)
    return replace(found, severity=Severity.HIGH) if is_reached else found
