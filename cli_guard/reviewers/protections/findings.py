"""Build findings that show both states: the lines that went with `-`, what stands there now with `+`."""

from collections.abc import Iterator, Sequence

from cli_guard.code.changes.difference import ChangeDifference, FileDifference
from cli_guard.code.changes.facts import CodeFact
from cli_guard.model import FileChange, Finding, Hunk, Severity, fingerprint
from cli_guard.reviewers.protections.asking import reason_to_ask
from cli_guard.reviewers.protections.families import GROUP, PREFIX
from cli_guard.reviewers.protections.losses import Loss, hunk_of
from cli_guard.reviewers.protections.warnings import warned_in
from cli_guard.reviewers.protections.weakenings import Weakening
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule

SHOWN_LINES = 6
SHOWN_CHARS = 120
SORTS = {"output": "escape"}
Warned = tuple[CodeFact, FileDifference]


def findings_of(
    subject: ReviewInput,
    difference: ChangeDifference,
    losses: Sequence[Loss],
    weakenings: Sequence[Weakening],
    warned: Sequence[Warned],
) -> list[Finding]:
    """Return one finding for each place, by path and line: of several that of the first rule of the list."""
    order = {rule: number for number, rule in enumerate(catalog.by_id(GROUP))}
    every = [finding_of_loss(loss, subject, difference) for loss in losses]
    every += map(finding_of_weakening, weakenings)
    every += [finding_of_warning(fact, file) for fact, file in warned]
    found: dict[tuple[str, int], Finding] = {}
    for finding in sorted(every, key=lambda each: order[each.rule]):
        found.setdefault((finding.path, finding.line or 0), finding)
    return sorted(found.values(), key=lambda each: (each.path, each.line or 0, each.rule))


def finding_of_loss(
    loss: Loss, subject: ReviewInput, difference: ChangeDifference
) -> Finding:
    """Return the finding of a loss; it asks where a warning went, others still check, or data comes from outside."""
    rule = catalog.one(GROUP, f"{PREFIX}{loss.family}")
    why = f"{name_of(loss.fact)} is gone: {rule.extra['message']}"
    reason = reason_to_ask(loss, subject, difference)
    if reason:
        why = f"{why}; {reason}"
    return finding_at(rule, loss.fact, loss.file, why, asks=reason is not None)


def finding_of_weakening(weakening: Weakening) -> Finding:
    looser = weakening.looser
    rule = catalog.one(GROUP, f"{PREFIX}{SORTS.get(looser.sort, f'weaker-{looser.sort}')}")
    why = f"{looser.why}: {rule.extra['message']}"
    return finding_at(rule, looser.old, weakening.file, why)


def finding_of_warning(fact: CodeFact, file: FileDifference) -> Finding:
    rule = catalog.one(GROUP, f"{PREFIX}warned")
    return finding_at(rule, fact, file, rule.extra["message"])


def finding_at(
    rule: Rule, fact: CodeFact, file: FileDifference, message: str, *, asks: bool = False
) -> Finding:
    change = file.change
    line, hunk = place_now(change, fact)
    asks = asks or (hunk is not None and warned_in(file, hunk))
    return rule.finding(
        path=change.path,
        line=line,
        message=message,
        severity=Severity.HIGH if asks else rule.severity,
        evidence="\n".join(shown(hunk, fact)) if hunk else "",
        fingerprint=fingerprint(rule.id, change.path, fact.text),
    )


def name_of(fact: CodeFact) -> str:
    """Return a short name of a fact for a sentence."""
    text = fact.name if len(fact.name) <= 60 else f"{fact.name[:57]}..."
    return f"`{text}`"


def place_now(change: FileChange, fact: CodeFact) -> tuple[int, Hunk | None]:
    """Return the line after the change where a removed fact stood, and the hunk that removed it."""
    found = hunk_of(change, fact)
    if found is None:
        return 1, None
    if found.added:
        return max(found.new_start, 1), found
    earlier = change.hunks[: change.hunks.index(found)]
    shift = sum(len(hunk.added) - len(hunk.removed) for hunk in earlier)
    return max(found.old_start + shift, 1), found


def shown(hunk: Hunk, fact: CodeFact) -> Iterator[str]:
    """Yield the lines of the hunk that the fact stood on, and what stands there now."""
    start = max(fact.line - hunk.old_start, 0)
    for line in hunk.removed[start : start + SHOWN_LINES]:
        yield f"- {line.strip()[:SHOWN_CHARS]}"
    for line in hunk.added[:SHOWN_LINES]:
        yield f"+ {line.strip()[:SHOWN_CHARS]}"
