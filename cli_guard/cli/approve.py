"""`cli-guard approve`: a person approves exactly one content, once, with a signature where a key is enrolled."""

import datetime
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from cli_guard.answering.approve import (
    approve_change,
    bound_diff,
    check_is_same,
    find_pending,
    lines_with_code,
    reject,
)
from cli_guard.answering.kept import (
    is_outdated,
    is_staged_now,
    request_of,
    reviewed_index,
)
from cli_guard.answering.signing import (
    SigningPlan,
    plan_break_glass,
    plan_signature,
    store_signed,
)
from cli_guard.cli.app import Command, flag, option
from cli_guard.cli.hook import review_for_git
from cli_guard.cli.io import Io, shown_on_terminal
from cli_guard.cli.pending import describe
from cli_guard.cli.prompt import ask_yes, person_needed
from cli_guard.errors import CliGuardError, Denied, UsageError
from cli_guard.graph import half
from cli_guard.hooks import STAGED, event_of
from cli_guard.lazy import frozen
from cli_guard.model import Decision, Disposition, Finding, Presence
from cli_guard.policy.globs import matches
from cli_guard.repository.protocol import Repository
from cli_guard.review.render.review import Review
from cli_guard.review.request import Staged
from cli_guard.review.run import never
from cli_guard.secrets.redact import redact
from cli_guard.state.audit import Entry, entry
from cli_guard.state.files import explain_write_errors
from cli_guard.state.records import ASKED, PendingReview, Records

DURATION = re.compile(r"([1-9]\d{0,3})([hdw])")
MUST_FIX = "must be fixed or ignored, and no approval changes that"
HOURS = {"h": 1, "d": 24, "w": 168}


def confirm(
    io: Io,
    review: PendingReview,
    findings: Iterable[str],
    details: str = "",
    diff: Callable[[], str] | None = None,
) -> bool:
    """Show what is approved and ask. Raises UsageError if no person can answer."""
    person_needed(io, "an approval", f"approve {review.id}")
    io.say(describe(review, findings))
    io.say(shown_on_terminal(details))
    return ask_yes(io, "Approve exactly this?", diff=diff)


def read_duration(text: str) -> datetime.timedelta | None:
    """Parse `12h`, `30d` or `4w`, None for "". Raises UsageError."""
    found = DURATION.fullmatch(text)
    if text and not found:
        raise UsageError(f"--expires {text!r} is not a time: write 12h, 30d or 4w")
    return datetime.timedelta(hours=int(found[1]) * HOURS[found[2]]) if found else None


@click.pass_obj
def run(
    io: Io,
    /,
    id: str | None,
    reason: str,
    diff: bool,
    key: str,
    expires: str,
    path: str,
    break_glass: bool,
    rejected: bool,
) -> int:
    """Approve a review and resume its graph, or reject it."""
    repository = io.find_repository()
    records = Records(repository.state_folder)
    if rejected:
        if diff or key or expires or path or break_glass:
            raise UsageError("--reject goes with --reason alone: omit the other options")
        if id is None:
            raise UsageError("--reject needs the id of a review: see `cli-guard pending`")
        review = find_pending(records, id, io.invocation)
        with explain_write_errors("the rejection"):
            reject(repository, review, io.invocation, reason)
        io.say(f"cli-guard: {review.id} rejected; nothing was changed")
        return 0
    lifetime = read_duration(expires)
    if break_glass:
        return approve_break_glass(
            io, repository, id or "HEAD", ApproveOptions(reason, key, lifetime)
        )
    known = None
    if id is None:
        if not diff:
            person_needed(io, "an approval", "approve")
        id, known = last_stopped(io, repository, records)
    review = known.review if known else find_pending(records, id, io.invocation)
    code: int | None
    with explain_write_errors("the approval"):
        if review.event == ASKED:
            if diff:
                raise UsageError("a request shows its patch by itself: omit --diff")
            approve_asked = half.load("the approval of a request")
            code = approve_asked(io, repository, review, reason)
        else:
            with reviewed_index(records, review, io.env) as env:
                then = replace(io, env=env)
                if diff:
                    return show_diff(then, review)
                options = ApproveOptions(reason, key, lifetime, path)
                known = known or review_again(then, then.find_repository(), review)
                code = approve_reviewed(then, then.find_repository(), known, options)
    if code is None:
        io.say("cli-guard: not approved")
        return 1
    return code


