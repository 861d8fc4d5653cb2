"""Store the result of a review: the audit entry, the last report, the pending review."""

import datetime
import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from cli_guard.approvals.counting import RecordedContent, join_identity
from cli_guard.errors import CliGuardError
from cli_guard.hooks import MESSAGE, event_of
from cli_guard.model import (
    Decision,
    Disposition,
    Finding,
    JudgedFinding,
    Status,
    Suppressed,
)
from cli_guard.repository.protocol import History
from cli_guard.review.load import bound_text
from cli_guard.review.render import as_json
from cli_guard.review.render.review import Review
from cli_guard.review.render.words import count
from cli_guard.review.request import Message, Push, Staged
from cli_guard.runtime import read_plain
from cli_guard.secrets.redact import redact
from cli_guard.state.audit import entry
from cli_guard.state.files import read_state
from cli_guard.state.records import PendingReview, Records

if TYPE_CHECKING:
    from cli_guard.graph.run import Pause
    from cli_guard.policy.decisions import Policy
    from cli_guard.review.load import Gathered
    from cli_guard.runtime import Invocation

# The findings of an entry that are listed in it; the others are only counted.
MOST_LISTED = 1_000
MOST_BASES = 20
MOST_INDEX_BYTES = 200_000_000


def record_review(
    review: Review,
    pause: "Pause | None",
    waits: "PendingReview | None",
    gathered: "Gathered",
    records: Records,
    invocation: "Invocation",
) -> Review:
    """Record a review, and what `waits` for an approval.

    Return the review, with a note if that failed (a read-only or full disk).
    """
    try:
        records.prepare()
        if pause and waits:
            pause.keep(records.checkpoint(waits.id))
            dropped = records.add_pending(waits, *reviewed_bytes(gathered, invocation))
            review = replace(review, notes=(*review.notes, *dropped))
        records.audit.append(audit_entry(review, gathered, invocation))
        remember_reasons(review, records)
        review = replace(review, notes=(*review.notes, *remind(gathered, records)))
        is_clean = review.is_silent
        review = with_change(review, gathered, records)
        # A clean message must not overwrite the report of the change that it belongs to.
        if not is_clean:
            kept = replace(review, blobs=blobs_of(review, gathered))
            records.keep_report(as_json.render(kept, indent=None))
    except (OSError, sqlite3.Error) as error:
        note = records.not_recorded(error, waits=review.decision is Decision.REVIEW)
        return replace(review, review_id=None, notes=(*review.notes, note), left="")
    return review


def blobs_of(review: Review, gathered: "Gathered") -> dict[str, str]:
    """Return the contents of the files with findings, by path, as a later command looks up their lines."""
    paths = {judged.finding.path for judged in review.findings}
    own = {each.path: each.new_blob for each in gathered.subject.changes}
    known = {**review.blobs, **{path: blob for path, blob in own.items() if blob}}
    return {path: blob for path, blob in known.items() if path in paths}


def was_allowed(gathered: "Gathered", records: Records) -> bool:
    """Return whether a hook before commit-msg has lately allowed the change that the message comes with.

    Any program of the user can write the log: it only saves the same review once more.
    """
    changes = gathered.subject.changes
    message = gathered.subject.message
    if not changes.files and not changes.skipped:
        return True
    allowed = (
        str(each.get("content"))
        for each in records.audit.recent()
        if event_of(each.get("event")).is_before_commit
        and each.get("decision") == Decision.ALLOW
    )
    text = message.text if message else ""
    return any(join_identity(content, text) == changes.identity for content in allowed)


def with_change(review: Review, gathered: "Gathered", records: Records) -> Review:
    """Return the review of a message with what the hook before it left about the same change."""
    message = gathered.subject.message
    if event_of(review.event).request != MESSAGE or message is None:
        return review
    try:
        _, left = as_json.read_report(read_state(records.report).decode("utf-8"))
        if join_identity(left.left, message.text) != gathered.subject.changes.identity:
            return review
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return review
    # Any program of the user can write the file: what it says is advice, and decides nothing.
    return replace(
        review,
        event=left.event if review.is_silent else review.event,
        findings=review.findings
        + tuple(e for e in left.findings if e.disposition is Disposition.ADVISE),
        suppressed=left.suppressed + review.suppressed,
        skipped=tuple(dict.fromkeys((*left.skipped, *review.skipped))),
        notes=tuple(dict.fromkeys((*left.notes, *review.notes))),
        blobs=left.blobs,
        files=left.files,
        reviewed=left.reviewed,
        secrets_only=left.secrets_only,
        examples=left.examples,
    )


