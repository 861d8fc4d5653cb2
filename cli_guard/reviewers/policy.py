"""Changes to the guard itself: a weaker policy, hooks taken out, suppressions added, and what no limit let through."""

import datetime
import json
import re
from collections.abc import Iterable, Iterator

from cli_guard.errors import ConfigError
from cli_guard.model import Category, Confidence, FileChange, Finding, Report, Severity, Skipped, fingerprint
from cli_guard.policy.config import FILE, PYPROJECT, Config, parse_toml, read_config
from cli_guard.policy.decisions import BASELINE_FILE, STRICTNESS, Policy
from cli_guard.policy.suppressions import SHORTEST_REASON, answer_in
from cli_guard.reviewers.subject import Subject
from cli_guard.rules.catalog import Rule, load, load_all

# Where a guard is called from: frameworks' files, hook folders under version control, CI.
CALLERS = re.compile(
    r"(^|/)(\.pre-commit-config\.ya?ml|prek\.toml|\.?lefthook\.ya?ml|package\.json|\.gitlab-ci\.ya?ml|Makefile)$"
    r"|(^|/)(\.husky|\.githooks|githooks|hooks|\.github/workflows|\.circleci)/"
)
CALL = re.compile(r"\bcli-guard\b")


def review(subject: Subject) -> Report:
    """What this change does to the policy that will judge the next one."""
    findings: list[Finding] = []
    for change in subject.changes:
        if change.path in (FILE, PYPROJECT):
            findings += review_config(subject, change)
        elif change.path == BASELINE_FILE:
            findings += review_baseline(subject, change)
        if CALLERS.search(change.path) or (change.old_path and CALLERS.search(change.old_path)):
            findings += review_caller(subject, change)
        findings += review_answers(change)
    return Report(tuple(findings))


def finding(rule_id: str, path: str, line: int | None, message: str, content: str) -> Finding:
    """A finding of one of this reviewer's rules."""
    rule: Rule = next(rule for rule in load("policy") if rule.id == rule_id)
    return Finding(
        rule=rule.id,
        category=rule.category,
        severity=rule.severity,
        confidence=rule.confidence,
        path=path,
        line=line,
        message=message,
        remedy=rule.remedy,
        fingerprint=fingerprint(rule.id, path, content),
    )


def review_config(subject: Subject, change: FileChange) -> Iterator[Finding]:
    """A configuration file before and after. Raises ConfigError for one that would not hold."""
    before = config_in(subject.contents.old(change), change.old_path or change.path, "before this change")
    after = config_in(subject.contents.new(change), change.path, "in this change", strict=True)
    loosened = list(loosenings(before, after))
    if loosened:
        shown = "; ".join(loosened[:4]) + (f"; and {len(loosened) - 4} more" if len(loosened) > 4 else "")
        yield finding("policy-weakened", change.path, first_line(change), f"weaker policy: {shown}", shown)
    for ignore in after.ignore:
        if ignore not in before.ignore:
            told = f"[[ignore]] {ignore.rule} under {ignore.path}: {ignore.reason}"
            yield finding("policy-suppression-added", change.path, first_line(change), told, told)


def config_in(text: str | None, path: str, when: str, *, strict: bool = False) -> Config:
    """The configuration that a file's text holds; the defaults where there is none."""
    if text is None:
        return Config()
    try:
        if path == PYPROJECT and "cli-guard" not in text:
            if strict and not text.isascii():
                parse_toml(text.encode("utf-8", "surrogateescape"), path)
            return Config()
        found = read_config(
            lambda name: text.encode("utf-8", "replace") if name == path else None, f" {when}"
        )
    except ConfigError:
        if strict:
            raise
        return Config()
    return found[0] if found else Config()


