"""Changes to the guard itself: a weaker policy, removed hooks, new suppressions, and files skipped by a limit."""

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import replace

from cli_guard.approvals.signers import REVOKED, SIGNERS, parse_signers
from cli_guard.errors import ConfigError
from cli_guard.model import (
    Disposition,
    FileChange,
    Finding,
    Kind,
    Report,
    Skipped,
)
from cli_guard.policy.config import (
    FILE,
    PYPROJECT,
    Config,
    default_config,
    read_config,
    unknown_rule,
)
from cli_guard.policy.decisions import BASELINE_FILE, Policy, read_baseline
from cli_guard.policy.globs import USERS_RULE
from cli_guard.policy.suppressions import (
    MARK,
    SHORTEST_REASON,
    UNANSWERABLE,
    WORDS_TO_LIFT,
    answer_in,
)
from cli_guard.policy.user_rules import is_rule_file, read_rules, weaker_user_rules
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import one

SHOWN = 8
MOST_UNREAD = 50
# A reason begins with the name of its reviewer, if it is one's alone.
REVIEWER = re.compile(r"([a-z]+): ")
# What helps for a reason with some words; for any other the remedy of the rule.
LOOK = "or look at what was left out, and approve it."
BROKEN = re.compile(r"\b(?:invalid|too early|only pieces)\b")
LIMITED = re.compile(r"\b(?:over|limit|more than|too (?:big|large|many|much))\b")
REMEDIES = {
    f"Repair the file, {LOOK}": BROKEN,
    f"Make it smaller or raise the limit, {LOOK}": LIMITED,
}
REPLACED = "\N{REPLACEMENT CHARACTER}"


def review(subject: ReviewInput) -> Report:
    """Return the findings about the policy that this change leaves for the next one."""
    # Loading a review needs a function of this module, and none of what reads calls.
    from cli_guard.reviewers.call_sites import review_calls

    config, findings = review_config(subject)
    findings += review_user_rules(subject)
    findings += review_calls(subject)
    for change in subject.changes:
        signs = change.path in (SIGNERS, REVOKED)
        if change.read_as or (
            change.kind is Kind.BINARY and not change.is_deleted and not signs
        ):
            continue  # unchanged; or its lines are runs of readable bytes, read only for keys
        if change.path == BASELINE_FILE:
            findings += review_baseline(subject, change, config)
        if signs or path_before(change) in (SIGNERS, REVOKED):
            findings.append(review_signers(subject, change))
        findings += review_answers(change)
    return Report(tuple(findings))


def path_before(change: FileChange) -> str | None:
    """Return the path that the change removes or edits, None if the file is new."""
    if change.is_new:
        return None
    return change.old_path or change.path


def finding(
    rule_id: str, path: str, line: int | None, message: str, content: str
) -> Finding:
    return one("policy", rule_id).finding(
        path=path,
        line=line,
        message=message,
        content=content,
    )


def review_config(subject: ReviewInput) -> tuple[Config, list[Finding]]:
    """Review the configuration before (or the defaults) and after, in either of its files.

    Raises ConfigError for a broken one in the change.
    """
    old: dict[str, str | None] = {}
    new: dict[str, str | None] = {}
    for change in subject.changes:
        before = path_before(change)
        after = change.path
        if before in (FILE, PYPROJECT):
            old[before] = subject.contents.old(change)
        if after in (FILE, PYPROJECT) and not change.is_deleted:
            text = subject.contents.new(change)
            # What is behind its text is part of the file that the next commit is judged by.
            new[after] = text if text is None or change.tail is None else text + REPLACED
    before_this = config_in(old, "before this change", strict=False)
    was_config, path = before_this or (default_config(), "")
    in_this = config_in(new, "in this change", strict=True)
    config, path = in_this or (default_config(), path)
    line = next(
        (first_line(change) for change in subject.changes if change.path == path), None
    )
    return was_config, list(find_weakenings(was_config, config, path, line))


def find_weakenings(
    was: Config, config: Config, path: str, line: int | None
) -> Iterator[Finding]:
    """Find the loosened settings of a configuration, and its new suppressions that cover only advice."""
    if was == config:
        return
    from cli_guard.policy.loosenings import loosenings, weakening_ignores

    loosened = list(loosenings(was, config))
    if loosened:
        told = f"weaker policy: {list_some(loosened)}"
        yield finding("policy-weakened", path, line, told, "; ".join(loosened))
    known = {*was.ignore, *weakening_ignores(was, config)}
    for ignore in config.ignore:
        if ignore not in known:
            told = f"[[ignore]] {ignore.rule} under {ignore.path}: {ignore.reason}"
            yield finding("policy-suppression-added", path, line, told, told)


