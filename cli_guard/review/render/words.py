"""Phrases shared by the formats for people: where a finding is, what happened, what to do next."""

import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace

from cli_guard.code.languages import comment
from cli_guard.hooks import MESSAGE, event_of
from cli_guard.model import Category, Decision, Disposition, Finding, Skipped
from cli_guard.review.render.review import Review
from cli_guard.secrets.printable import clip, printable

PATH_LENGTH = 240
REASON_LENGTH = 120
ANSWERED = {"approval": "approved", "config": "cli-guard.toml", "inline": "in the code"}
MARK = "cli-guard: ignore[RULE] reason"
SHOWN = (Disposition.DENY, Disposition.REVIEW, Disposition.ADVISE)


def path_of(path: str) -> str:
    """Format a path: printable and bounded."""
    return clip(printable(path), PATH_LENGTH)


def where(finding: Finding) -> str:
    """Format the place of a finding: `src/app.py:12`, `commit message:1`, `src/app.py:12 in 1a2b3c4d5e`."""
    place = path_of(finding.path)
    # Of what has no path only a message has lines.
    if not place and (finding.category is Category.MESSAGE or finding.line is not None):
        place = "commit message"
    if place and finding.line is not None:
        place += f":{finding.line}"
    commit = printable(finding.commit or "")[:10]
    if place:
        return f"{place} in {commit}" if commit else place
    if commit:
        return f"commit {commit}"
    if finding.rule.startswith("push-check-"):
        return "check"
    return "push" if finding.rule.startswith("push-") else "change"


def count(number: int, one: str) -> str:
    """Count something in words: `1 file`, `3 files`."""
    return f"{number} {one if number == 1 else one + 's'}"


def coverage(review: Review) -> str:
    """Say how much was reviewed: `3 files reviewed (1 for secrets only: PHP)`, `3 of 5 files reviewed`.

    A clean merge, an empty commit, and a push whose commits add up to nothing have no new lines.
    """
    if review.nothing:
        return f"nothing to review: {printable(review.review_reason or '')}"
    if not review.files:
        return "no new lines"
    verb = "scanned" if review.event == "scan" else "reviewed"
    whole = f"{count(review.files, review.unit)} {verb}{_secrets_only(review)}"
    return whole if review.reviewed == review.files else f"{review.reviewed} of {whole}"


def _secrets_only(review: Review) -> str:
    """Format the files in languages that no other reviewer reads: ` (3 for secrets only: PHP, Ruby, C)`."""
    languages = ", ".join(dict.fromkeys(review.secrets_only))
    return (
        f" ({len(review.secrets_only)} for secrets only: {languages})" if languages else ""
    )


def tally(review: Review) -> str:
    """Format `1 to fix, 2 to review, 4 remarks`; empty if there is nothing."""
    return ", ".join(
        tally_of(disposition, review)
        for disposition in SHOWN
        if review.sort_findings(disposition)
    )


def tally_of(disposition: Disposition, review: Review) -> str:
    """Format the count of one disposition: `2 to review`."""
    number = len(review.sort_findings(disposition))
    if disposition is Disposition.ADVISE:
        return count(number, "remark")
    return f"{number} {'to fix' if disposition is Disposition.DENY else 'to review'}"


def skipped_line(review: Review, shown: int) -> str:
    """Format `not reviewed: logo.png (binary), and 7 more`, what asks first, without what a finding says already."""
    findings = [
        each.finding
        for each in review.findings
        if each.finding.rule == "policy-not-reviewed"
    ]
    reasons: dict[str, list[str]] = {}
    for each in gravest_first(review.skipped):
        if not any(
            each.reason in found.message and _names(found, each.path) for found in findings
        ):
            reasons.setdefault(each.path, []).append(
                clip(printable(each.reason), REASON_LENGTH)
            )
    if not reasons:
        return ""
    every = [
        f"{path_of(path)} ({'; '.join(dict.fromkeys(listed))})"
        for path, listed in reasons.items()
    ]
    more = len(every) - shown
    return (
        "not reviewed: "
        + ", ".join(every[:shown])
        + (f", and {more} more" if more > 0 else "")
    )


def gravest_first(skipped: Iterable[Skipped]) -> list[Skipped]:
    """Return what was not read in its order, what needs a person before the rest."""
    return sorted(skipped, key=lambda each: not each.asks)


def _names(found: Finding, path: str) -> bool:
    return path == found.path or f"{path} (" in found.message


