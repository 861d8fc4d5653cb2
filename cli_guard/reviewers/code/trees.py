"""Rules over syntax trees: ast-grep's rule objects, read from `rules/code/<topic>.yml` and `<topic>-*.yml`.

Beyond ast-grep's own `language`, `message`, `fix`, `rule` and `constraints`, a document's `metadata` has

    keywords    the rule is tried on a text that holds one of them; keeps the common case free
    when        a regular expression of linear time: nor is it tried on a text without a match of it
    unless      the rule is not tried on a text that holds one of them
    paths       a regular expression: the rule is tried only where it matches the path
    unassigned  a name that the rule binds: a match is dropped if the file gives that shell variable a value, or if the
                group of the regular expression in `assigned` is its text somewhere in the file
    passed_to   a regular expression with one group: if the rule binds `$QUERY`, a match is dropped unless the
                group is that name somewhere in the file
    in_tests    "lower" (one step less, the default), "same", "off", "only"
    focus       a regular expression: report each line of the node that it matches, not the node
    else_at     a regular expression: if no such line was added, report the first added line that this matches
    once        a regular expression: report the first match in a file, and none in which it finds a text that it
                also found in the file before the change

A rule may bind `$TO`: the last node that is part of the offence. A line after it, such as the body of a
callback, does not bring the finding up again. Rule objects in `rules/code/utils/<topic>.yml` can be used
with `matches` by every rule of that topic.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any

from cli_guard.code.languages import GRAMMARS
from cli_guard.code.syntax import DEEPEST, indents_too_deep
from cli_guard.code.templates import readable
from cli_guard.errors import ConfigError
from cli_guard.model import FileChange, Finding, Skipped
from cli_guard.policy.user_rules import UserRules, cut_all
from cli_guard.reviewers.code.remarks import MAX_PER_RULE, Location, applies, remark
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule

if TYPE_CHECKING:
    from ast_grep_py import Config, SgNode

FOLDER = catalog.FOLDER / "code"
MAX_DEPTH = 200
LONG_LINE = 10_000
CONTENT_CHARS = 10_000
# The library counts the characters before a match in its line, to tell its place: the most that a rule may cost.
MOST_COLUMNS = 500_000_000
SHOWN_CHARS = 80
DEPTH = {ord(c): step for pair in ("()", "[]", "{}") for c, step in zip(pair, (1, -1), strict=True)}
OTHER_BYTES = bytes(set(range(256)) - set(DEPTH))
ASSIGNED = re.compile(r"\b([A-Za-z_]\w{0,80})\+?=|\b(?:for|read(?: -\w+)*) ([A-Za-z_]\w{0,80})\b")
PATTERNS = ("when", "paths", "assigned", "passed_to", "focus", "else_at", "once")
VARIABLE = re.compile(r"\$([A-Z][A-Z0-9_]*)")


@dataclass(frozen=True, slots=True)
class TreeRule:
    """A rule with the data for its findings; `config` is ast-grep's rule object."""

    rule: Rule
    config: "Config"
    keywords: tuple[str, ...]
    unless: tuple[str, ...]
    message: str
    fix: str | None
    unassigned: str | None
    patterns: Mapping[str, re.Pattern[str]]

    def wants(self, path: str, text: str) -> bool:
        """Return whether the text may match at all."""
        return (
            any(map(text.__contains__, self.keywords))
            and applies(self.rule, path)
            and self._finds("paths", path)
            and not any(word in text for word in self.unless)
            and self._finds("when", text)
        )

    def _finds(self, name: str, text: str) -> bool:
        return name not in self.patterns or bool(self.patterns[name].search(text))


@cache
def rules_of(topic: str) -> tuple[TreeRule, ...]:
    """Return the rules of one topic, read at its first file: a change to a README reads none."""
    utils = _utils(topic)
    files = [*FOLDER.glob(f"{topic}.yml"), *sorted(FOLDER.glob(f"{topic}-*.yml"))]
    return tuple(_compile(rule, utils) for file in files for rule in catalog.read_yaml(file))