def review_user_rules(subject: ReviewInput) -> Iterator[Finding]:
    """Report the repository's own rules that the change removes or weakens."""
    old: dict[str, str] = {}
    new: dict[str, str] = {}
    weaker: list[str] = []
    touched: list[FileChange] = []
    for change in subject.changes:
        before = path_before(change) or ""
        if not (is_rule_file(change.path) or is_rule_file(before)):
            continue
        touched.append(change)
        was = subject.contents.old(change)
        now = subject.contents.new(change)
        if is_rule_file(before) and was is not None:
            old[before] = was
        elif is_rule_file(before) and change.removed:
            # A bare patch.
            weaker.append(f"rules in {before} change, which cannot be compared here")
        if is_rule_file(change.path) and now is not None:
            new[change.path] = now
    with suppress(
        ConfigError
    ):  # a broken one had found nothing; one that stays broken is an error
        after = subject.user_rules if subject.user_rules.digest else read_rules(new)
        weaker += weaker_user_rules(read_rules(old), after)
    if weaker:
        change = touched[0]
        told = f"weaker policy: {list_some(weaker)}"
        yield finding(
            "policy-weakened", change.path, first_line(change), told, "; ".join(weaker)
        )


def config_in(
    texts: Mapping[str, str | None], when: str, *, strict: bool
) -> tuple[Config, str] | None:
    """Return the configuration in the texts of its two files and which file holds it, None for neither."""
    if strict and any(
        REPLACED in (text or "") for path, text in texts.items() if path == FILE
    ):
        raise ConfigError(f"{FILE} {when}: not UTF-8: save it as UTF-8")
    raw = {
        path: text.encode("utf-8", "replace")
        for path, text in texts.items()
        if text is not None
    }
    try:
        found = read_config(raw.get, f" {when}")
    except ConfigError:
        if strict:
            raise
        return None
    return (found[0], found[1].split(" ", 1)[0]) if found else None


def review_baseline(
    subject: ReviewInput, change: FileChange, config: Config
) -> Iterator[Finding]:
    """Report new entries of the baseline, counted by rule. Raises ConfigError for an unreadable baseline.

    Entries whose rule leads to deny or review under `config` are a loosening, the others cover advice.
    """
    after = subject.contents.new(change)
    raw = None if after is None else after.encode("utf-8", "replace")
    added = read_baseline(raw, f"{BASELINE_FILE} in this change") - baseline_entries(
        subject.contents.old(change)
    )
    rules = {rule for rule, _, _ in added}
    from cli_guard.policy.loosenings import either, stopping

    stops = {rule: was for rule, was in stopping(config).items() if rule in rules}
    stops |= {
        rule: Disposition.REVIEW for rule in sorted(rules) if rule.startswith(USERS_RULE)
    }
    weakening = sorted(entry for entry in added if entry[0] in stops)
    if weakening:
        was = either(stops.values())
        message = f"{count_findings(weakening)} more in the baseline that were {was}: {', '.join(stops)}"
        yield finding(
            "policy-weakened", change.path, first_line(change), message, repr(weakening)
        )
    others = sorted(entry for entry in added if entry[0] not in stops)
    if others:
        message = f"{count_findings(others)} more in the baseline: {', '.join(sorted(rules - set(stops)))}"
        yield finding(
            "policy-suppression-added",
            change.path,
            first_line(change),
            message,
            repr(others),
        )


def review_signers(subject: ReviewInput, change: FileChange) -> Finding:
    """Report a change of who may approve. Raises ConfigError for a broken list: nobody could approve its repair."""
    plain = change.path == SIGNERS and change.kind is not Kind.SYMLINK
    if plain and (text := subject.contents.new(change)) is not None:
        parse_signers(text.encode("utf-8", "replace"), f"{SIGNERS} in this change")
    parts = []
    for what, lines in (("adds", change.added), ("removes", change.removed)):
        written = (line for line in lines.values() if not line.startswith("#"))
        if who := [line.split()[0] for line in written if line.strip()]:
            parts.append(f"{what} {', '.join(who)}")
    if change.kind is Kind.BINARY or change.path == REVOKED:
        parts = ["revokes keys, or takes revocations back"]
    told = f"changes who may approve: {'; '.join(parts) or 'comments only'}"
    line = first_line(change) if change.kind is not Kind.BINARY else None
    return finding(
        "policy-signers-changed", change.path, line, told, f"{told} {change.new_blob}"
    )


