"""`cli-guard approve`: a person says yes, once, to exactly one content."""

import click

from cli_guard.cli.app import Command
from cli_guard.cli.io import Io, shown_on_terminal
from cli_guard.cli.prompt import person_needed, says_yes
from cli_guard.cli.reviews import described
from cli_guard.errors import CliGuardError
from cli_guard.git.repository import Repository
from cli_guard.review.approve import approve
from cli_guard.review.pending import asked_for, told_of, waiting
from cli_guard.secrets.printable import printable
from cli_guard.state.records import ASKED, Records, WaitingReview


def confirm(io: Io, review: WaitingReview, told: str) -> bool:
    """Shows what is approved and asks. Raises UsageError where no person can answer."""
    person_needed(io, "an approval", "approve")
    io.say(described(review))
    io.say(shown_on_terminal(told.encode("utf-8", "surrogateescape")))
    return says_yes(io, "Approve exactly this?")


@click.pass_obj
def run(io: Io, /, id: str, reason: str) -> int:
    """Approves a review and resumes its graph."""
    repository = Repository.discover(io.cwd, io.env)
    review = waiting(Records(repository.state_folder), id, io.invocation)
    requests = asked_for(repository, review, io.invocation)
    if not confirm(io, review, told_of(repository, requests)):
        io.say("cli-guard: not approved")
        return 1
    try:
        state = approve(
            repository, review, io.invocation, reason, requests, say=lambda line: io.say(line or "\n")
        )
    except BrokenPipeError:
        raise
    except OSError as error:
        where = repository.state_folder
        raise CliGuardError(f"the approval cannot be written to {where}: {error.strerror}") from error
    if review.event == ASKED:
        io.say(printable(state["final_output"] or "", keep_newlines=True))
    else:
        again = "push" if review.event == "pre-push" else "commit"
        io.say(f"cli-guard: {review.id} approved for exactly this content; run the {again} again")
    return 0 if state["status"] == "ok" else 1


command = Command(
    "approve",
    callback=run,
    help="Approve a review that waits, after looking at it. It counts for exactly the content, the policy and the"
    " findings that were reviewed: one more byte staged, and it is void. Of a request, it writes the patch to the"
    " work tree, all of it or nothing, and never over what is not staged; `cli-guard undo` takes it back. Or it runs"
    " the command, once, in the top folder of the work tree, and ends with 1 if that fails.",
    params=[
        click.Argument(["id"]),
        click.Option(["--reason", "-r"], default="", metavar="TEXT", help="Why; goes to the audit trail."),
    ],
)
