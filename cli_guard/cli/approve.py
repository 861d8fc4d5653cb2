"""`cli-guard approve`: a person says yes, once, to exactly one content."""

import click

from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.cli.reviews import described
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.git.repository import Repository
from cli_guard.policy.approvals import Approval
from cli_guard.records import Records, WaitingReview
from cli_guard.redact import redact


def find(records: Records, wanted: str) -> WaitingReview:
    """The review of an id or the beginning of one. Raises UsageError."""
    waiting = records.waiting()
    fitting = [review for review in waiting if review.id.startswith(wanted)] if wanted else []
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise UsageError(f"{wanted} is the beginning of {len(fitting)} reviews: give more of the id")
    if wanted and any(approval.id.startswith(wanted) for approval in records.approvals()):
        raise UsageError(f"review {wanted} is approved already: run the commit or push again")
    raise UsageError(f"no review {wanted} waits: see `cli-guard reviews`")


def confirm(io: Io, review: WaitingReview) -> bool:
    """Shows what is approved and asks. Raises UsageError where no person can answer."""
    if not io.stdin.isatty():
        raise UsageError("an approval needs a person at a terminal: run `cli-guard approve` in one")
    io.say(described(review))
    io.stdout.write("Approve exactly this? Type yes: ")
    io.stdout.flush()
    return io.stdin.readline().strip().lower() in ("yes", "y")


@click.pass_obj
def run(io: Io, /, id: str, reason: str) -> int:
    """Approves a review and resumes its graph."""
    records = Records(Repository.discover(io.cwd, io.env).state_folder)
    review = find(records, id)
    if not confirm(io, review):
        io.say("cli-guard: not approved")
        return 1
    from cli_guard.graph.run import resume_review

    place = io.place
    reason = redact(reason)
    state = resume_review(records.checkpoint(review.id), by=place.user, reason=reason)
    if state["status"] != "ok":
        raise CliGuardError(f"review {review.id} did not go on: {state['review_reason']}")
    at = place.now.isoformat(timespec="seconds")
    try:
        records.approve(
            Approval(review.id, review.content, review.policy, review.fingerprints, place.user, at, reason)
        )
        records.audit.append(
            {
                "at": at,
                "user": place.user,
                "event": "approve",
                "review_id": review.id,
                "content": review.content,
                "policy": review.policy,
                "fingerprints": sorted(review.fingerprints),
                "reason": reason,
            }
        )
        records.settle(review.id)
    except OSError as error:
        raise CliGuardError(
            f"the approval cannot be written to {records.folder}: {error.strerror}"
        ) from error
    again = "push" if review.event == "pre-push" else "commit"
    io.say(f"cli-guard: {review.id} approved for exactly this content; run the {again} again")
    return 0


command = Command(
    "approve",
    callback=run,
    help="Approve a review that waits, after looking at it. It counts for exactly the content, the policy and the"
    " findings that were reviewed: one more byte staged, and it is void.",
    params=[
        click.Argument(["id"]),
        click.Option(["--reason", "-r"], default="", metavar="TEXT", help="Why; goes to the audit trail."),
    ],
)
