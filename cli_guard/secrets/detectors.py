"""The rules of `cli_guard/rules/secrets/` in the form the engine uses.

A pattern is compiled when its keyword is first met, since compiling all of them takes longer than a usual review.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from itertools import chain
from typing import Any

from cli_guard.lazy import dataclass
from cli_guard.model import Confidence, Severity
from cli_guard.rules import catalog
from cli_guard.secrets import places
from cli_guard.words import WordSet

LEFT = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
RIGHT = r"(?![A-Za-z0-9])"
# What a rule may say that a detector keeps as it is.
OPTIONS = frozenset(
    "keywords before after lines reach check checksum generic block files kinds allow paths needs".split()
)


@dataclass(frozen=True)
class Detector:
    """One rule over text.

    `before` and `after` bound the window around a keyword in which the pattern is tried (0: the pattern begins at the
    keyword), `lines` is how many further lines it may span. `context` has to match within `reach` characters around a
    hit. `check` names the function that judges it (`engine.CHECKS`). `files` are the kinds of file the rule is for
    (`places.kind_of`), empty for all; of `needs` the file must contain one. `checksum` is the provider's
    (`checksums.SCHEMES`).
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
    checksum: str = ""
    kinds: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    generic: bool = False
    paths: tuple[str, ...] = ()
    block: str = ""
    files: str = ""
    needs: tuple[str, ...] = ()

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return the pattern, compiled at first use."""
        return re.compile(self.source)

    @cached_property
    def context(self) -> re.Pattern[str] | None:
        """Return the pattern required near a hit, compiled at first use; None if there is none."""
        return re.compile(self.context_source) if self.context_source else None

    @cached_property
    def _names(self) -> tuple[tuple[str, ...], tuple[str, ...], frozenset[str]]:
        ends = tuple(path[1:] for path in self.paths if path.startswith("*"))
        return (
            ends,
            tuple(path[:-1] for path in self.paths if path.endswith("*")),
            frozenset(self.paths),
        )

    @cached_property
    def follows(self) -> bool:
        """Return whether the pattern begins where the keyword ends, rather than at its start."""
        return self.check in ("assigned", "named", "spread")

    def applies_to(self, path: str) -> bool:
        """Return whether the rule is for files of this name; one without names is for all."""
        ends, starts, names = self._names
        name = path.rpartition("/")[2].lower()
        return (
            not self.paths
            or name in names
            or name.endswith(ends)
            or name.startswith(starts)
        )


def _detectors(rule: catalog.Rule, by_id: Mapping[str, catalog.Rule]) -> Iterator[Detector]:
    """Return a detector for the provider's format and, if the rule has `near`, one for a mere prefix of it."""
    detector = _detector(rule, by_id)
    yield detector
    if "near" in rule.extra:
        source = _between_bounds(rule.extra["near"]) + "(?![_-])"
        yield replace(detector, source=source, check="near", checksum="", generic=True)


def _between_bounds(token: str) -> str:
    return f"{LEFT}(?P<value>{token}){RIGHT}"


def _detector(rule: catalog.Rule, by_id: Mapping[str, catalog.Rule]) -> Detector:
    extra = rule.extra
    source = extra.get("pattern", "")
    if "token" in extra:
        source = _between_bounds(extra["token"])
    if "same_pattern_as" in extra:
        source = by_id[extra["same_pattern_as"]].extra["pattern"]
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in extra.items()
        if name in OPTIONS
    }
    return Detector(
        id=rule.id,
        severity=rule.severity,
        confidence=rule.confidence,
        source=source,
        context_source=extra.get("context", ""),
        **given,
    )


@cache
def all_detectors() -> tuple[Detector, ...]:
    """Return the rules over text, in the order of the rule files."""
    rules = catalog.by_id("secrets")
    texts = (rule for rule in rules.values() if "names" not in rule.extra)
    return tuple(detector for rule in texts for detector in _detectors(rule, rules))


@cache
def documented_keys() -> frozenset[str]:
    """Return the keys in the documentation of providers, which are never secrets."""
    return frozenset().union(*(detector.allow for detector in all_detectors()))


@cache
def by_keyword() -> Mapping[str, tuple[Detector, ...]]:
    """Map keywords to the rules to try at them. Key blocks have a reader of their own."""
    index: dict[str, list[Detector]] = {}
    for detector in all_detectors():
        for keyword in () if detector.block else detector.keywords:
            index.setdefault(keyword, []).append(detector)
    return {keyword: tuple(detectors) for keyword, detectors in index.items()}


@cache
def rules_at(keyword: str, kind: str) -> tuple[Detector, ...]:
    """Return the rules to try at a keyword in a file of a kind (`places.kind_of`)."""
    rules = by_keyword().get(keyword, ())
    return tuple(rule for rule in rules if not rule.files or kind in rule.files)


@cache
def keywords() -> WordSet:
    """Return the keywords of all rules, those of key blocks too."""
    return WordSet((*by_keyword(), *sorted(block_keywords())))


@cache
def keywords_for(kind: str, wanted: Callable[[Detector], bool]) -> WordSet:
    """Return the keywords of the wanted rules for a file of a kind, in the order of all."""
    return WordSet(
        keyword for keyword in by_keyword() if any(map(wanted, rules_at(keyword, kind)))
    )


def compile_all() -> None:
    """Compile every pattern in advance, for a process that does many reviews."""
    for detector in all_detectors():
        _ = detector.pattern, detector.context


@cache
def by_path() -> tuple[Detector, ...]:
    """Return the rules for files of certain names that need no keyword."""
    return tuple(
        detector for detector in all_detectors() if detector.paths and not detector.keywords
    )


@lru_cache(maxsize=places.PATHS)
def named_for(path: str) -> tuple[Detector, ...]:
    """Return the rules for files of certain names that are for this one."""
    return tuple(detector for detector in by_path() if detector.applies_to(path))


@cache
def block_keywords() -> frozenset[str]:
    """Return the keywords of the rules about private keys and tables."""
    return frozenset(chain.from_iterable(rule.keywords for rule in for_blocks().values()))


@cache
def for_blocks() -> Mapping[str, Detector]:
    """Return the rules about private keys of several lines, by id."""
    return {detector.id: detector for detector in all_detectors() if detector.block}