def remind(gathered: "Gathered", records: Records) -> tuple[str, ...]:
    """Return the line about unseen questions on the previous commit, whose lines this one does not change."""
    # Most repositories have none: nothing more than this is done or loaded for them.
    if (
        not event_of(gathered.subject.event).is_before_commit
        or not (records.folder / "advice/latest.json").exists()
    ):
        return ()
    from cli_guard.state.advice import AdviceStore

    advice = AdviceStore(records.folder).read("latest")
    if advice is None or advice.commit != gathered.base:
        return ()
    changes = gathered.subject.changes
    removed = {
        (c.status is Status.RENAMED and c.old_path) or c.path: c.removed for c in changes
    }
    number = sum(each.line not in removed.get(each.path, ()) for each in advice.questions)
    return (
        (f"{count(number, 'question')} on {advice.commit[:7]}: cli-guard last",)
        if number
        else ()
    )


def remember_reasons(review: Review, records: Records) -> None:
    """Keep the reasons of the suppressions that this change adds, for the run tool's `memory`."""
    added = [each for each in review.suppressed if each.new and each.reason]
    if not added:
        return
    from cli_guard.state.memory import Memory

    with suppress(CliGuardError):
        for each in added:
            found = each.finding
            text = f"{found.rule} at {found.path}:{found.line} is ignored: {each.reason}"
            Memory(records.folder).keep(text, "reason", f"suppression {found.fingerprint}")


def pending_review(
    review: Review, gathered: "Gathered", invocation: "Invocation"
) -> PendingReview:
    """Build what is kept beside the checkpoint, which has the findings."""
    subject = gathered.subject
    history = gathered.subject.history
    push = gathered.request if isinstance(gathered.request, Push) else None
    asked = [judged.finding for judged in review.sort_findings(Disposition.REVIEW)]
    blobs, lines = shown_contents(gathered, asked)
    assert review.review_id  # noqa: S101 - only a review with an id is pending
    return PendingReview(
        id=review.review_id,
        event=review.event,
        at=invocation.now.isoformat(timespec="seconds"),
        reason=review.review_reason or "",
        content=subject.changes.identity,
        policy=gathered.policy.identity,
        shared=gathered.policy.shared_identity,
        fingerprints=tuple(each.fingerprint for each in asked),
        findings=(),
        root=gathered.place,
        base=gathered.base or "",
        remote=push.remote if push else "",
        partial=push.plan.partial or "" if push else "",
        blobs=blobs,
        lines=lines,
        bound=bound_text(history.ids, subject.pushed)
        if isinstance(history, History)
        else "",
    )


def reviewed_bytes(
    gathered: "Gathered", invocation: "Invocation"
) -> tuple[bytes | None, bytes | None]:
    """Return the index and the message of a commit that is not recorded yet, as far as they can be kept."""
    request = gathered.request
    if not isinstance(request, Staged | Message):
        return None, None
    # Git names a relative one from the top of the work tree, where it runs its hooks.
    path = invocation.cwd / (
        invocation.env.get("GIT_INDEX_FILE") or f"{gathered.place}/index"
    )
    index = None
    with suppress(OSError):
        if path.stat().st_size <= MOST_INDEX_BYTES:
            index = read_plain(path, follow=True)
    return index, request.raw if isinstance(request, Message) else None


