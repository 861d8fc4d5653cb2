"""What one configuration, or one baseline, lets through that the one before did not, in words for a person."""

import datetime
from collections.abc import Iterable, Iterator, Mapping

from cli_guard.commands.patterns import covers
from cli_guard.model import Category, Confidence, Decision, Disposition, Finding, Severity
from cli_guard.policy.checks import weaker_checks
from cli_guard.policy.config import Config, Ignore
from cli_guard.policy.decisions import FLOORS, STRICTNESS, Policy
from cli_guard.policy.globs import rule_matches
from cli_guard.rules.catalog import Rule, load_all

STOPS = (Disposition.DENY, Disposition.REVIEW)


def loosenings(before: Config, after: Config) -> Iterator[str]:
    """What the second configuration lets through that the first did not. Advice does not count."""
    if before == after:
        return
    yield from weaker_rules(before, after)
    for severity in (Severity.CRITICAL, Severity.HIGH):
        sample = Finding("", Category.RISK, severity, Confidence.HIGH, "", None, "", "")
        was, becomes = Policy(before).disposition(sample), Policy(after).disposition(sample)
        if STRICTNESS.index(becomes) < STRICTNESS.index(was):
            yield f"{severity} was {was}, becomes {becomes}"
    for ignore, answered in weakening_ignores(before, after).items():
        yield f"a new [[ignore]] of {ignore.rule} under {ignore.path} answers {answered}: {ignore.reason}"
    for name in ("files", "file_chars", "total_chars", "seconds", "rounds"):
        if getattr(after.limits, name) < getattr(before.limits, name):
            yield f"limits.{name} falls from {getattr(before.limits, name)} to {getattr(after.limits, name)}"
    yield from weaker_patterns(before, after)
    yield from weaker_checks(before.checks, after.checks)
    for name, server in before.mcp.items():
        kept = after.mcp[name].deny if name in after.mcp else ()
        for tool in server.deny:
            if not any(rule_matches(wider, tool) for wider in kept):
                yield f"the tool {tool} of the MCP server {name} is denied no longer"
    for branch in before.git.protected_branches:
        if branch not in after.git.protected_branches:
            yield f"{branch} is protected no longer"
    if before.message.style == "conventional" != after.message.style:
        yield "conventional commit messages are binding no longer"


def weaker_patterns(before: Config, after: Config) -> Iterator[str]:
    """The command patterns that are gone or ask where they denied, unless another one covers what they match."""
    for old in before.commands.patterns:
        wider = [new.decision for new in after.commands.patterns if covers(new.text, old.text)]
        if Decision.DENY not in wider and (old.decision is Decision.DENY or Decision.REVIEW not in wider):
            becomes = "becomes review" if Decision.REVIEW in wider else "is gone"
            yield f"the command pattern {old.text!r} was {old.decision}, {becomes}"


def disposition_of(config: Config, rule: Rule) -> Disposition:
    """What a finding of this rule leads to under a configuration."""
    sample = Finding(rule.id, rule.category, rule.severity, rule.confidence, "", None, "", "")
    return Policy(config).disposition(sample)


def weaker_rules(before: Config, after: Config) -> list[str]:
    """The rules that denied or asked and do less now: `118 secret rules were deny or review, become off`."""
    groups: dict[tuple[str, Disposition], dict[str, Disposition]] = {}
    for rule in load_all().values():
        was, becomes = disposition_of(before, rule), disposition_of(after, rule)
        if was in STOPS and STRICTNESS.index(becomes) < STRICTNESS.index(was):
            groups.setdefault((prefix(rule.id), becomes), {})[rule.id] = was
    return [
        f"{name_rules(rules)} {'was' if len(rules) == 1 else 'were'} {either(rules.values())}, "
        f"{'becomes' if len(rules) == 1 else 'become'} {becomes}"
        for (_, becomes), rules in groups.items()
    ]


def weakening_ignores(before: Config, after: Config) -> dict[Ignore, str]:
    """Each new `[[ignore]]` that answers rules which led to deny or review, and which those are.

    One that an old entry certainly covers (the same path or `**`, no further rule, no later end) is not new: it
    was reworded or narrowed.
    """
    if not after.ignore:
        return {}
    stops = stopping(before)
    ends: dict[tuple[str, str], datetime.date] = {}
    for old in before.ignore:
        key, end = (old.rule, old.path), old.expires or datetime.date.max
        ends[key] = max(end, ends.get(key, end))
    weakening = {}
    for ignore in after.ignore:
        answered = {rule: was for rule, was in stops.items() if rule_matches(ignore.rule, rule)}
        if answered and not covered(ignore, ends):
            weakening[ignore] = summarise(answered)
    return weakening


def covered(new: Ignore, ends: Mapping[tuple[str, str], datetime.date]) -> bool:
    """Is there an old entry that answers all that the new one does, for as long? `ends`: by rule and path."""
    wider = [new.rule, *(f"{new.rule[:length]}*" for length in range(len(new.rule)))]
    found = [ends.get((rule, path)) for rule in wider for path in {new.path, "**"}]
    return any(end is not None and (new.expires or datetime.date.max) <= end for end in found)


def summarise(rules: Mapping[str, Disposition]) -> str:
    """`118 secret rules that were deny or review, 4 message rules that were deny`."""
    groups: dict[str, dict[str, Disposition]] = {}
    for rule, was in rules.items():
        groups.setdefault(prefix(rule), {})[rule] = was
    return ", ".join(
        f"{name_rules(group)} that {'was' if len(group) == 1 else 'were'} {either(group.values())}"
        for group in groups.values()
    )


def stopping(config: Config) -> dict[str, Disposition]:
    """The rules that lead to deny or review, and to which; those under a floor cannot be answered and are none."""
    found = {rule.id: disposition_of(config, rule) for rule in load_all().values() if rule.id not in FLOORS}
    return {rule: leads_to for rule, leads_to in found.items() if leads_to in STOPS}


def prefix(rule: str) -> str:
    """The reviewer that a rule belongs to: the first word of its id."""
    return rule.partition("-")[0]


def name_rules(rules: Iterable[str]) -> str:
    """The id of a single rule, or how many of which reviewer there are."""
    ids = list(rules)
    return ids[0] if len(ids) == 1 else f"{len(ids)} {prefix(ids[0])} rules"


def either(dispositions: Iterable[Disposition]) -> str:
    """`deny`, or `deny or review`."""
    given = set(dispositions)
    return " or ".join(each for each in reversed(STRICTNESS) if each in given)
