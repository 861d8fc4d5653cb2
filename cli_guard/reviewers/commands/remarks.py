"""From an act of a snippet to a finding: how grave it is here, and the line it is told on."""

import re

from cli_guard.code.test_files import is_test_or_example
from cli_guard.model import FileChange, Finding, Severity, fingerprint
from cli_guard.reviewers.commands.extract import Where
from cli_guard.reviewers.commands.judging import Act
from cli_guard.rules.catalog import Rule, one

EVIDENCE_CHARS = 120
SHOWN_CHARS = 2_000
CONTINUED = re.compile(r"[ \t]*\\\n\s*")
STEPS = list(Severity)


def severity(rule: Rule, act: Act, where: Where, path: str) -> Severity:
    """How grave the act is: the first of the rule's `grades` that fits, one step less in tests."""
    fitting = (
        Severity(grade["severity"])
        for grade in rule.extra.get("grades", ())
        if where in grade.get("where", (where,))
        and re.search(grade.get("pattern", ""), act.statement)
        and re.search(grade.get("reason", ""), act.reason)
    )
    weight = next(fitting, rule.severity)
    return STEPS[min(STEPS.index(weight) + 1, len(STEPS) - 1)] if is_test_or_example(path) else weight


def applies(act: Act) -> bool:
    """Is the act one to tell? A rule's `unless` names what makes it harmless."""
    unless = one("commands", act.rule).extra.get("unless")
    return unless is None or not re.search(unless, act.statement)


def remark(change: FileChange, act: Act, where: Where) -> Finding:
    """The finding about an act, on a line that the change adds: its own, or one of what it depends on."""
    rule = one("commands", act.rule)
    line, message = act.line, act.reason
    if line not in change.added:
        near = [number for number in change.added if act.first <= number <= act.last]
        line = near[0] if near else max((n for n in change.added if n < line), default=min(change.added))
        message = f"{message}, at line {act.line}"
    return rule.finding(
        path=change.path,
        line=line,
        message=message,
        severity=severity(rule, act, where, change.path),
        evidence=CONTINUED.sub(" ", act.statement[:SHOWN_CHARS]).strip()[:EVIDENCE_CHARS],
        fingerprint=fingerprint(rule.id, change.path, act.statement),
    )
