"""From a rule and a place to a finding."""

from dataclasses import dataclass

from cli_guard.code.test_files import is_test_or_example
from cli_guard.model import Finding, Severity, fingerprint
from cli_guard.rules.catalog import Rule

EVIDENCE_CHARS = 120
MAX_PER_RULE = 50
STEPS = list(Severity)


@dataclass(frozen=True, slots=True)
class Location:
    """Where a rule applies: lines of the new side, the line to show, and the content that identifies it."""

    path: str
    line: int | None
    end_line: int | None
    shown: str
    content: str


def weigh(rule: Rule, path: str) -> Severity:
    """The severity of a rule at a path: one step lower in tests, unless its `in_tests` is "same"."""
    if rule.extra.get("in_tests", "lower") == "same" or not is_test_or_example(path):
        return rule.severity
    return STEPS[min(STEPS.index(rule.severity) + 1, len(STEPS) - 1)]


def applies(rule: Rule, path: str) -> bool:
    """Does the rule say anything about tests, or about what is not a test, if that is what the path is?"""
    wanted = rule.extra.get("in_tests", "lower")
    return wanted not in ("off", "only") or (wanted == "only") == is_test_or_example(path)


def remark(
    rule: Rule, place: Location, *, message: str | None = None, suggestion: str | None = None
) -> Finding:
    """The finding of `rule` at `place`."""
    end_line = place.end_line if place.end_line != place.line else None
    return rule.finding(
        severity=weigh(rule, place.path),
        path=place.path,
        line=place.line,
        end_line=end_line,
        message=message or rule.extra.get("message", rule.title),
        suggestion=suggestion,
        evidence=place.shown.strip()[:EVIDENCE_CHARS],
        fingerprint=fingerprint(rule.id, place.path, place.content),
    )
