"""Describe what a new configuration or baseline allows that the old one did not."""

import datetime
from collections.abc import Iterable, Iterator, Mapping

from cli_guard.commands.patterns import covers
from cli_guard.model import (
    Category,
    Confidence,
    Decision,
    Disposition,
    Finding,
    Presence,
    Severity,
)
from cli_guard.policy.checks import weaker_checks
from cli_guard.policy.config import ApprovalsSection, Config, Ignore
from cli_guard.policy.decisions import STRICTNESS, Policy
from cli_guard.policy.globs import USERS_RULE, rule_matches
from cli_guard.policy.suppressions import UNANSWERABLE
from cli_guard.rules.catalog import Rule, load_all

STOPS = (Disposition.DENY, Disposition.REVIEW)


def loosenings(before: Config, after: Config) -> Iterator[str]:
    """Yield what the second configuration allows that the first did not. Advice does not count."""
    if before == after:
        return
    yield from weaker_rules(before, after)
    for severity in (Severity.CRITICAL, Severity.HIGH):
        sample = Finding("", Category.RISK, severity, Confidence.HIGH, "", None, "", "")
        was = Policy(before).disposition(sample)
        becomes = Policy(after).disposition(sample)
        if STRICTNESS.index(becomes) < STRICTNESS.index(was):
            yield f"{severity} changes from {was} to {becomes}"
    for ignore, answered in weakening_ignores(before, after).items():
        what = "one finding in " if ignore.fingerprint else ""
        yield f"a new [[ignore]] for {what}{ignore.path} covers {answered}: {ignore.reason}"
    for name in ("files", "file_chars", "total_chars", "rounds"):
        if getattr(after.limits, name) < getattr(before.limits, name):
            yield f"limits.{name} decreases from {getattr(before.limits, name)} to {getattr(after.limits, name)}"
    yield from weaker_patterns(before, after)
    yield from weaker_checks(before.checks, after.checks)
    for name, server in before.mcp.items():
        kept = after.mcp[name].deny if name in after.mcp else ()
        for tool in server.deny:
            if not any(rule_matches(wider, tool) for wider in kept):
                yield f"the tool {tool} of the MCP server {name} is no longer denied"
    for branch in before.git.protected_branches:
        if branch not in after.git.protected_branches:
            yield f"{branch} is no longer protected"
    for name in before.protections.calls:
        if name not in after.protections.calls:
            yield f"{name} is no longer one of the protections.calls"
    for known in after.surface.known:
        if known not in before.surface.known:
            yield f"a new [[surface.known]] accepts the {known.kind} {known.name}: {known.reason}"
    yield from weaker_approvals(before.approvals, after.approvals)
    if before.message.style == "conventional" != after.message.style:
        yield "conventional commit messages are no longer required"


def weaker_approvals(before: ApprovalsSection, after: ApprovalsSection) -> Iterator[str]:
    """Yield what an approval no longer needs."""
    for name in (*map(str, Severity), "trust"):
        was = Presence(getattr(before, name))
        becomes = Presence(getattr(after, name))
        if becomes.rank < was.rank:
            yield f"approvals.{name} changes from {was} to {becomes}"
    for pattern, number in before.threshold.items():
        if after.threshold.get(pattern, 1) < number:
            yield f"approvals.threshold of {pattern} decreases from {number} to {after.threshold.get(pattern, 1)}"
    if after.author_may_approve and not before.author_may_approve:
        yield "the author may approve"


def weaker_patterns(before: Config, after: Config) -> Iterator[str]:
    """Yield the command patterns that were removed or weakened, unless another one covers what they match."""
    for old in before.commands.patterns:
        wider = [
            new.decision for new in after.commands.patterns if covers(new.text, old.text)
        ]
        if Decision.DENY not in wider and (
            old.decision is Decision.DENY or Decision.REVIEW not in wider
        ):
            becomes = "becomes review" if Decision.REVIEW in wider else "was removed"
            yield f"the {old.decision} pattern {old.text!r} {becomes}"


def rules_in(*configs: Config) -> list[Rule]:
    """Return all rules, and a sample of each of the repository's own that is named; their files are not read here."""
    named = {
        name
        for each in configs
        for name in (*each.rules, *(ignore.rule for ignore in each.ignore))
    }
    ids = sorted({name.removesuffix("*") for name in named if name.startswith(USERS_RULE)})
    fields = Category.RISK, Severity.HIGH, Confidence.HIGH, "", ""
    return [*load_all().values(), *(Rule(each, "", *fields) for each in ids)]