def shown_contents(
    gathered: "Gathered", asked: Iterable[Finding]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the contents of the files with findings by path, and the lines that each is shown with by fingerprint."""
    subject = gathered.subject
    whole = RecordedContent.of(subject.changes, subject.message)
    wanted = {each.commit for each in asked if each.commit}
    # Few commits have findings: the others are not read once more.
    commits = {
        each.commit or "": RecordedContent.of(each)
        for each in ((*subject.history, *subject.elsewhere) if wanted else ())
        if each.commit in wanted
    }
    blobs: dict[str, str] = {}
    lines: dict[str, str] = {}
    for each in asked:
        content = commits.get(each.commit or "", whole)
        # A paused graph keeps no name that is not UTF-8.
        names = {path.encode("utf-8", "replace").decode(): path for path in content.blobs}
        path = names.get(each.path, each.path)
        if blob := content.blobs.get(path):
            blobs[each.path] = blob
        lines[each.fingerprint] = content.lines_of(replace(each, path=path))
    return blobs, {mark: shown for mark, shown in lines.items() if shown}


def audit_entry(
    review: Review, gathered: "Gathered", invocation: "Invocation"
) -> dict[str, object]:
    """Build the audit entry of a review: what was reviewed by which policy, and how it ended."""
    history = gathered.subject.history
    refs = [each.update.remote_ref for each in gathered.subject.pushed]
    head = (
        history.ids[-1]
        if isinstance(history, History) and history.ids
        else gathered.subject.changes.commit
    )
    pushed = gathered.subject.pushed
    bases = [*dict.fromkeys(base for ref in pushed for base in ref.bases)] or [
        gathered.base or ""
    ]
    # Only a whole review of known commits says which of them were reviewed.
    others = any(ref.vouched or ref.published for ref in pushed)
    whole = head and len(bases) <= MOST_BASES and not others
    kind = event_of(review.event).place
    place = f"{kind}{tree_of(gathered)} {gathered.base or ''}{redact(' '.join(refs))}"
    author = invocation.author
    # What is recorded stays there, and a part lacks what others find.
    is_place = kind and not review.part and (refs or not head)
    return entry(
        review.event,
        invocation,
        decision=str(review.decision),
        status=review.status,
        review_id=review.review_id,
        content=gathered.subject.changes.identity,
        policy=gathered.policy.identity,
        files=review.files,
        rules=dict(sorted(Counter(j.finding.rule for j in review.findings).items())),
        fingerprints=sorted(j.finding.fingerprint for j in review.findings),
        found=list_findings(review, gathered.policy, invocation.now.date()),
        suppressed=len(review.suppressed),
        not_reviewed=len(review.skipped),
        ms=round(sum(review.timings_ms.values())),
        place=place if is_place else "",
        **({"author": redact(author)} if author else {}),
        **({"head": head} if head else {}),
        **({"bases": bases} if whole else {}),
        **({"part": review.part} if review.part else {}),
        **checks_of(review),
    )


def tree_of(gathered: "Gathered") -> str:
    """Return the mark of a linked work tree, "" for the main one: two of them may start from one commit."""
    folder, _, name = gathered.place.rpartition("/worktrees/")
    return f"@{redact(name).replace(' ', '-')}" if folder else ""


def list_findings(
    review: Review, policy: "Policy", today: datetime.date
) -> list[dict[str, object]]:
    """Return the worst MOST_LISTED findings for `report.lives`: line by fingerprint, alike ones in a group."""
    groups: dict[tuple[str, ...], dict[str, int | None]] = {}
    listed: tuple[JudgedFinding | Suppressed, ...] = (
        *review.sort_findings(),
        *review.suppressed,
    )
    for each in listed[:MOST_LISTED]:
        found = each.finding
        by = each.by if isinstance(each, Suppressed) else ""
        ignore = policy.ignore_for(found, today) if by == "config" else None
        until = str(ignore.expires or "") if ignore else ""
        decision = policy.disposition(found)
        place = (
            found.rule,
            found.severity,
            decision,
            found.path,
            found.commit or "",
            by,
            until,
        )
        groups.setdefault(place, {})[found.fingerprint] = found.line
    names = ("rule", "severity", "decision", "path", "commit", "by", "until")
    named = (
        {name: value for name, value in zip(names, each, strict=True) if value}
        for each in groups
    )
    return [
        name | {"lines": lines} for name, lines in zip(named, groups.values(), strict=True)
    ]


def checks_of(review: Review) -> dict[str, object]:
    """Return the outcomes of the checks that ran, by id."""
    ran: dict[str, object] = {}
    for result in review.tool_results:
        listed = result.get("checks")
        ran |= {
            str(each["id"]): each["outcome"]
            for each in (listed if isinstance(listed, list) else ())
        }
    return {"checks": ran} if ran else {}