def fuller(review: Review) -> str:
    """Return the command that shows the whole of a report: what was staged may be recorded by then."""
    kept = {"staged": "review -v", "scan": "scan --format json"}.get(
        review.event, "last -v"
    )
    return (
        "the same with -v"
        if review.event == "patch"
        else f"{printable(review.program)} {kept}"
    )


def verdict(review: Review) -> str:
    """Return the verdict in one or two words, for the closing line."""
    names = {
        Decision.DENY: "denied",
        Decision.REVIEW: "needs review",
        Decision.ALLOW: "allowed",
    }
    return names[review.decision]


def next_steps(review: Review) -> tuple[str, ...]:
    """Return the closing sentence and, if the user must act, the lines that say how."""
    if review.only:
        sentence, *steps = next_steps(replace(review, only=""))
        return (
            f"only {clip(printable(review.only), PATH_LENGTH)} was reviewed: {sentence}",
            *steps,
        )
    if review.decision is Decision.DENY:
        return _after_deny(review)
    if review.decision is Decision.REVIEW:
        return _after_review(review)
    found = tally(review)
    earlier = [
        ANSWERED.get(each.by, printable(each.by))
        for each in review.suppressed
        if not each.new
    ]
    ends = (
        f", {len(earlier)} answered earlier ({', '.join(sorted(set(earlier)))})"
        if earlier
        else ""
    )
    # Nothing is known of what was not read.
    unread = "not everything was read" if any(each.asks for each in review.skipped) else ""
    said = (
        f", {found or unread or 'nothing to report'}"
        if found or unread or review.reviewed or not (review.files or review.nothing)
        else ""
    )
    return (f"{coverage(review)}{said}{ends}",)


def _after_deny(review: Review) -> tuple[str, ...]:
    denied = [judged.finding for judged in review.sort_findings(Disposition.DENY)]
    if not denied:
        return (_reason(review) or "policy does not allow it",)
    must = f"{count(len(denied), 'finding')} must be fixed"
    where_to, lines = _answers(denied)
    if event_of(review.event).request == MESSAGE:
        change = f"change the message, kept in {printable(review.message_file)}"
        return (change, _resume(review), f"or answer it {where_to} with:", *lines)
    if all(found.category is Category.MESSAGE for found in denied):
        return (f"{must}: `git rebase -i` (reword), or answer {where_to} with", *lines)
    return (f"{must}, or answered {where_to} with", *lines)


def _answers(denied: Sequence[Finding]) -> tuple[str, tuple[str, ...]]:
    """Return where some findings are answered, and the lines to paste there: comments, or a table of the policy."""
    # A recorded line cannot take a comment any more, and a file as a whole has no line.
    inline = {
        each: comment(each.path, MARK) if each.line and not each.commit else None
        for each in denied
    }
    rules = {each.rule for each in denied}
    rule = printable(rules.pop()) if len(rules) == 1 else "RULE"
    comments = tuple(
        dict.fromkeys(each.replace("RULE", rule) for each in inline.values() if each)
    )
    paths = {each.path for each, answer in inline.items() if not answer}
    if not paths:
        return "in the code", comments
    path = f"path = {json.dumps(path_of(paths.pop()) if len(paths) == 1 else 'PATH', ensure_ascii=False)}"
    table = (
        "[[ignore]]",
        f'rule = "{rule}"',
        *([] if path == 'path = ""' else [path]),
        'reason = "..."',
    )
    place = "in cli-guard.toml, in a commit before,"
    return f"in the code or {place}" if comments else place, (*comments, *table)


def _resume(review: Review) -> str:
    """Return the command that commits with the message that a stopped commit leaves."""
    return f"git commit -eF {printable(shlex.quote(review.message_file))}"


def _after_review(review: Review) -> tuple[str, ...]:
    number = len(review.sort_findings(Disposition.REVIEW))
    reason = _reason(review) or f"{count(number, 'finding')} to approve"
    if not review.review_id:
        return (reason,)
    event = event_of(review.event)
    again = f"then {event.again}" if event.is_hook else ""
    command = f"{printable(review.program)} approve {printable(review.review_id)}"
    if event.request == MESSAGE:
        again = _resume(review)
        reason = f"{reason}; the message is kept in {printable(review.message_file)}"
    return tuple(filter(None, (reason, command, again)))


def _reason(review: Review) -> str:
    if review.review_reason:
        return clip(printable(review.review_reason), 300)
    reasons = (action.get("reason") for action in review.blocked_actions)
    return next(
        (
            clip(printable(reason), 300)
            for reason in reasons
            if isinstance(reason, str) and reason
        ),
        "",
    )
