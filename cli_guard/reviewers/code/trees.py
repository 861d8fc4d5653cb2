"""Find what the rules over syntax trees match in a change: see `tree_rules` for what a rule may say."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING

from cli_guard.code.changes.touched import TouchedLines, touched_lines
from cli_guard.code.languages import language_for
from cli_guard.code.spelled import may_rename, spell_out
from cli_guard.code.templates import readable, without_actions
from cli_guard.lazy import dataclass, frozen
from cli_guard.model import FileChange, Finding, Skipped, Status
from cli_guard.policy.suppressions import MARK
from cli_guard.repository.between import LinesBefore
from cli_guard.reviewers.code.before import leave
from cli_guard.reviewers.code.parsed_text import DATA, LONG_LINE, ParsedText, unreadable
from cli_guard.reviewers.code.remarks import (
    MAX_PER_RULE,
    STOPPING,
    Location,
    remark,
    tell,
    topic_of,
)
from cli_guard.reviewers.code.tree_rules import (
    TreeRule,
    rules_for,
    user_rules_of,
    words_of,
)
from cli_guard.reviewers.docs.repair import patch
from cli_guard.reviewers.review_input import ReviewInput

if TYPE_CHECKING:
    from ast_grep_py import SgNode

CONTENT_CHARS = 10_000
SHOWN_CHARS = 80
VARIABLE = re.compile(r"\$([A-Z][A-Z0-9_]*)")


def inspect(
    subject: ReviewInput,
    change: FileChange,
    language: str,
    topic: str | None,
    text: str,
    old: Callable[[], str | None],
    lapsed: frozenset[int] = frozenset(),
) -> Iterator[Finding | Skipped]:
    """Return the findings of the topic's rules, and of the repository's own, that the change adds or makes live.

    `old` reads the text before the change. What is on a `lapsed` line is new: its answer was given for other lines.
    """
    known = words_of(topic) if topic else frozenset()

    def parse(given: str) -> ParsedText:
        return ParsedText(
            subject.trees, language, *(readable(topic, given) if topic else (given, {}))
        )

    def parse_written_out(given: str) -> ParsedText:
        side = parse(given)
        if unreadable(language, side.text):
            return side
        if may_rename(side.text, language, known):
            side = replace(side, text=spell_out(subject.trees, language, side.text, known))
        return side.with_texts()

    now = parse(text)
    users = [
        rule
        for rule in user_rules_of(subject.user_rules, language)
        if rule.wants(change.path, now.text)
    ]
    is_renaming = may_rename(now.text, language, known)
    ours = rules_for(topic, change.path, now.text) if topic else []
    if not (ours or users or is_renaming):
        return
    if why := unreadable(language, now.text):
        if ours or users:
            yield leave(
                subject, change, f"code: {why}", lambda old: bool(unreadable(language, old))
            )
        return
    yield from _find_broken(subject, change, language, text)
    path = change.old_path or change.path
    before = _Before(change, path, topic, language, old, parse_written_out, lapsed)
    lines = text.split("\n")
    if topic and (ours or is_renaming):
        side = parse_written_out(text)
        if side.is_partial:
            why = "code: it has more uses of variables than are followed"
            is_bundle = any(len(line) > LONG_LINE for line in lines)
            # A bundle is only said: every one that is built anew would ask.
            yield (
                Skipped(change.path, why)
                if is_bundle
                else leave(
                    subject, change, why, lambda old: parse_written_out(old).is_partial
                )
            )
        ours = rules_for(topic, change.path, side.text)
        yield from _inspect_side(subject, ours, side, before, lines)
    # The repository's own rules know names as they are written.
    yield from _inspect_side(subject, users, now, replace(before, parse=parse), lines)


def _find_broken(
    subject: ReviewInput, change: FileChange, language: str, text: str
) -> Iterator[Skipped]:
    """Say of a program that its grammar could only read pieces; nobody is asked about the template of one."""
    trees = subject.trees
    # Of a page or a notebook these are parts; data has readers of its own.
    is_part = language != language_for(change.path, text[:200].split("\n", 1)[0])
    has_code = language not in DATA and (language != "php" or "<?" in text)
    if is_part or not has_code:
        return
    if not trees.is_broken(language, text):
        line = trees.unparsed_line(text) if language == "python" else 0
        if line and not trees.unparsed_line(subject.contents.old(change) or ""):
            told = (
                f"code: line {line} is no valid Python, so what follows it may be misread"
            )
            yield Skipped(change.path, told)
        return
    plain = without_actions(text)
    is_template = plain != text and not trees.is_broken(language, plain)
    yield leave(
        subject,
        change,
        f"code: the {language} grammar reads only pieces of it",
        lambda old: is_template or trees.is_broken(language, old),
    )


def _inspect_side(
    subject: ReviewInput,
    rules: list[TreeRule],
    now: "ParsedText",
    before: "_Before",
    lines: list[str],
) -> Iterator[Finding | Skipped]:
    """Yield what some rules find in the text, its names as these rules know them."""
    change = before.change

    def had_too_many(rule: TreeRule, given: str) -> bool:
        side = before.parse(given)
        return len(side.nodes(rule)) > side.most

    for rule in rules:
        count = 0
        nodes = now.nodes(rule)
        if len(nodes) > now.most:
            reason = f"code: more than {now.most:,} matches of {rule.rule.id} in lines as long as these"
            yield leave(subject, change, reason, partial(had_too_many, rule))
        touched = list(_new_matches(rule, nodes, change, now, before))
        found = _first_on_lines(_without_known(touched, rule, now, before))
        if once := rule.patterns.get("once"):
            found = islice(_unknown(found, once, rule, before), 1)
        for count, (node, span) in enumerate(found, 1):
            if count <= MAX_PER_RULE:
                finding = _finding(rule, change, node, span, lines)
                yield tell(finding) if span.revealed else finding
        if count > MAX_PER_RULE:
            yield Skipped(
                change.path, f"code: {count - MAX_PER_RULE} more findings of {rule.rule.id}"
            )


# What a text in quotes says.
QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")


@dataclass(frozen=True)
class _Before:
    """What the rules matched in the text before the change, which is read for the first match off the added lines."""

    change: FileChange
    path: str
    topic: str | None
    language: str
    read: Callable[[], str | None]
    parse: Callable[[str], ParsedText]
    lapsed: frozenset[int] = frozenset()

    @cached_property
    def text(self) -> str | None:
        """The text, None if there is none to compare with, as in a bare patch."""
        return self.read()

    @cached_property
    def line(self) -> LinesBefore:
        return LinesBefore(self.change)

    @cached_property
    def side(self) -> ParsedText | None:
        if self.text is None or (
            self.topic and topic_of(self.path, self.language, self.text) != self.topic
        ):
            return None
        parsed = self.parse(self.text)
        return None if unreadable(self.language, parsed.text) else parsed

    def matches(self, rule: TreeRule) -> "list[SgNode]":
        side = self.side
        wanted = side is not None and rule.fits(self.path, side.text)
        return list(side.matches(rule, side.nodes(rule))) if side and wanted else []

    def live_matches(self, rule: TreeRule) -> "list[SgNode]":
        """Return what the rule matched in code that ran."""
        return [
            node
            for node in self.matches(rule)
            if self.side and node.range().start.index not in self.side.dead
        ]

    def lines(self, rule: TreeRule) -> TouchedLines:
        """Return the lines of what the rule matched in code that ran."""
        places = (node.range() for node in self.live_matches(rule))
        return TouchedLines(
            sorted((each.start.line + 1, each.end.line + 1) for each in places)
        )


def _new_matches(
    rule: TreeRule,
    nodes: "list[SgNode]",
    change: FileChange,
    now: ParsedText,
    before: _Before,
) -> Iterator[tuple["SgNode", "NodeSpan"]]:
    """Yield the matches on lines that overlap an added line, whose value one gives, or that run only now."""
    known: TouchedLines | None = None
    for node in now.matches(rule, nodes):
        spans = _find_touched(rule, node, change, now.given_at)
        if (
            not spans
            and before.text is not None
            and not any(word in before.text for word in rule.unless)
            and node.range().start.index not in now.dead
        ):
            known = before.lines(rule) if known is None else known
            untouched = _spans(node, rule.patterns.get("focus"))
            spans = [
                replace(s, revealed=True)
                for s in untouched
                if not known.overlap(before.line(s.first), before.line(s.first))
            ]
        for span in spans:
            yield node, span


def _first_on_lines(
    found: "Iterator[tuple[SgNode, NodeSpan]]",
) -> "Iterator[tuple[SgNode, NodeSpan]]":
    seen = set()
    for node, span in found:
        if span.first not in seen:
            seen.add(span.first)
            yield node, span


def _without_known(
    found: "list[tuple[SgNode, NodeSpan]]", rule: TreeRule, now: ParsedText, before: _Before
) -> "Iterator[tuple[SgNode, NodeSpan]]":
    """Leave out as many matches as the lines that went had of the same offence, but for those with an answer."""
    side = before.side if found else None
    known = Counter[str]()
    if side is not None:
        went, _ = touched_lines(before.change.hunks)
        is_new = before.change.status is Status.ADDED
        for node in before.live_matches(rule):
            place = node.range()
            first = place.start.line + 1
            if MARK in side.lines[first - 1][:LONG_LINE]:
                continue
            if is_new or went.overlap(first, place.end.line + 1):
                known[_offence_of(side, node, rule)] += 1
    for node, span in found:
        is_answered = any(span.first <= line <= span.last for line in before.lapsed)
        offence = _offence_of(now, node, rule) if known and not is_answered else ""
        if known[offence]:
            known[offence] -= 1
        else:
            yield node, span


def _offence_of(side: ParsedText, node: "SgNode", rule: TreeRule) -> str:
    """Return what a match does; what is only advice says nothing new of another text in quotes."""
    offence = side.offence(node)
    return offence if rule.rule.severity in STOPPING else QUOTED.sub("''", offence)


def _unknown(
    found: Iterator[tuple["SgNode", "NodeSpan"]],
    once: re.Pattern[str],
    rule: TreeRule,
    before: _Before,
) -> Iterator[tuple["SgNode", "NodeSpan"]]:
    """Leave out the matches in which `once` finds what it also found in a match before the change."""
    known: frozenset[str] | None = None
    for node, span in found:
        if known is None:
            known = frozenset(
                text for old in before.matches(rule) for text in once.findall(old.text())
            )
        if known.isdisjoint(once.findall(node.text())):
            yield node, span


def _find_touched(
    rule: TreeRule, node: "SgNode", change: FileChange, given_at: Mapping[int, int]
) -> list["NodeSpan"]:
    spans = list(_spans(node, rule.patterns.get("focus")))
    uses = (number for span in spans for number in range(span.first, span.last + 1))
    givers = sorted({given_at[number] for number in uses if number in given_at})
    others = [*_spans(node, rule.patterns["else_at"])] if "else_at" in rule.patterns else []
    touched = [span for span in spans if change.touches(span.first, span.last)]
    others += (NodeSpan(number, number) for number in givers)
    return touched or [span for span in others if change.touches(span.first, span.last)][:1]


def _finding(
    rule: TreeRule, change: FileChange, node: "SgNode", span: "NodeSpan", lines: list[str]
) -> Finding:
    content = span.content or node.text()[:CONTENT_CHARS]
    start = node.range().start
    is_written = _is_written(node, lines)
    column = start.column if is_written and start.line == span.first - 1 else 0
    shown = lines[span.first - 1]
    place = Location(change.path, span.first, span.last, shown, content, column)
    suggestion = None
    if rule.fix and is_written:
        suggestion = patch_node(node, lines, _fill(rule.fix, node))
    return remark(
        rule.rule, place, message=_fill(rule.message, node), suggestion=suggestion
    )


def _is_written(node: "SgNode", lines: list[str]) -> bool:
    """Return whether the first line of a node is in the file as it is: no name was written out in it."""
    start = node.range().start
    return lines[start.line].startswith(node.text().partition("\n")[0], start.column)


def patch_node(node: "SgNode", lines: list[str], text: str) -> str:
    """Return the change of a node to another text, as hunks of a diff."""
    where = node.range()
    first = where.start.line
    last = where.end.line
    before = lines[first : last + 1]
    head = before[0][: where.start.column]
    tail = before[-1][where.end.column :]
    return patch("\n".join(before), f"{head}{text}{tail}", first + 1)


@frozen
class NodeSpan:
    """First and last line to report, and their content if not the whole node; `revealed`: no line was added."""

    first: int
    last: int
    content: str = ""
    revealed: bool = False


def _spans(node: "SgNode", focus: re.Pattern[str] | None) -> Iterator[NodeSpan]:
    where = node.range()
    first = where.start.line + 1
    if focus:
        for number, line in enumerate(node.text().split("\n"), first):
            if focus.search(line[:LONG_LINE]):
                yield NodeSpan(number, number, line[:LONG_LINE])
        return
    to = node.get_match("TO")
    end = to.range().end if to else where.end
    # A block that ends with its line ends at column 0 of the next.
    last = max(first, end.line + 1 if end.column else end.line)
    yield NodeSpan(first, last, node.text()[: end.index - where.start.index] if to else "")


def _fill(template: str, node: "SgNode") -> str:

    def bound(match: re.Match[str]) -> str:
        value = node.get_match(match[1])
        return value.text()[:SHOWN_CHARS] if value else match[0]

    return VARIABLE.sub(bound, template)
