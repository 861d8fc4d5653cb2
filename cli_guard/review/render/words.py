"""Phrases shared by the formats for people: where a finding is, what happened, what to do next."""

from cli_guard.model import Category, Decision, Disposition, Finding
from cli_guard.review.render.review import Review
from cli_guard.secrets.printable import clip, printable

PATH_LENGTH = 240
SHOWN = (Disposition.DENY, Disposition.REVIEW, Disposition.ADVISE)


def path_of(path: str) -> str:
    """Format a path: printable and bounded."""
    return clip(printable(path), PATH_LENGTH)


def where(finding: Finding) -> str:
    """Format the place of a finding: `src/app.py:12`, `commit message`, `src/app.py:12 in 1a2b3c4d5e`."""
    place = path_of(finding.path)
    if place and finding.line is not None:
        place += f":{finding.line}"
    commit = printable(finding.commit or "")[:10]
    if place:
        return f"{place} in {commit}" if commit else place
    if finding.category is Category.MESSAGE:
        return f"message of {commit}" if commit else "commit message"
    if commit:
        return f"commit {commit}"
    if finding.rule.startswith("push-check-"):
        return "check"
    return "push" if finding.rule.startswith("push-") else "change"


def count(number: int, one: str) -> str:
    """`1 file`, `3 files`."""
    return f"{number} {one if number == 1 else one + 's'}"


def coverage(review: Review) -> str:
    """`3 files reviewed (1 for secrets only: PHP)`, `3 of 5 files reviewed`, `nothing to review`."""
    if not review.files:
        reason = f": {printable(review.review_reason)}" if review.review_reason else ""
        return f"nothing to review{reason}"
    if review.reviewed == review.files:
        return f"{count(review.files, 'file')} reviewed{_secrets_only(review)}"
    return f"{review.reviewed} of {count(review.files, 'file')} reviewed{_secrets_only(review)}"


def _secrets_only(review: Review) -> str:
    """Format the files in languages that no other reviewer reads: ` (3 for secrets only: PHP, Ruby, C)`."""
    languages = ", ".join(dict.fromkeys(review.secrets_only))
    return f" ({len(review.secrets_only)} for secrets only: {languages})" if languages else ""


def tally(review: Review) -> str:
    """Format `1 to fix, 2 to review, 4 remarks`; empty if there is nothing."""
    return ", ".join(
        tally_of(disposition, review) for disposition in SHOWN if review.sort_findings(disposition)
    )


def tally_of(disposition: Disposition, review: Review) -> str:
    """Format the count of one disposition: `2 to review`."""
    number = len(review.sort_findings(disposition))
    if disposition is Disposition.ADVISE:
        return count(number, "remark")
    return f"{number} {'to fix' if disposition is Disposition.DENY else 'to review'}"


def skipped_line(review: Review, shown: int) -> str:
    """Format `not reviewed: logo.png (binary), and 7 more`; empty if everything was reviewed."""
    if not review.skipped:
        return ""
    names = [f"{path_of(each.path)} ({clip(printable(each.reason), 80)})" for each in review.skipped[:shown]]
    more = len(review.skipped) - len(names)
    return "not reviewed: " + ", ".join(names) + (f", and {more} more" if more else "")


def verdict(review: Review) -> str:
    """Return the verdict in one or two words, for the closing line."""
    names = {Decision.DENY: "denied", Decision.REVIEW: "needs review", Decision.ALLOW: "allowed"}
    return names[review.decision]


def next_steps(review: Review) -> tuple[str, ...]:
    """Return the closing sentence and, if the user must act, the lines that say how."""
    if review.decision is Decision.DENY:
        return _after_deny(review)
    if review.decision is Decision.REVIEW:
        return _after_review(review)
    found = tally(review)
    if found or review.reviewed:
        return (f"{coverage(review)}, {found or 'nothing to report'}",)
    # Nothing is known of what was not read.
    return (coverage(review),)


def _after_deny(review: Review) -> tuple[str, ...]:
    denied = [judged.finding for judged in review.sort_findings(Disposition.DENY)]
    if not denied:
        return (_reason(review) or "policy does not allow it",)
    must = f"{count(len(denied), 'finding')} must be fixed"
    if all(found.category is Category.MESSAGE for found in denied):
        if review.event == "commit-msg":
            file = '"$(git rev-parse --git-path COMMIT_EDITMSG)"'
            return ("the message must be changed. It is not lost; edit it with", f"git commit -e -F {file}")
        return (f"{must}: change the messages", "git rebase -i (reword)")
    rules = {found.rule if found.path and not found.commit else "" for found in denied}
    if rules == {""}:
        return (f"{must}, or answered with a reason under [[ignore]] in cli-guard.toml",)
    rule = printable(rules.pop()) if len(rules) == 1 else "RULE"
    return (f"{must}, or answered in the code with", f"cli-guard: ignore[{rule}] reason")


def _after_review(review: Review) -> tuple[str, ...]:
    number = len(review.sort_findings(Disposition.REVIEW))
    reason = _reason(review) or f"{count(number, 'finding')} to approve"
    if not review.review_id:
        return (reason,)
    again = {"pre-push": "then push again"}.get(review.event, "then commit again" if _is_hook(review) else "")
    command = f"{printable(review.program)} approve {printable(review.review_id)}"
    return (reason, command, again) if again else (reason, command)


def _is_hook(review: Review) -> bool:
    return review.event in ("pre-commit", "pre-merge-commit", "commit-msg")


def _reason(review: Review) -> str:
    if review.review_reason:
        return clip(printable(review.review_reason), 300)
    reasons = (action.get("reason") for action in review.blocked_actions)
    return next(
        (clip(printable(reason), 300) for reason in reasons if isinstance(reason, str) and reason), ""
    )
