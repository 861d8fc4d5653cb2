"""Build findings that show both states: the lines that went with `-`, what stands there now with `+`."""

from collections.abc import Iterator, Sequence

from cli_guard.code.changes.facts import CodeFact
from cli_guard.model import FileChange, Finding, Hunk, fingerprint
from cli_guard.reviewers.protections.families import GROUP, PREFIX
from cli_guard.reviewers.protections.losses import Loss, hunk_of
from cli_guard.reviewers.protections.weakenings import Weakening
from cli_guard.rules import catalog

SHOWN_LINES = 6
SHOWN_CHARS = 120
MOST_PER_RULE = 20


def findings_of(losses: Sequence[Loss], weakenings: Sequence[Weakening]) -> list[Finding]:
    """Return one finding for each place, by path and line: of several that of the first rule of the list."""
    order = {rule: number for number, rule in enumerate(catalog.by_id(GROUP))}
    every = [*map(finding_of_loss, losses), *map(finding_of_weakening, weakenings)]
    found: dict[tuple[str, int], Finding] = {}
    for finding in sorted(every, key=lambda each: order[each.rule]):
        found.setdefault((finding.path, finding.line or 0), finding)
    return sorted(found.values(), key=lambda each: (each.path, each.line or 0, each.rule))


def finding_of_loss(loss: Loss) -> Finding:
    rule = catalog.one(GROUP, f"{PREFIX}{loss.family}")
    change = loss.file.change
    line, hunk = place_now(change, loss.fact)
    return rule.finding(
        path=change.path,
        line=line,
        message=f"{name_of(loss.fact)} is gone: {rule.extra['message']}",
        evidence="\n".join(shown(hunk, loss.fact)) if hunk else "",
        fingerprint=fingerprint(rule.id, change.path, loss.fact.text),
    )


def finding_of_weakening(weakening: Weakening) -> Finding:
    looser = weakening.looser
    rule = catalog.one(GROUP, f"{PREFIX}weaker-{looser.sort}")
    change = weakening.file.change
    line, hunk = place_now(change, looser.old)
    return rule.finding(
        path=change.path,
        line=line,
        message=f"{looser.why}: {rule.extra['message']}",
        evidence="\n".join(shown(hunk, looser.old)) if hunk else "",
        fingerprint=fingerprint(rule.id, change.path, looser.old.text),
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
