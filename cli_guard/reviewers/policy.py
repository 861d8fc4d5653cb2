"""Changes to the guard itself: a weaker policy, hooks taken out, suppressions added, and what no limit let through."""

import datetime
import json
import re
from collections.abc import Iterable, Iterator, Mapping

from cli_guard.errors import ConfigError
from cli_guard.model import (
    Category,
    Confidence,
    FileChange,
    Finding,
    Report,
    Severity,
    Skipped,
    Status,
    fingerprint,
)
from cli_guard.policy.config import FILE, PYPROJECT, Config, read_config
from cli_guard.policy.decisions import BASELINE_FILE, STRICTNESS, Policy, read_baseline
from cli_guard.policy.suppressions import SHORTEST_REASON, answer_in
from cli_guard.reviewers.subject import Subject
from cli_guard.rules.catalog import Rule, load, load_all

# Where a guard is called from: frameworks' files, hook folders under version control, CI.
CALLERS = re.compile(
    r"(^|/)(\.pre-commit-config\.ya?ml|prek\.toml|\.?lefthook\.ya?ml|package\.json|\.gitlab-ci\.ya?ml|Makefile)$"
    r"|(^|/)(\.husky|\.githooks|githooks|hooks|\.github/workflows|\.circleci)/"
)
HOOKS = re.compile(r"(^|/)(\.husky|\.githooks|githooks|hooks)/")
CALL = re.compile(r"\bcli-guard\b")
REPLACED = "\N{REPLACEMENT CHARACTER}"


def review(subject: Subject) -> Report:
    """What this change does to the policy that will judge the next one."""
    findings = list(review_config(subject))
    for change in subject.changes:
        if change.path == BASELINE_FILE:
            findings += review_baseline(subject, change)
        if CALLERS.search(change.path) or CALLERS.search(path_before(change) or ""):
            findings += review_caller(subject, change)
        findings += review_answers(change)
    return Report(tuple(findings))


def path_before(change: FileChange) -> str | None:
    """The path that the change takes a file away from or edits, None if there was none."""
    if change.status in (Status.ADDED, Status.COPIED):
        return None
    return change.old_path or change.path


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


def review_config(subject: Subject) -> Iterator[Finding]:
    """The configuration before and after, in whichever of its two files. Raises ConfigError for a broken one."""
    old: dict[str, str | None] = {}
    new: dict[str, str | None] = {}
    for change in subject.changes:
        before, after = path_before(change), change.path
        if before in (FILE, PYPROJECT):
            old[before] = subject.contents.old(change)
        if after in (FILE, PYPROJECT) and change.status is not Status.DELETED:
            new[after] = subject.contents.new(change)
    was = config_in(old, "before this change", strict=False)
    becomes = config_in(new, "in this change", strict=True)
    if was is None and becomes is None:
        return
    path = becomes[1] if becomes else was[1] if was else ""
    (was_config, _), (config, _) = was or (Config(), path), becomes or (Config(), path)
    line = next((first_line(change) for change in subject.changes if change.path == path), None)
    loosened = list(loosenings(was_config, config))
    if loosened:
        shown = "; ".join(loosened[:4]) + (f"; and {len(loosened) - 4} more" if len(loosened) > 4 else "")
        yield finding("policy-weakened", path, line, f"weaker policy: {shown}", "; ".join(loosened))
    for ignore in config.ignore:
        if ignore not in was_config.ignore:
            told = f"[[ignore]] {ignore.rule} under {ignore.path}: {ignore.reason}"
            yield finding("policy-suppression-added", path, line, told, told)


def config_in(texts: Mapping[str, str | None], when: str, *, strict: bool) -> tuple[Config, str] | None:
    """The configuration that the texts of its two files hold and which of them holds it, None for neither."""
    if strict and any(REPLACED in (text or "") for path, text in texts.items() if path == FILE):
        raise ConfigError(f"{FILE} {when}: not UTF-8: save it as UTF-8")
    raw = {path: text.encode("utf-8", "replace") for path, text in texts.items() if text is not None}
    try:
        found = read_config(raw.get, f" {when}")
    except ConfigError:
        if strict:
            raise
        return None
    return (found[0], found[1].split(" ", 1)[0]) if found else None


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
    """New entries of the baseline, counted by rule. Raises ConfigError for one that the next review cannot read."""
    after = subject.contents.new(change)
    if after is not None:
        read_baseline(after.encode("utf-8", "replace"), f"{BASELINE_FILE} in this change")
    added = baseline_entries(after) - baseline_entries(subject.contents.old(change))
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
    """A file that called the guard and does so no more, or lies where nobody calls it."""
    before = path_before(change)
    removed = [number for number, text in change.removed.items() if CALL.search(text)]
    after = subject.contents.new(change)
    if after is None:  # deleted, or a bare patch, of which no more is known than its lines
        after = "\n".join(change.added.values())
    if removed and not calls(after):
        told = f"the call of cli-guard on line {removed[0]} before this change is gone"
    elif before and before != change.path and moved_away(before, change.path) and calls(after):
        told = f"{before} called cli-guard and is {change.path} now, where nothing looks for it"
    else:
        return
    yield finding("policy-hook-removed", change.path, first_line(change), told, change.path)


def calls(text: str) -> bool:
    """Does a line that is no comment call the guard?"""
    return any(CALL.search(line) for line in text.split("\n") if not line.lstrip().startswith(("#", "//")))


def moved_away(before: str, after: str) -> bool:
    """Does a file that is looked for by its place, or a hook by its name, move out of sight?"""
    if not CALLERS.search(before):
        return False
    renamed = before.rpartition("/")[2] != after.rpartition("/")[2]
    return not CALLERS.search(after) or (renamed and HOOKS.search(before) is not None)


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