@lru_cache(maxsize=20)
def user_rules_of(users: UserRules, language: str) -> tuple[TreeRule, ...]:
    """Return the repository's own rules for a language."""
    rules = (_compile(rule, {}) for rule in users.rules_for(language))
    return tuple(replace(rule, patterns=cut_all(rule.patterns)) for rule in rules)


def check_user_rules(users: UserRules) -> None:
    """Check that ast-grep accepts the rules. Raises ConfigError with the place of the first that it does not."""
    if not users.documents:
        return
    from ast_grep_py import SgRoot

    for name, document in users.documents.items():
        language, place = document.language.lower(), users.places[name]
        if language not in GRAMMARS:
            raise ConfigError(
                f"{place}: no language {document.language!r}: choose of {', '.join(sorted(GRAMMARS))}"
            )
        (rule,) = (each for each in user_rules_of(users, language) if each.rule.id == name)
        try:
            SgRoot("", language).root().find(rule.config)
        except Exception as error:  # what the library raises depends on the mistake
            causes = re.findall(r"(?m)^ +\d+: (.+)", str(error).partition("Stack backtrace")[0])
            told = "; ".join(causes) or str(error).partition("\n")[0]
            raise ConfigError(f"{place}: the rule {name} is not one of ast-grep: {told[:300]}") from None