def loosenings(before: Config, after: Config) -> Iterator[str]:
    """What the second configuration lets through that the first did not. Advice does not count."""
    old, new = Policy(before), Policy(after)
    for rule in load_all().values():
        sample = Finding(rule.id, rule.category, rule.severity, rule.confidence, "", None, "", "")
        was, becomes = old.disposition(sample), new.disposition(sample)
        if STRICTNESS.index(becomes) < STRICTNESS.index(was) and STRICTNESS.index(was) > STRICTNESS.index(
            "advise"
        ):
            yield f"{rule.id} was {was}, becomes {becomes}"
    for severity in (Severity.CRITICAL, Severity.HIGH):
        sample = Finding("", Category.RISK, severity, Confidence.HIGH, "", None, "", "")
        was, becomes = old.disposition(sample), new.disposition(sample)
        if STRICTNESS.index(becomes) < STRICTNESS.index(was):
            yield f"{severity} was {was}, becomes {becomes}"
    for name in ("files", "file_chars", "total_chars", "seconds", "rounds"):
        if getattr(after.limits, name) < getattr(before.limits, name):
            yield f"limits.{name} falls from {getattr(before.limits, name)} to {getattr(after.limits, name)}"
    for branch in before.git.protected_branches:
        if branch not in after.git.protected_branches:
            yield f"{branch} is protected no longer"
    if before.message.style == "conventional" != after.message.style:
        yield "conventional commit messages are binding no longer"


def review_baseline(subject: Subject, change: FileChange) -> Iterator[Finding]:
    """New entries of the baseline, counted by rule."""
    added = baseline_entries(subject.contents.new(change)) - baseline_entries(subject.contents.old(change))
    if added:
        rules = ", ".join(sorted({rule for rule, _, _ in added}))
        told = f"{len(added)} findings more in the baseline: {rules}"
        content = repr(sorted(added))
        yield finding("policy-suppression-added", change.path, first_line(change), told, content)


def baseline_entries(text: str | None) -> set[tuple[str, str, str]]:
    """The entries of a baseline file; none of a text that is not one."""
    try:
        rows = json.loads(text or "{}").get("findings", [])
        return {(str(r["rule"]), str(r["path"]), str(r["fingerprint"])) for r in rows}
    except (ValueError, KeyError, TypeError, AttributeError):
        return set()


def review_caller(subject: Subject, change: FileChange) -> Iterator[Finding]:
    """A file that called the guard and does so no more."""
    removed = [number for number, text in change.removed.items() if CALL.search(text)]
    if not removed:
        return
    after = subject.contents.new(change) or ""
    if not CALL.search(
        "\n".join(line for line in after.split("\n") if not line.lstrip().startswith(("#", "//")))
    ):
        told = f"the call of cli-guard on line {removed[0]} before this change is gone"
        yield finding("policy-hook-removed", change.path, first_line(change), told, change.path)


def review_answers(change: FileChange) -> Iterator[Finding]:
    """New inline suppressions, with and without a reason."""
    for number, text in change.added.items():
        answer = answer_in(text)
        if answer is None or change.path.endswith((".md", ".rst")):
            continue
        rules = ", ".join(answer.rules)
        if len(answer.reason) >= SHORTEST_REASON:
            told = f"ignores {rules}: {answer.reason}"
            yield finding("policy-suppression-added", change.path, number, told, text)
        else:
            told = f"the suppression of {rules} gives no reason and answers nothing"
            yield finding("policy-suppression-without-reason", change.path, number, told, text)


def first_line(change: FileChange) -> int | None:
    """The first line that the change adds, None where it only removes."""
    return min(change.added, default=None)


def not_reviewed(skipped: Iterable[Skipped]) -> Finding | None:
    """One finding for all that a limit left out, None where nothing was."""
    left_out = sorted({(each.path, each.reason) for each in skipped if each.by_limit})
    if not left_out:
        return None
    path, reason = left_out[0]
    others = f", and {len(left_out) - 1} more files" if len(left_out) > 1 else ""
    return finding("policy-not-reviewed", path, None, f"not reviewed: {reason}{others}", repr(left_out))


def expired_notes(policy: Policy, today: datetime.date) -> list[str]:
    """A line for each suppression of the policy in force that holds no longer."""
    return [
        f"the [[ignore]] of {i.rule} under {i.path} expired on {i.expires}" for i in policy.expired(today)
    ]