def list_some(texts: Sequence[str]) -> str:
    more = f"; and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return "; ".join(texts[:SHOWN]) + more


def count_findings(entries: Sized) -> str:
    return f"{len(entries)} finding{'s' if len(entries) > 1 else ''}"


def baseline_entries(text: str | None) -> frozenset[tuple[str, str, str]]:
    """Return the entries of the old baseline; none if it was unreadable, because then it suppressed nothing."""
    try:
        return read_baseline(
            None if text is None else text.encode("utf-8", "replace"), BASELINE_FILE
        )
    except ConfigError:
        return frozenset()


def review_answers(change: FileChange) -> Iterator[Finding]:
    """Report new inline suppressions, with and without a reason."""
    if not any(MARK in "\n".join(hunk.added) for hunk in change.hunks):
        return
    for number, text in change.added.items():
        answer = answer_in(text)
        if answer is None or change.path.endswith((".md", ".rst")):
            continue
        rules = ", ".join(answer.rules)
        if len(answer.reason) >= SHORTEST_REASON:
            told = f"ignores {rules}: {answer.reason}"
            if not answer.is_explicit:
                told += f" (answers advice only: more needs the rule's full name and {WORDS_TO_LIFT} words of reason)"
            if unknown := list(filter(None, map(unknown_rule, answer.rules))):
                told += f" (answers nothing: {'; '.join(unknown)})"
            yield finding("policy-suppression-added", change.path, number, told, text)
        else:
            told = f"the suppression of {rules} has no reason, so it suppresses nothing"
            yield finding(
                "policy-suppression-without-reason", change.path, number, told, text
            )


def first_line(change: FileChange) -> int | None:
    """Return the first line that the change adds, None if it only removes."""
    return min(change.added, default=None)


def not_reviewed(skipped: Iterable[Skipped]) -> list[Finding]:
    """Return a finding for each file that was not read and needs a person, one for all beyond the first MOST_UNREAD.

    It tells all that was not read of the file; what only a list names is no part of its fingerprint.
    """
    asking: dict[str, set[str]] = {}
    every: dict[str, set[str]] = {}
    for each in skipped:
        every.setdefault(each.path, set()).add(each.reason)
        if each.asks:
            asking.setdefault(each.path, set()).add(each.reason)
    paths = sorted(asking)
    found = [
        unread_finding(path, join_reasons(every[path]), sorted(asking[path]))
        for path in paths[:MOST_UNREAD]
    ]
    if rest := paths[MOST_UNREAD:]:
        told = f"{join_reasons(every[rest[0]])}; and {len(rest) - 1:,} more"
        left_out = [(path, sorted(asking[path])) for path in rest]
        found.append(unread_finding(rest[0], told, left_out))
    return found


def unread_finding(path: str, reasons: str, content: object) -> Finding:
    """Return the finding about a file that was not read, with the remedy for its reasons."""
    found = finding(
        "policy-not-reviewed", path, None, f"not reviewed: {reasons}", repr(content)
    )
    fitting = (remedy for remedy, why in REMEDIES.items() if why.search(reasons))
    return replace(found, remedy=next(fitting, found.remedy))


def join_reasons(reasons: Iterable[str]) -> str:
    """Join reasons in order; what several reviewers say alike is said once: `commands, docs: invalid YAML`."""
    alike: dict[str, list[str]] = {}
    for reason in sorted(reasons):
        said_by = REVIEWER.match(reason)
        problem = reason[said_by.end() :] if said_by else reason
        alike.setdefault(problem, []).append(said_by[1] if said_by else "")
    said = [
        f"{', '.join(filter(None, reviewers))}: {problem}".removeprefix(": ")
        for problem, reviewers in alike.items()
    ]
    return list_some(said)


def ineffective_notes(policy: Policy, today: datetime.date) -> list[str]:
    """Return a line for each suppression of the current policy that answers nothing, expired or of no effect."""
    notes = [
        f"the [[ignore]] of {i.rule} has no effect, as nothing answers this rule: remove it"
        for i in policy.ignores
        if i.rule in UNANSWERABLE
    ]
    notes += [
        f"the [[ignore]] of {i.rule} under {i.path} expired on {i.expires}"
        for i in policy.find_expired(today)
    ]
    return notes
