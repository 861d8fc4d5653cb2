"""Phrases shared by the formats for people: where a finding is, what happened, what to do next."""

import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace

from cli_guard.hooks import BY_NAME, MESSAGE, SERVER, event_of
from cli_guard.model import (
    SCALE,
    Category,
    Decision,
    Disposition,
    Finding,
    Skipped,
    Suppressed,
)
from cli_guard.policy.suppressions import (
    CHECK_FAILED,
    SUPPRESSION_ADDED,
    SUPPRESSION_NEW,
    UNANSWERABLE,
)
from cli_guard.review.render.review import Review
from cli_guard.secrets.printable import clip, printable

PATH_LENGTH = 240
REASON_LENGTH = 120
# Why a finding is not shown.
ANSWERED = {
    "approval": "approved",
    "config": "explained in cli-guard.toml",
    "inline": "explained in the code",
    "baseline": "in the baseline",
}
MOST_COMMANDS = 3
EVIDENCE_LINES = 30
# What is approved as something else.
APPROVED_AS = {
    "commit": "review a range that has it (--range A..B)",
    "worktree": "stage it and commit",
}
PUSH_UNCHECKED = "SKIP=cli-guard-pre-push git push"
ANNOUNCING = (SUPPRESSION_NEW, SUPPRESSION_ADDED)
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
        verb = "scan" if review.event == "scan" else "review"
        return f"nothing to {verb}: {printable(review.review_reason or '')}"
    if not review.files:
        return "no files to scan" if review.event == "scan" else "no new lines"
    verb = "scanned" if review.event == "scan" else "reviewed"
    languages = ", ".join(dict.fromkeys(review.secrets_only))
    alone = f" ({len(review.secrets_only)} for secrets only: {languages})"
    whole = f"{count(review.files, review.unit)} {verb}{alone if languages else ''}"
    return whole if review.reviewed == review.files else f"{review.reviewed} of {whole}"


def tally(review: Review) -> str:
    """Format `must fix: 1, needs approval: 2, advice: 4`; empty if there is nothing."""
    return ", ".join(
        tally_of(disposition, review)
        for disposition in SHOWN
        if review.sort_findings(disposition)
    )


def tally_of(disposition: Disposition, review: Review) -> str:
    """Format the count of one disposition: `needs approval: 2`."""
    return f"{SCALE[disposition]}: {len(review.sort_findings(disposition))}"


def skipped_line(review: Review, shown: int) -> str:
    """Format `not reviewed: logo.png (binary), and 7 more`, what asks first, without what a finding says already."""
    told = {
        each.finding.path
        for each in review.findings
        if each.finding.rule == "policy-not-reviewed"
    }
    reasons: dict[str, list[str]] = {}
    for each in gravest_first(review.skipped):
        if each.path not in told:
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


def patch_command(review: Review) -> str:
    """Return the command that prints the fixes of a run as a patch for `git apply`."""
    if not is_kept(review):
        return fuller(review)
    kept = "review --fix" if review.event == "staged" else "last --patch"
    return f"{printable(review.program)} {kept}"


def find_unannounced(review: Review) -> list[Suppressed]:
    """Return what this change itself answers and no finding of the report says so already."""
    standing = [judged.finding for judged in review.findings]
    answered = [each.finding for each in review.suppressed]
    news = [each for each in (*standing, *answered) if each.rule in ANNOUNCING]
    return [
        each
        for each in review.suppressed
        if each.new and not any(_announces(told, each) for told in news)
    ]


def _announces(told: Finding, answered: Suppressed) -> bool:
    """Return whether a finding is about the comment that answers another one: on its lines or just above."""
    found = answered.finding
    ends = [line for line in (found.line, found.end_line) if line is not None]
    lines = {near for line in ends for near in (line - 1, line)}
    same_file = (told.path, told.commit) == (found.path, found.commit)
    return same_file and told.line in lines and answered.reason in told.message


