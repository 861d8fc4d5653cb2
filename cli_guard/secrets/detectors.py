"""The rules of `cli_guard/rules/secrets/` in the form the engine works with.

A pattern is compiled when its keyword is first met, since compiling all of them takes longer than a usual review.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache, cached_property

from cli_guard.model import Confidence, Severity
from cli_guard.rules import catalog
from cli_guard.secrets.vocabulary import Keywords

LEFT = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
RIGHT = r"(?![A-Za-z0-9])"


@dataclass(frozen=True)
class Detector:
    """One rule over text.

    `before` and `after` bound the window around a keyword in which the pattern is tried (0: the pattern
    begins at the keyword), `lines` is how many further lines it may run on. `context` has to match within
    `reach` characters around a hit. `check` names the function that judges it (`engine.CHECKS`). `files` is
    the kind of file the rule is for (`places.kind_of`), empty for all; of `needs` the file must have one.
    """

    id: str
    severity: Severity
    confidence: Confidence
    keywords: tuple[str, ...] = ()
    source: str = ""
    before: int = 0
    after: int = 420
    lines: int = 0
    reach: int = 300
    context_source: str = ""
    check: str = "token"
    kinds: tuple[str, ...] = ()
    allow: frozenset[str] = field(default_factory=frozenset)
    generic: bool = False
    paths: tuple[str, ...] = ()
    block: str = ""
    files: str = ""
    needs: tuple[str, ...] = ()

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled at first use."""
        return re.compile(self.source)

    @cached_property
    def context(self) -> re.Pattern[str] | None:
        """What has to stand near a hit, compiled at first use; None if nothing has to."""
        return re.compile(self.context_source) if self.context_source else None

    @property
    def follows(self) -> bool:
        """Does the pattern begin where the keyword ends, rather than at its start?"""
        return self.check in ("assigned", "named")

    def applies_to(self, path: str) -> bool:
        """Is the rule for files of this name? One without names is for all."""
        name = path.rpartition("/")[2].lower()
        return not self.paths or any(fnmatchcase(name, pattern) for pattern in self.paths)


def _detectors(rule: catalog.Rule, by_id: Mapping[str, catalog.Rule]) -> Iterator[Detector]:
    """One for the provider's format and, where a rule has `near`, one for what only begins like it."""
    detector = _detector(rule, by_id)
    yield detector
    if "near" in rule.extra:
        source = _between_bounds(rule.extra["near"]) + "(?![_-])"
        yield replace(detector, source=source, check="near", generic=True)


def _between_bounds(token: str) -> str:
    return f"{LEFT}(?P<value>{token}){RIGHT}"


def _detector(rule: catalog.Rule, by_id: Mapping[str, catalog.Rule]) -> Detector:
    extra = rule.extra
    source = extra.get("pattern", "")
    if "token" in extra:
        source = _between_bounds(extra["token"])
    if "same_pattern_as" in extra:
        source = by_id[extra["same_pattern_as"]].extra["pattern"]
    optional = {
        key: extra[key]
        for key in ("before", "after", "lines", "reach", "check", "generic", "block", "files")
        if key in extra
    }
    return Detector(
        id=rule.id,
        severity=rule.severity,
        confidence=rule.confidence,
        keywords=tuple(extra.get("keywords", ())),
        source=source,
        context_source=extra.get("context", ""),
        kinds=tuple(extra.get("kinds", ())),
        allow=frozenset(extra.get("allow", ())),
        paths=tuple(extra.get("paths", ())),
        needs=tuple(extra.get("needs", ())),
        **optional,
    )


@cache
def all_detectors() -> tuple[Detector, ...]:
    """The rules that look at text, in the order of the rule files."""
    rules = catalog.by_id("secrets")
    texts = (rule for rule in rules.values() if "names" not in rule.extra)
    return tuple(detector for rule in texts for detector in _detectors(rule, rules))


@cache
def documented_keys() -> frozenset[str]:
    """Keys that providers print in their documentation: open no door, whichever rule meets them."""
    return frozenset().union(*(detector.allow for detector in all_detectors()))


@cache
def by_keyword() -> Mapping[str, tuple[Detector, ...]]:
    """Which rules to try where a keyword stands. Key blocks are not among them: they are read as blocks."""
    index: dict[str, list[Detector]] = {}
    for detector in all_detectors():
        for keyword in () if detector.block else detector.keywords:
            index.setdefault(keyword, []).append(detector)
    return {keyword: tuple(detectors) for keyword, detectors in index.items()}


@cache
def keywords() -> Keywords:
    """What to look for in a text at all."""
    return Keywords(by_keyword())


def compile_all() -> None:
    """Compiles every pattern ahead, for a process that does many reviews."""
    for detector in all_detectors():
        _ = detector.pattern, detector.context


@cache
def by_path() -> tuple[Detector, ...]:
    """The rules that are for files of certain names and need no keyword."""
    return tuple(detector for detector in all_detectors() if detector.paths and not detector.keywords)


@cache
def for_blocks() -> Mapping[str, Detector]:
    """The rules about private keys of several lines, by id."""
    return {detector.id: detector for detector in all_detectors() if detector.block}
