"""Rules over lines, Dockerfile instructions and SQL statements, read from `rules/code/lines-<topic>.toml`.

A rule has, beyond what every rule has,

    paths       globs: of the name, or, with a slash, of the end of the path
    pattern     what to report, a regular expression that takes linear time
    unless      what makes it harmless, searched in the same piece
    keywords    the pattern is tried on a piece that holds one of them, in either case
    unless_file what makes it harmless, searched in the path and the whole text
    unit        "line" (the default), one of `units.SPLITTERS`, or "span": what the pattern matches over several lines
    in_tests    "lower" (one step less), "same", "off", "only"; the default is "lower" without advice in tests
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate
from functools import cache

from cli_guard.lazy import frozen
from cli_guard.model import Contents, FileChange, Finding, Skipped
from cli_guard.repository.between import LinesBefore
from cli_guard.reviewers.code.remarks import (
    MAX_PER_RULE,
    Location,
    applies,
    line_topics,
    remark,
    tell,
)
from cli_guard.reviewers.code.units import SPLITTERS, Unit
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule

# A longer unit is judged in pieces; no pattern spans more than the overlap of two.
LONGEST = 5_000
OVERLAP = 500


@frozen(eq=False)
class LineRule:
    """A line rule ready for use."""

    rule: Rule
    paths: re.Pattern[str]
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None
    unless_file: re.Pattern[str] | None
    keywords: tuple[str, ...]
    unit: str

    def matches(self, text: str) -> bool:
        return bool(self.pattern.search(text)) and not (
            self.unless and self.unless.search(text)
        )


def _compile(rule: Rule) -> LineRule:
    extra = rule.extra
    globs = (translate(glob if "/" in glob else f"*/{glob}") for glob in extra["paths"])
    return LineRule(
        rule=rule,
        paths=re.compile("|".join(globs), re.IGNORECASE),
        pattern=re.compile(extra["pattern"]),
        unless=re.compile(extra["unless"]) if "unless" in extra else None,
        unless_file=re.compile(extra["unless_file"]) if "unless_file" in extra else None,
        keywords=tuple(word.lower() for word in extra["keywords"]),
        unit=extra.get("unit", "line"),
    )


@cache
def _rules(topic: str) -> tuple[LineRule, ...]:
    return tuple(map(_compile, catalog.rules_in(f"code/lines-{topic}.toml")))


def rules_for(path: str) -> tuple[LineRule, ...]:
    """Return the line rules for a path; a README has none and reads no rule file."""
    return tuple(
        line_rule
        for topic in line_topics(path)
        for line_rule in _rules(topic)
        if line_rule.paths.match(f"/{path}") and applies(line_rule.rule, path)
    )


def inspect(
    contents: Contents,
    change: FileChange,
    text: str | None,
    rules: Sequence[LineRule],
    build_before: Callable[[], str | None] = lambda: None,
) -> Iterator[Finding | Skipped]:
    """Match the rules with the added lines, or with the instructions and statements they are part of.

    `build_before` reads what a bundle was before the change; what fires there and here is written elsewhere.
    """
    by_unit: dict[str, list[LineRule]] = {}
    whole = f"/{change.path}\n{text}"
    for line_rule in rules:
        if line_rule.unless_file and line_rule.unless_file.search(whole):
            continue
        by_unit.setdefault(line_rule.unit, []).append(line_rule)
    for unit, of_unit in by_unit.items():
        if unit != "line" and text is None:
            reason = f"code: whole text not available, {unit}s not reviewed"
            yield Skipped(change.path, reason)
            continue
        read = "\n".join(change.added.values()) if unit == "line" else text or ""
        lowered = read.lower()
        possible = [rule for rule in of_unit if _holds(lowered, rule.keywords)]
        if not possible:
            continue
        units = _units(unit, read, possible)
        if unit == "line":
            units = _lines(change, lowered, possible)
        yield from _report(contents, change, units, possible, build_before)


def _lines(change: FileChange, lowered: str, rules: Sequence[LineRule]) -> Iterator[Unit]:
    keywords = sorted(
        {word for line_rule in rules for word in line_rule.keywords if word in lowered}
    )
    for (number, line), low in zip(change.added.items(), lowered.split("\n"), strict=True):
        if any(word in low for word in keywords):
            yield Unit(number, number, line)


def _units(unit: str, text: str, rules: Sequence[LineRule]) -> Iterator[Unit]:
    """Cut a text into the units of a kind; those of "span" are what the patterns of the rules match in it."""
    if unit != "span":
        yield from SPLITTERS[unit](text)
        return
    for rule in rules:
        for match in rule.pattern.finditer(text):
            first = text.count("\n", 0, match.start()) + 1
            yield Unit(first, first + match[0].count("\n"), match[0])


def _holds(text: str, keywords: Sequence[str]) -> bool:
    return any(map(text.__contains__, keywords))


def _report(
    contents: Contents,
    change: FileChange,
    units: Iterator[Unit],
    rules: Sequence[LineRule],
    build_before: Callable[[], str | None],
) -> Iterator[Finding | Skipped]:
    counts: Counter[str] = Counter()
    before = _Before(contents, change)
    for unit in units:
        touched = change.touches(unit.line, unit.end_line)
        for line_rule in _firing(rules, unit):
            if not touched and before.has(line_rule, unit):
                continue
            if len(unit.text) > LONGEST and _fires_in(build_before() or "", line_rule):
                continue
            counts[line_rule.rule.id] += 1
            if counts[line_rule.rule.id] <= MAX_PER_RULE:
                place = Location(
                    change.path, unit.line, unit.end_line, unit.text, unit.text
                )
                found = remark(line_rule.rule, place)
                yield found if touched else tell(found)
    for name, count in counts.items():
        if count > MAX_PER_RULE:
            yield Skipped(
                change.path, f"code: {count - MAX_PER_RULE} more findings of {name}"
            )


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, max(len(text) - OVERLAP, 1), LONGEST - OVERLAP):
        yield text[start : start + LONGEST]


def _firing(rules: Sequence[LineRule], unit: Unit) -> Iterator[LineRule]:
    pieces = list(_pieces(unit.text))
    lowered = unit.text.lower()
    return (
        rule
        for rule in rules
        if _holds(lowered, rule.keywords) and any(map(rule.matches, pieces))
    )


def _fires_in(bundle: str, rule: LineRule) -> bool:
    """Return whether a rule fires in one of the long lines of a bundle."""
    long = (Unit(1, 1, line) for line in bundle.split("\n") if len(line) > LONGEST)
    return any(any(_firing((rule,), unit)) for unit in long)


class _Before:
    """The units before the change, which are read for the first that fires off the added lines."""

    def __init__(self, contents: Contents, change: FileChange) -> None:
        self._contents = contents
        self._change = change
        self._line = LinesBefore(change)
        self._units: dict[str, dict[int, Unit] | None] = {}

    def has(self, rule: LineRule, unit: Unit) -> bool:
        """Return whether the rule fired on this unit before, or nothing is known of it."""
        name = rule.rule.id
        if name not in self._units:
            self._units[name] = self._split(rule)
        known = self._units[name]
        was = known.get(self._line(unit.line)) if known is not None else unit
        return was is not None and any(_firing((rule,), was))

    def _split(self, rule: LineRule) -> dict[int, Unit] | None:
        text = self._contents.old(self._change)
        if text is None:
            return None
        return {each.line: each for each in _units(rule.unit, text, (rule,))}