@frozen
class ReviewedAgain:
    """A pending review as it was found once more, and the findings that need a person."""

    review: PendingReview
    findings: list[Finding]


def last_stopped(
    io: Io, repository: Repository, records: Records
) -> tuple[str, ReviewedAgain | None]:
    """Return the id of the review that was stopped last and still stands, or of what is staged now, with its review.

    What is staged now counts where nothing was stopped, or where it asks all that the last one asked and more. `git
    commit -a` and `git commit PATH` stop at another index than the staged one. Raises Denied if the last one must be
    fixed, CliGuardError.
    """
    pending = reversed(records.pending())
    last = next((e for e in pending if not is_outdated(repository, e, io.invocation)), None)
    if denied := last_denied(records, last):
        if event_of(denied["event"]).request != STAGED or not repository.has_staged():
            raise Denied(f"the last review that stopped here {MUST_FIX}: `cli-guard last`")
        # It may be mended by now.
        last = None
    if last and is_staged_now(repository, last, io.invocation):
        return last.id, None
    least = frozenset(last.fingerprints) if last else None
    found = review_staged(io, least)
    return found or (last.id if last else "", None)


def last_denied(records: Records, last: PendingReview | None) -> Entry | None:
    """Return the entry of a review that Git was denied after the last pending one, None if something passed since."""
    for each in records.audit.recent():
        event = event_of(each.get("event"))
        if last and each.get("review_id") == last.id:
            return None
        if event.is_hook or event.request == STAGED:
            decision = each.get("decision")
            if decision != Decision.REVIEW:
                return each if decision == Decision.DENY else None
    return None


def show_diff(io: Io, review: PendingReview) -> int:
    """Show what would be approved."""
    diff = bound_diff(io.find_repository(), review, io.invocation)
    io.say(shown_on_terminal(diff))
    return 0


def review_staged(io: Io, least: frozenset[str] | None) -> tuple[str, ReviewedAgain] | None:
    """Review what is staged; None if it does not ask more than the findings in `least`.

    Raises Denied, CliGuardError, UsageError if it needs no approval.
    """

    def asks_more(review: Review) -> bool:
        asked = {each.fingerprint for each in findings_asked(review)}
        return least is None or (review.decision is not Decision.DENY and asked > least)

    # Recorded, it would be the last one that was stopped.
    reviewed = review_for_git(io, Staged(), uses_cache=False, records=asks_more)
    done = reviewed.review
    if not asks_more(done):
        return None
    if done.decision is Decision.DENY:
        raise Denied(f"what is staged {MUST_FIX}: {done.review_reason}")
    if done.decision is Decision.REVIEW and not done.review_id:
        raise CliGuardError(f"the review cannot be approved: {'; '.join(done.notes)}")
    if not (done.review_id and reviewed.waits):
        raise UsageError("nothing needs an approval")
    return done.review_id, ReviewedAgain(reviewed.waits, findings_asked(done))


def findings_asked(review: Review) -> list[Finding]:
    return [each.finding for each in review.sort_findings(Disposition.REVIEW)]


@frozen
class ApproveOptions:
    """How a change is approved: why, with which key, for how long, and which of its paths."""

    reason: str = ""
    key: str = ""
    lifetime: datetime.timedelta | None = None
    path: str = ""


def approve_reviewed(
    io: Io, repository: Repository, reviewed: ReviewedAgain, options: ApproveOptions
) -> int | None:
    """Approve a change after asking; None if the person declines."""
    review = reviewed.review
    findings = reviewed.findings
    chosen = [
        each for each in findings if not options.path or is_below(each.path, options.path)
    ]
    if not chosen:
        raise UsageError(f"no finding of review {review.id} is at {options.path!r}")
    plan = plan_signature(
        repository,
        review,
        chosen,
        io.invocation,
        options.key,
        options.lifetime,
        redact(options.reason),
    )
    details = plan.describe() if plan else ""
    diff = partial(bound_diff, repository, review, io.invocation)
    if not confirm(io, review, lines_with_code(chosen), details, diff):
        return None
    whole, said = give(io, repository, review, chosen, plan, options.reason)
    rest = (
        event_of(review.event).again
        if whole
        else f"{len(findings) - len(chosen)} more still need an approval"
    )
    io.say(f"cli-guard: {review.id} {said} for exactly this content; {rest}")
    return 0


