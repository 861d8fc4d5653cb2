"""Findings where data from outside reaches a dangerous call, as far as the change adds or completes the flow."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

from cli_guard.code.classify import has_long_line
from cli_guard.code.languages import FAMILY, language_for
from cli_guard.code.test_files import is_test_or_example
from cli_guard.model import Confidence, FileChange, Finding, Severity, Skipped
from cli_guard.policy.user_rules import UserRules, cut_all
from cli_guard.reviewers.code.before import leave, text_before
from cli_guard.reviewers.code.other_files import OtherFiles
from cli_guard.reviewers.code.parsed_text import unreadable
from cli_guard.reviewers.code.remarks import (
    EVIDENCE_CHARS,
    MAX_PER_RULE,
    STEPS,
    Location,
    remark,
)
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules import catalog

if TYPE_CHECKING:
    from cli_guard.code.taint.elsewhere import Elsewhere
    from cli_guard.code.taint.flows import Flow
    from cli_guard.code.taint.tables import Tables

# Of a line on the way of a flow, which may be cut.
SHOWN = 100
CONFIDENCES = (Confidence.HIGH, Confidence.MEDIUM, Confidence.LOW)


def inspect(
    subject: ReviewInput,
    change: FileChange,
    language: str,
    text: str,
    others: OtherFiles,
    lapsed: frozenset[int] = frozenset(),
    constructs: Sequence[Finding | Skipped] = (),
) -> Iterator[Finding | Skipped]:
    """Return a finding for each flow that was not there before the change, and that it touches or completes.

    One on a `lapsed` line comes up again: its answer was given for other lines around it. So does one that says more
    of a line than one of the `constructs` found there: a push, which sees the flow as new, must ask about the same
    finding. What tests and examples pass on, nobody else has chosen.
    """
    if is_test_or_example(change.path):
        return
    tables = _tables_for(subject.user_rules, language)
    if tables is None:
        return
    # The code of a bundle is written elsewhere.
    if has_long_line(text) and has_long_line(text_before(subject, change, text) or ""):
        yield Skipped(change.path, "code: data is not followed through a bundle")
        return
    elsewhere = others.beside(change.path, language, text)
    may_hold = tables.may_hold_flow(text) or (
        elsewhere is not None and elsewhere.may_complete(tables)
    )
    if not may_hold or unreadable(language, text):
        return
    from cli_guard.code.taint.flows import TooBigError, find_flows, flows_of

    def find(given: str, beside: "Elsewhere | None") -> "list[Flow]":
        if beside is None:
            return flows_of(subject.trees, language, given, tables)
        root = subject.trees.root(language, given)
        return find_flows(root, language, given, tables, beside)

    def find_before(given: str, path: str) -> "list[Flow]":
        known = elsewhere.paths_read if elsewhere else frozenset[str]()
        beside = others.beside(path, language, given, old=True, unbounded=known)
        return find(given, beside)

    def is_shown(flow: "Flow") -> bool:
        rule = f"code-flow-{flow.kind}"
        return bool(_covered_by(constructs, rule, flow.line, flow.end_line))

    try:
        found = find(text, elsewhere)
        old = text_before(subject, change, text) if found else None
        is_readable = old is not None and not unreadable(language, old)
        before = change.old_path or change.path
        known = find_before(old, before) if old is not None and is_readable else []
        new = _only_new(found, known, change, is_new=old is None)
        for flow, moved_from in _origins(new, subject, change, language):
            others.were_needed = True
            given = subject.contents.old(moved_from)
            if flow not in new or given is None or unreadable(language, given):
                continue
            of = find_before(given, moved_from.old_path or moved_from.path)
            if flow.key in {each.key for each in of}:
                new.remove(flow)
        new += [
            flow
            for flow in found
            if flow not in new and ({flow.line, flow.end_line} & lapsed or is_shown(flow))
        ]
    except TooBigError:

        def is_too_big(old: str) -> bool:
            try:
                find_before(old, change.old_path or change.path)
            except TooBigError:
                return True
            return False

        yield leave(subject, change, "code: too big to follow data through it", is_too_big)
        return
    lines = text.split("\n") if new else []
    for flow in new[:MAX_PER_RULE]:
        yield _finding(change, flow, lines)


def without_doubles(
    constructs: Sequence[Finding | Skipped], flows: Sequence[Finding | Skipped]
) -> Iterator[Finding | Skipped]:
    """Yield one finding of two about the same lines, the graver, the flow if both are: it shows where data is from."""
    left_out: set[int] = set()
    for flow in flows:
        if isinstance(flow, Finding):
            end = flow.end_line or flow.line or 0
            rivals = _covered_by(constructs, flow.rule, flow.line or 0, end)
            if any(
                STEPS.index(each.severity) < STEPS.index(flow.severity) for each in rivals
            ):
                continue
            left_out.update(map(id, rivals))
        yield flow
    yield from (each for each in constructs if id(each) not in left_out)


def _covered_by(
    constructs: Iterable[Finding | Skipped], rule: str, first: int, last: int
) -> list[Finding]:
    """Return the constructs on some lines of which a flow rule says more."""
    patterns = catalog.one("code", rule).extra.get("covers", "").split()
    return [
        each
        for each in constructs
        if isinstance(each, Finding)
        and each.line is not None
        and each.line <= last
        and first <= (each.end_line or each.line)
        and any(fnmatchcase(each.rule, f"code-{pattern}") for pattern in patterns)
    ]


@lru_cache(maxsize=20)
def _tables_for(users: UserRules, language: str) -> "Tables | None":
    """Return the tables of a language, with the entries that the repository adds."""
    from cli_guard.code.taint.tables import Tables, compile_entry, tables_of

    known = tables_of(language)
    served = FAMILY.get(language, language)
    made = (
        compile_entry(each.section, each.data)
        for each in users.flows
        if each.language == served
    )
    own = [replace(entry, patterns=cut_all(entry.patterns)) for entry in made]
    if not own:
        return known
    # Its own words for a source and its own safe form go first.
    return Tables((*own, *(known.entries if known else ())))


def _only_new(
    found: list["Flow"], before: list["Flow"], change: FileChange, *, is_new: bool
) -> list["Flow"]:
    """Return the flows that the change adds or completes: by a line on their way, or by one that it took away."""
    if is_new:
        return [flow for flow in found if _touches(change, flow)]
    known = Counter(flow.key for flow in before)
    # Of several alike, those on lines of the change are the new ones.
    new = []
    for flow in sorted(found, key=lambda flow: _touches(change, flow)):
        if known[flow.key] > 0:
            known[flow.key] -= 1
        else:
            new.append(flow)
    return sorted(new, key=lambda flow: flow.line)


def _origins(
    flows: Sequence["Flow"], subject: ReviewInput, change: FileChange, language: str
) -> "list[tuple[Flow, FileChange]]":
    """Return flows whose first and last line went from another file of the change: they may have moved from there.

    What a test or example passes on is no flow, so none has moved from there.
    """
    found = []
    for other in subject.changes if flows else ():
        path = other.old_path or other.path
        if other is change or language_for(path) != language or is_test_or_example(path):
            continue
        went = {line.strip()[:SHOWN] for line in other.removed.values()}
        found += [
            (flow, other)
            for flow in flows
            if {flow.steps[0][1][:SHOWN], flow.steps[-1][1][:SHOWN]} <= went
        ]
    return found


def _touches(change: FileChange, flow: "Flow") -> bool:
    return change.touches(flow.line, flow.end_line) or any(
        change.touches(line, line) for line, _ in flow.steps
    )


def _finding(change: FileChange, flow: "Flow", lines: list[str]) -> Finding:
    rule = catalog.one("code", f"code-flow-{flow.kind}")
    message = rule.extra["message"].format(
        what=flow.source.name, sink=flow.name or "the answer"
    )
    line = flow.line
    end = flow.end_line
    if not change.touches(
        line, end
    ):  # an old sink is reported where the change gives it something
        line = end = max((n for n, _ in flow.steps if change.touches(n)), default=line)
    place = Location(change.path, line, end, lines[line - 1], "\0".join(flow.key))
    found = remark(rule, place, message=message[:1].upper() + message[1:])
    # What somebody at this machine chose is no attack on it by itself, and a guess stops nothing.
    step = STEPS.index(found.severity) + flow.source.local
    confidence = CONFIDENCES[min(flow.guesses, 2)]
    if confidence is Confidence.LOW:
        step = max(step, STEPS.index(Severity.MEDIUM))
    return replace(
        found,
        severity=STEPS[min(step, len(STEPS) - 1)],
        confidence=confidence,
        remedy=flow.entry.data.get("remedy", rule.remedy),
        evidence="\n".join(f"{line}: {text[:EVIDENCE_CHARS]}" for line, text in flow.steps),
    )