def disposition_of(config: Config, rule: Rule) -> Disposition:
    """Return what the gravest finding of this rule leads to under a configuration."""
    severity = rule.worst or rule.severity
    sample = Finding(rule.id, rule.category, severity, rule.confidence, "", None, "", "")
    return Policy(config).disposition(sample)


def weaker_rules(before: Config, after: Config) -> list[str]:
    """Return the rules that were deny or review and are weaker: `118 secret rules were deny or review, become off`."""
    groups: dict[tuple[str, Disposition], dict[str, Disposition]] = {}
    for rule in rules_in(before, after):
        was = disposition_of(before, rule)
        becomes = disposition_of(after, rule)
        if was in STOPS and STRICTNESS.index(becomes) < STRICTNESS.index(was):
            groups.setdefault((prefix(rule.id), becomes), {})[rule.id] = was
    return [
        f"{name_rules(rules)} {'was' if len(rules) == 1 else 'were'} {either(rules.values())}, "
        f"{'becomes' if len(rules) == 1 else 'become'} {becomes}"
        for (_, becomes), rules in groups.items()
    ]


def weakening_ignores(before: Config, after: Config) -> dict[Ignore, str]:
    """Return each new `[[ignore]]` that covers rules that were deny or review, with a summary of those rules.

    An entry that an old one certainly covers (the same path or `**`, no other rule or finding, no later expiry) is not
    new: it was reworded or narrowed.
    """
    if not after.ignore:
        return {}
    stops = stopping(before, after)
    ends: dict[tuple[str, str, str], datetime.date] = {}
    for old in before.ignore:
        key = (old.rule, old.path, old.fingerprint)
        end = old.expires or datetime.date.max
        ends[key] = max(end, ends.get(key, end))
    weakening = {}
    for ignore in after.ignore:
        answered = {
            rule: was for rule, was in stops.items() if rule_matches(ignore.rule, rule)
        }
        if answered and not is_covered(ignore, ends):
            weakening[ignore] = summarise(answered)
    return weakening


def is_covered(new: Ignore, ends: Mapping[tuple[str, str, str], datetime.date]) -> bool:
    """Return whether an old entry covers the new one, for as long. `ends`: expiry by rule, path and fingerprint."""
    wider = [new.rule, *(f"{new.rule[:length]}*" for length in range(len(new.rule)))]
    found = [
        ends.get((rule, path, mark))
        for rule in wider
        for path in {new.path, "**"}
        for mark in {new.fingerprint, ""}
    ]
    return any(
        end is not None and (new.expires or datetime.date.max) <= end for end in found
    )


def summarise(rules: Mapping[str, Disposition]) -> str:
    """Format `118 secret rules (deny or review), 4 message rules (deny)`."""
    groups: dict[str, dict[str, Disposition]] = {}
    for rule, was in rules.items():
        groups.setdefault(prefix(rule), {})[rule] = was
    return ", ".join(
        f"{name_rules(group)} ({either(group.values())})" for group in groups.values()
    )


def stopping(config: Config, *others: Config) -> dict[str, Disposition]:
    """Return the rules that lead to deny or review, without those that nothing can answer.

    The `others` name more of the repository's own rules.
    """
    found = {
        rule.id: disposition_of(config, rule)
        for rule in rules_in(config, *others)
        if rule.id not in UNANSWERABLE
    }
    return {rule: leads_to for rule, leads_to in found.items() if leads_to in STOPS}


def prefix(rule: str) -> str:
    """Return the reviewer that a rule belongs to: the first word of its id."""
    return rule.partition("-")[0]


def name_rules(rules: Iterable[str]) -> str:
    """Return the id of a single rule, or the number of rules and their reviewer."""
    ids = list(rules)
    return ids[0] if len(ids) == 1 else f"{len(ids)} {prefix(ids[0])} rules"


def either(dispositions: Iterable[Disposition]) -> str:
    """Format `deny`, or `deny or review`."""
    given = set(dispositions)
    return " or ".join(each for each in reversed(STRICTNESS) if each in given)