def _utils(topic: str) -> Mapping[str, Any]:
    file = FOLDER / "utils" / f"{topic}.yml"
    if not file.exists():
        return {}
    import yaml

    with file.open("rb") as stream:
        documents = yaml.load_all(stream, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return {document["id"]: document["rule"] for document in documents}


def _compile(rule: Rule, utils: Mapping[str, Any]) -> TreeRule:
    document = rule.extra["document"]
    # ast-grep compiles all utils that it is given for every search. Utils use no others.
    used = {name: body for name, body in utils.items() if f"'matches': '{name}'" in str(document["rule"])}
    config: Config = {"rule": document["rule"], "utils": used}
    if "constraints" in document:
        config["constraints"] = document["constraints"]
    return TreeRule(
        rule=rule,
        config=config,
        keywords=tuple(rule.extra["keywords"]),
        unless=tuple(rule.extra.get("unless", ())),
        message=document["message"].strip(),
        fix=document.get("fix"),
        unassigned=rule.extra.get("unassigned"),
        patterns={name: re.compile(rule.extra[name]) for name in PATTERNS if name in rule.extra},
    )


def depth(text: str) -> int:
    """Return how deep brackets nest, those in strings and comments included.

    The time to match grows with it, so a text made only of brackets would take minutes.
    """
    brackets = text.encode("utf-8", "replace").translate(None, OTHER_BYTES)
    return max(accumulate(map(DEPTH.__getitem__, brackets)), default=0)


def unreadable(language: str, text: str) -> str:
    """Return why a text is not parsed, "" if it can be."""
    if depth(text) > MAX_DEPTH:
        return f"brackets nest deeper than {MAX_DEPTH}"
    return f"more than {DEEPEST} levels of indentation" if indents_too_deep(language, text) else ""


def leave(subject: ReviewInput, change: FileChange, reason: str, is_unread: Callable[[str], bool]) -> Skipped:
    """Return the entry for a file that a bound leaves out; what was so before the change asks nobody."""
    from cli_guard.reviewers.unread import unread

    old = subject.contents.old(change)
    text = subject.contents.new(change) or ""
    return unread(change, reason, text[:200].split("\n", 1)[0], before=old is not None and is_unread(old))


def inspect(
    subject: ReviewInput, change: FileChange, language: str, topic: str | None, text: str
) -> Iterator[Finding | Skipped]:
    """Return the findings of the topic's rules, and of the repository's own, that overlap an added line."""
    lines = text.split("\n")
    text, given_at = readable(topic, text) if topic else (text, {})
    every = (*(rules_of(topic) if topic else ()), *user_rules_of(subject.user_rules, language))
    rules = [rule for rule in every if rule.wants(change.path, text)]
    if not rules:
        return
    if why := unreadable(language, text):
        yield leave(subject, change, f"code: {why}", lambda old: bool(unreadable(language, old)))
        return
    root = subject.trees.root(language, text)
    most = MOST_COLUMNS // max(1, *map(len, lines))
    for rule in rules:
        nodes = root.find_all(rule.config)
        if len(nodes) > most:
            reason = f"code: more than {most:,} matches of {rule.rule.id} in lines as long as these"
            yield Skipped(change.path, reason, asks=True)
        count = 0
        found = _matches(rule, nodes[:most], change, text, given_at)
        if once := rule.patterns.get("once"):
            known = frozenset(once.findall(subject.contents.old(change) or ""))
            found = islice((each for each in found if known.isdisjoint(once.findall(each[0].text()))), 1)
        for count, (node, span) in enumerate(found, 1):
            if count <= MAX_PER_RULE:
                yield _finding(rule, change, node, span, lines)
        if count > MAX_PER_RULE:
            yield Skipped(change.path, f"code: {count - MAX_PER_RULE} more findings of {rule.rule.id}")


def _matches(
    rule: TreeRule, nodes: Sequence["SgNode"], change: FileChange, text: str, given_at: Mapping[int, int]
) -> Iterator[tuple["SgNode", "Span"]]:
    """Yield the first match on each line that overlaps an added line, or whose value an added line gives."""
    passed_to = rule.patterns.get("passed_to")
    assigned = _names(rule.patterns.get("assigned", ASSIGNED), text) if rule.unassigned else frozenset()
    passed = _names(passed_to, text) if passed_to else frozenset()
    seen = set()
    for node in nodes:
        if assigned and (_bound(node, rule.unassigned) or "").strip("'\":") in assigned:
            continue
        if passed_to and (query := _bound(node, "QUERY")) and query not in passed:
            continue
        for span in _touched(rule, node, change, given_at):
            if span.first not in seen:
                seen.add(span.first)
                yield node, span


def _touched(rule: TreeRule, node: "SgNode", change: FileChange, given_at: Mapping[int, int]) -> list["Span"]:
    spans = list(_spans(node, rule.patterns.get("focus")))
    uses = (number for span in spans for number in range(span.first, span.last + 1))
    givers = sorted({given_at[number] for number in uses if number in given_at})
    others = [*_spans(node, rule.patterns["else_at"])] if "else_at" in rule.patterns else []
    touched = [span for span in spans if change.touches(span.first, span.last)]
    others += (Span(number, number) for number in givers)
    return touched or [span for span in others if change.touches(span.first, span.last)][:1]


def _names(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset(name for match in pattern.finditer(text) for name in match.groups() if name)


def _bound(node: "SgNode", name: str | None) -> str | None:
    value = node.get_match(name) if name else None
    return value.text() if value else None


def _finding(rule: TreeRule, change: FileChange, node: "SgNode", span: "Span", lines: list[str]) -> Finding:
    content = span.content or node.text()[:CONTENT_CHARS]
    place = Location(change.path, span.first, span.last, lines[span.first - 1], content)
    suggestion = _fill(rule.fix, node) if rule.fix else None
    return remark(rule.rule, place, message=_fill(rule.message, node), suggestion=suggestion)


@dataclass(frozen=True, slots=True)
class Span:
    """First and last line to report, and their content if not the whole node."""

    first: int
    last: int
    content: str = ""


def _spans(node: "SgNode", focus: re.Pattern[str] | None) -> Iterator[Span]:
    where = node.range()
    first = where.start.line + 1
    if focus:
        for number, line in enumerate(node.text().split("\n"), first):
            if focus.search(line[:LONG_LINE]):
                yield Span(number, number, line[:LONG_LINE])
        return
    to = node.get_match("TO")
    end = to.range().end if to else where.end
    # A block that ends with its line ends at column 0 of the next.
    last = max(first, end.line + 1 if end.column else end.line)
    yield Span(first, last, node.text()[: end.index - where.start.index] if to else "")


def _fill(template: str, node: "SgNode") -> str:

    def bound(match: re.Match[str]) -> str:
        value = node.get_match(match[1])
        return value.text()[:SHOWN_CHARS] if value else match[0]

    return VARIABLE.sub(bound, template)