def review_again(
    io: Io, repository: Repository, review: PendingReview, message: Path | None = None
) -> ReviewedAgain:
    """Review once more what a pending review is about.

    `message`: see `request_of`. Raises UsageError if it is not what was reviewed, CliGuardError.
    """
    request = request_of(repository, review, message)
    done = review_for_git(io, request, uses_cache=False, records=never)
    return ReviewedAgain(check_is_same(review, done.waits), findings_asked(done.review))


def give(
    io: Io,
    repository: Repository,
    review: PendingReview,
    findings: Sequence[Finding],
    plan: SigningPlan | None,
    reason: str,
) -> tuple[bool, str]:
    """Sign and store an approval; return whether it covers the whole review, and a phrase that says who gave it."""
    if plan and plan.key.signer.is_security_key:
        io.say("cli-guard: touch your security key")
    signed = plan.sign() if plan else None
    whole = approve_change(repository, review, findings, io.invocation, reason, signed)
    if signed:
        return (
            whole,
            f"approved by {signed.statement.principal} ({signed.signature.presence})",
        )
    return whole, f"approved ({Presence.TTY})"


def approve_break_glass(
    io: Io, repository: Repository, revision: str, options: ApproveOptions
) -> int:
    """Sign that one commit may be pushed unverified. Raises CliGuardError."""
    commit = repository.resolve(revision)
    person_needed(io, "an approval", "approve --break-glass")
    plan = plan_break_glass(
        repository,
        commit,
        io.invocation,
        options.key,
        options.lifetime,
        redact(options.reason),
    )
    io.say(
        f"commit {commit} passes a server that would refuse it, until {plan.statement.expires}; it is logged there"
    )
    io.say(plan.describe())
    if not ask_yes(io, "Break the glass?"):
        io.say("cli-guard: not approved")
        return 1
    signed = plan.sign()
    records = Records(repository.state_folder)
    with explain_write_errors("the approval"):
        records.prepare()
        store_signed(repository, signed)
        reason = signed.statement.reason
        records.audit.append(
            entry(
                "break-glass",
                io.invocation,
                commit=commit,
                reason=reason,
                **signed.audit_details(),
            )
        )
    io.say(
        "cli-guard: signed; push it with the approvals:"
        " git push -o cli-guard=break-glass REMOTE BRANCH refs/notes/cli-guard"
    )
    return 0


def is_below(path: str, wanted: str) -> bool:
    """Return whether a path is the wanted one, below that folder, or fits the pattern."""
    wanted = wanted.rstrip("/")
    return path == wanted or path.startswith(f"{wanted}/") or matches(wanted, path)


command = Command(
    "approve",
    callback=run,
    help="Approve a pending review, after looking at it; without an id, the last one that was stopped,"
    " unless what is staged now needs more. The approval is bound to the rule, the path and the changed lines of each"
    " finding: it counts at the commit, at each push and after a rebase. Nothing is committed or staged.\n\nIf your key"
    " is enrolled (`cli-guard signers`), the approval is signed and noted in Git, where `cli-guard verify` checks it."
    "\n\nFor a request of `ask` it writes the"
    " patch to the work tree, all of it or nothing, and never over unstaged changes (`cli-guard undo` reverts"
    " it); or it runs the command, once, in the top folder of the work tree, and exits with 1 if that fails.",
    params=[
        click.Argument(["id"], required=False),
        flag("--diff", "Only show the diff that is to be approved."),
        option(
            "--note --reason -r reason",
            "TEXT",
            "The reason; written to the audit log and into the signed statement.",
            default="",
        ),
        flag("--reject rejected", "Reject it instead; no file is changed."),
        option("--key", "FILE", "The key to sign with.", rare=True, default=""),
        option(
            "--expires",
            "TIME",
            "Valid for 12h, 30d or 4w (signed ones).",
            rare=True,
            default="",
        ),
        option(
            "--for path", "PATH", "Only the findings at this path.", rare=True, default=""
        ),
        flag(
            "--break-glass",
            "Sign that one commit (HEAD, or the id given) may pass a server unverified; it needs --note.",
            rare=True,
        ),
    ],
)