def verdict(review: Review) -> str:
    """Return the verdict in one or two words, for the closing line."""
    if review.decision is Decision.ALLOW:
        return "allowed"
    if review.decision is Decision.REVIEW:
        return SCALE[Disposition.REVIEW]
    has_finding = review.sort_findings(Disposition.DENY)
    return SCALE[Disposition.DENY] if has_finding else "denied"


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
    told = {each.finding.fingerprint for each in review.findings} & review.told
    if told:
        found += f" ({len(told)} shown at the commit)"
    earlier = [
        ANSWERED.get(each.by, printable(each.by))
        for each in review.suppressed
        if not each.new
    ]
    ends = (
        f", {len(earlier)} not shown ({', '.join(sorted(set(earlier)))})" if earlier else ""
    )
    # Nothing is known of what was not read.
    unread = "not everything was read" if any(each.asks for each in review.skipped) else ""
    said = (
        f", {found or unread or 'nothing to report'}"
        if found or unread or review.reviewed or not (review.files or review.nothing)
        else ""
    )
    known = f" ({count(review.examples, 'known example key')})" if review.examples else ""
    return (f"{coverage(review)}{said}{known}{ends}",)


def _after_deny(review: Review) -> tuple[str, ...]:
    denied = [judged.finding for judged in review.sort_findings(Disposition.DENY)]
    if not denied:
        return (_reason(review) or "policy does not allow it",)
    found = count(len(denied), "finding")
    them = "it" if len(denied) == 1 else "them"
    stop = "stops" if len(denied) == 1 else "stop"
    # A scan finds what is recorded already: nothing waits for it.
    must = f"{found} here" if review.event == "scan" else f"{found} {stop} this"
    must = f"{must}; fix {them}"
    how, lines = _ways_out(review, denied, them)
    if event_of(review.event).request == MESSAGE:
        change = "write another message and commit with the same options; yours is kept"
        return (change, _resume(review), *([f"or {how}:"] if lines else []), *lines)
    if all(each.category is Category.MESSAGE for each in denied):
        must += " by `git rebase -i` (reword)"
    return (f"{must}, or {how}" if lines else must, *lines)


def _ways_out(
    review: Review, denied: Sequence[Finding], them: str
) -> tuple[str, tuple[str, ...]]:
    """Return how denied findings are left as they are, and the lines to type or paste for that."""
    # A message is answered by another message: an entry for one would stand for all.
    answerable = [e for e in denied if e.path and e.rule not in UNANSWERABLE]
    if not answerable:
        checks = any(found.rule == CHECK_FAILED for found in denied)
        return "push once without the checks", (PUSH_UNCHECKED,) if checks else ()
    if not is_kept(review):
        # `ignore` knows the findings of a run that was recorded.
        return f"explain {them} in cli-guard.toml", _entries(answerable)
    lines = list(
        dict.fromkeys(ignore_command(found, review.program) for found in answerable)
    )
    if len(lines) > MOST_COMMANDS:
        more = len(lines) - MOST_COMMANDS + 1
        lines = lines[: MOST_COMMANDS - 1]
        lines.append(f"{printable(review.program)} ignore   # lists {more} more")
    return f"ignore {them} for an approved reason", tuple(lines)


def is_kept(review: Review) -> bool:
    """Return whether a review is the last report from then on."""
    known = review.event in BY_NAME and event_of(review.event).caller != SERVER
    return known and not (review.only or review.binding)


def ignore_command(found: Finding, program: str = "cli-guard") -> str:
    """Return the command that ignores a finding."""
    place = found.path
    if place and found.line is not None and not found.commit:
        place += f":{found.line}"
    words = f"ignore {found.rule}"
    if place:
        words += f" {shlex.quote(place)}"
    return printable(f'{program} {words} --reason "..."')


def _entries(denied: Sequence[Finding]) -> tuple[str, ...]:
    """Return the lines of an `[[ignore]]` for each of some findings."""
    lines: list[str] = []
    for found in list({each.fingerprint: each for each in denied}.values())[:MOST_COMMANDS]:
        quoted = json.dumps(path_of(found.path), ensure_ascii=False)
        lines += ["[[ignore]]", f'rule = "{printable(found.rule)}"', f"path = {quoted}"]
        lines += [f'fingerprint = "{printable(found.fingerprint)}"', 'reason = "..."']
    return tuple(lines)


def _resume(review: Review) -> str:
    """Return the command that commits with the message that a stopped commit leaves."""
    return f"git commit -eF {printable(shlex.quote(review.message_file))}"


def _after_review(review: Review) -> tuple[str, ...]:
    number = len(review.sort_findings(Disposition.REVIEW))
    reason = _reason(review) or f"{count(number, 'finding')} to approve"
    event = event_of(review.event)
    if review.event in APPROVED_AS:
        return (f"{reason}; to approve it, {APPROVED_AS[review.event]}",)
    if not review.review_id:
        return (reason,)
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
