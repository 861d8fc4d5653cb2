"""A person's steps after an answer: approve, reject, undo. Done by the calls of the commands, without a terminal."""

from pathlib import Path

from benchmarks.runner.answering import Answered, outcome_of_state
from benchmarks.runner.model import Outcome, Step
from benchmarks.runner.scratch import PERSON, Scratch
from cli_guard.answering.approve import (
    approve_change,
    check_is_same,
    find_pending,
    reject,
)
from cli_guard.answering.kept import request_of
from cli_guard.assistant.approve import approve_request, undo
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.git.repository import GitRepository
from cli_guard.graph.run import resume_review
from cli_guard.model import Disposition
from cli_guard.repository.protocol import Repository
from cli_guard.review.run import ReviewOptions, review_and_record
from cli_guard.state.records import ASKED, PendingReview, Records


def act(step: Step, answered: Answered, scratch: Scratch) -> Outcome:
    """Do one step of a person; its status is ok, failed (a command that ran), or refused with the reason."""
    try:
        if answered.outcome.files is not None:
            return in_memory(step, answered, scratch)
        repository = GitRepository.discover(scratch.root, scratch.env)
        if step.do == "undo":
            undo(repository, None, scratch.invocation)
            return Outcome("ok", "reverted")
        review = find_pending(
            Records(repository.state_folder),
            answered.outcome.review_id or "",
            scratch.invocation,
        )
        if step.do == "approve":
            if review.event != ASKED:
                approve_again(repository, review, scratch)
                return Outcome("ok", "approved")
            state = approve_request(repository, review, scratch.invocation, "")
            return Outcome(state["status"], state["final_output"] or "")
        reject(repository, review, scratch.invocation, "")
        return Outcome("ok", "rejected")
    except CliGuardError as error:
        return Outcome("refused", str(error))


def approve_again(repository: Repository, review: PendingReview, scratch: Scratch) -> None:
    """Review once more and approve what needs a person, as `cli-guard approve` does. Raises CliGuardError."""
    request = request_of(repository, review)
    options = ReviewOptions(uses_cache=False)
    done = review_and_record(request, scratch.invocation, options)
    findings = [each.finding for each in done.review.sort_findings(Disposition.REVIEW)]
    review = check_is_same(review, done.waits)
    approve_change(repository, review, findings, scratch.invocation, "")


def in_memory(step: Step, answered: Answered, scratch: Scratch) -> Outcome:
    """Approve or reject a run in memory. Raises CliGuardError."""
    if answered.pause is None:
        raise UsageError("no review waits for a person")
    if step.do not in ("approve", "reject"):
        raise UsageError(f"a task in memory knows no {step.do}")
    kept = Path(scratch.folder / "tmp" / "paused.sqlite")
    answered.pause.keep(kept)
    try:
        state = resume_review(kept, by=PERSON, reason="", approved=step.do == "approve")
    finally:
        kept.unlink()
    return outcome_of_state(state)
