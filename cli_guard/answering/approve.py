"""Answer a pending review: find it by its id, approve or reject it, and write that to the audit log.

The caller makes sure that a person answered. What is approved here is a change that Git may record; a request
of the assistant is approved in `cli_guard.assistant.approve`.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from cli_guard.answering.signing import lines_shown, store_signed
from cli_guard.approvals.counting import review_id
from cli_guard.approvals.statements import APPROVE, Signed, Statement
from cli_guard.approvals.storage import StateFolder
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.hooks import MESSAGE, PUSH, event_of
from cli_guard.model import Disposition
from cli_guard.repository.protocol import Repository, as_lines
from cli_guard.review.render.words import EVIDENCE_LINES, where
from cli_guard.review.request import Staged
from cli_guard.runtime import Invocation
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact
from cli_guard.state.audit import entry
from cli_guard.state.files import lock
from cli_guard.state.records import ASKED, PENDING_DAYS, PendingReview, Records

if TYPE_CHECKING:
    from cli_guard.graph.context import Context
    from cli_guard.graph.state import State
    from cli_guard.model import Action, Finding


def find_pending(records: Records, prefix: str, invocation: Invocation) -> PendingReview:
    """Return the pending review whose id begins with `prefix`. Raises UsageError for none, several or an old one."""
    found = (
        [review for review in records.pending() if review.id.startswith(prefix)]
        if prefix
        else []
    )
    if len(found) == 1:
        if found[0].has_expired(invocation.now):
            raise UsageError(
                f"review {found[0].id} is older than {PENDING_DAYS} days: {found[0].how_to_ask}"
            )
        bound = (found[0].content, found[0].policy, found[0].fingerprints)
        if found[0].event != ASKED and review_id(*bound) != found[0].id:
            raise UsageError(
                f"review {found[0].id} does not match its id: run the commit or push again"
            )
        return found[0]
    if found:
        raise UsageError(f"{prefix} matches {len(found)} reviews: give more of the id")
    answered = records.audit.events(APPROVE) if prefix else ()
    if any(
        "statement" in each and str(each.get("review_id")).startswith(prefix)
        for each in answered
    ):
        raise UsageError(
            f"review {prefix} is already approved: run the commit or push again"
        )
    raise UsageError(
        f"no pending review matches {prefix!r}; list them with `cli-guard pending`"
    )


def bound_findings(records: Records, review: PendingReview) -> "tuple[Finding, ...]":
    """Return the findings that the id of a review is bound to, from its checkpoint. Raises UsageError."""
    from cli_guard.graph.run import waiting_state

    state = waiting_state(records.checkpoint(review.id))
    found = [
        each["finding"]
        for each in state["judged"]
        if each["decision"] == str(Disposition.REVIEW)
    ]
    if (
        review_id(review.content, review.policy, [each.fingerprint for each in found])
        != review.id
    ):
        raise UsageError(
            f"review {review.id} is not what was reviewed: run the commit or push again"
        )
    return tuple(found)


def check_is_same(review: PendingReview, fresh: PendingReview | None) -> PendingReview:
    """Return what was reviewed once more in place of a pending review. Raises UsageError if it is something else.

    What is kept of it lies in files that any program of the user can write: a person must read, and sign, what is true
    now.
    """
    if fresh is None or fresh.id != review.id:
        again = "push" if event_of(review.event).request == PUSH else "commit"
        raise UsageError(
            f"review {review.id} is outdated, as what it starts from, its policy or its findings have changed:"
            f" {again} again, and approve the new one"
        )
    return fresh


def line_of(finding: "Finding") -> str:
    """Return a finding in one line for a person who approves it."""
    return printable(redact(f"{where(finding)}: {finding.message} [{finding.rule}]"))


def lines_with_code(findings: "Iterable[Finding]") -> "Iterator[str]":
    """Yield each finding in one line, and the code that it is about."""
    for each in findings:
        yield line_of(each)
        code = each.evidence.strip("\n").splitlines()[:EVIDENCE_LINES]
        yield from (f"    | {redact(line)}" for line in code)


def lines_of(records: Records, review: PendingReview) -> tuple[str, ...]:
    """Return what a pending review asks about, in lines. Raises UsageError."""
    return (
        review.findings
        if review.event == ASKED
        else tuple(map(line_of, bound_findings(records, review)))
    )


def commits_of(repository: Repository, review: PendingReview) -> list[str]:
    """Return the last ten commits that a pending review of a push is bound to, each with its subject."""
    # Any program can write the file: nothing of it may be read as an option.
    ids = re.findall(r"\b[0-9a-f]{40,64}\b", review.bound.partition("]")[0])
    if event_of(review.event).request != PUSH or not ids:
        return []
    listed = repository.git.optional(
        "log", "--no-walk=unsorted", "--format=commit %h %s", *ids[-10:], "--"
    )
    return [printable(redact(line)) for line in (listed or "").splitlines()]


def bound_diff(
    repository: Repository, review: PendingReview, invocation: Invocation
) -> str:
    """Return the diff that a review is bound to, without secrets. Raises UsageError if it is no longer there."""
    from cli_guard.review.load import gather

    options = ("-p", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--root")
    if review.bound:
        own = (
            hashlib.sha256(review.bound.encode("utf-8", "surrogateescape")).hexdigest()
            == review.content
        )
        if not own:
            raise UsageError(
                f"review {review.id} is not what was reviewed: run the push again"
            )
        commits = as_lines(json.loads(review.bound)[0])
        raw = repository.git.run(
            "diff-tree", "--stdin", "-m", "--pretty=medium", *options, stdin=commits
        )
        return redact(raw.decode("utf-8", "replace"))
    with gather(Staged(review.event), repository, invocation) as gathered:
        staged = gathered.subject.changes.identity
    if event_of(review.event).request != MESSAGE and staged != review.content:
        raise UsageError(
            f"review {review.id} is outdated, as what it starts from has changed: commit again"
        )
    base = repository.tree_of(repository.head)
    raw = repository.git.run("diff-index", "--cached", *options[:-1], base)
    return redact(raw.decode("utf-8", "replace"))


def approve_change(
    repository: Repository,
    review: PendingReview,
    findings: "Sequence[Finding]",
    invocation: Invocation,
    reason: str,
    signed: Signed | None = None,
) -> bool:
    """Approve some or all findings of a change, at this terminal or with a signature; return whether those are all.

    Raises UsageError if it was answered meanwhile or does not fit any more, CliGuardError, OSError if the approval
    cannot be written; then it is still pending.
    """
    records = Records(repository.state_folder)
    reason = redact(reason)
    # The same line may be found on several ways.
    marks = tuple(dict.fromkeys(each.fingerprint for each in findings))
    whole = set(marks) == set(review.fingerprints)
    # Two concurrent answers would both find the review pending.
    with lock(records.folder / "answers"):
        check_still_pending(records, review)
        if whole:
            resume(records, review, invocation, reason)
        if signed:
            store_signed(repository, signed)
        else:
            paths = {each.path for each in findings}
            made = Statement(
                content=review.content,
                policy=review.policy,
                findings={each.fingerprint: each.rule for each in findings},
                lines=lines_shown(review, findings),
                blobs={p: blob for p, blob in review.blobs.items() if p in paths},
                parent=review.base,
                principal=invocation.user,
                at=invocation.now.isoformat(timespec="seconds"),
                reason=reason,
                repository=(),
            )
            signed = Signed(made, made.canonical(), "")
            StateFolder(records).add(signed.line())
        rules = sorted({each.rule for each in findings})
        about = signed.audit_details()
        about["author"] = author_of(repository)
        record_approval(
            records, review, invocation, reason, marks, approved_rules=rules, **about
        )
    return whole


def record_approval(
    records: Records,
    review: PendingReview,
    invocation: Invocation,
    reason: str,
    marks: Sequence[str] | None = None,
    **details: object,
) -> None:
    """Write an approval to the audit log, and take its review off the list if that was all of it. Raises OSError."""
    given = set(review.fingerprints if marks is None else marks)
    records.audit.append(
        entry(
            "approve",
            invocation,
            review_id=review.id,
            content=review.content,
            policy=review.policy,
            fingerprints=sorted(given),
            reason=reason,
            **details,
        )
    )
    if given == set(review.fingerprints):
        records.remove_pending(review.id)


def reject(
    repository: Repository, review: PendingReview, invocation: Invocation, reason: str
) -> None:
    """Reject a review: nothing is done, and it is no longer pending. Raises OSError."""
    from cli_guard.graph.run import resume_review

    records = Records(repository.state_folder)
    reason = redact(reason)
    # A broken or locked checkpoint must not keep the review.
    with suppress(UsageError):
        resume_review(
            records.checkpoint(review.id), by=invocation.user, reason=reason, approved=False
        )
    about = {"review_id": review.id, "reason": reason, "author": author_of(repository)}
    records.audit.append(entry("reject", invocation, **about))
    records.remove_pending(review.id)


def author_of(repository: Repository) -> str:
    """Return the name and mail with which Git would commit here, "" if it has none."""
    found = repository.git.optional("var", "GIT_AUTHOR_IDENT") or ""
    ident, closed, _ = found.partition("> ")
    return redact(ident + ">") if closed else ""


def check_still_pending(records: Records, review: PendingReview) -> None:
    """Raise UsageError for a review that was answered meanwhile."""
    if all(each.id != review.id for each in records.pending()):
        raise UsageError(
            f"review {review.id} is no longer pending: it was already answered"
        )


def resume(
    records: Records,
    review: PendingReview,
    invocation: Invocation,
    reason: str,
    context: "Context | None" = None,
    requests: "list[Action] | None" = None,
) -> "State":
    """Resume the graph of an approved review and run it to its end. Raises UsageError, CliGuardError."""
    from cli_guard.graph.context import Context
    from cli_guard.graph.run import resume_review

    path = records.checkpoint(review.id)
    # Git records a reviewed change itself: what is left to run needs nothing of it.
    context = context or Context(snapshot={})
    state = resume_review(
        path, by=invocation.user, reason=reason, context=context, requests=requests
    )
    # A command that failed was run, so the review is answered; one that did not run leaves it pending.
    if state["status"] != "ok" and all(
        each["tool"] != "run_command" for each in state["tool_results"]
    ):
        raise CliGuardError(
            f"review {review.id} could not be resumed: {state['review_reason']}"
        )
    return state
