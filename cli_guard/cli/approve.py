"""`cli-guard approve`: a person approves exactly one content, once."""

from collections.abc import Iterable

import click

from cli_guard.cli.app import Command
from cli_guard.cli.io import Io, shown_on_terminal
from cli_guard.cli.pending import describe
from cli_guard.cli.prompt import ask_yes, person_needed
from cli_guard.errors import UsageError
from cli_guard.git.repository import Repository
from cli_guard.review.approve import approve_change, bound_diff, bound_findings, find_pending
from cli_guard.secrets.printable import printable
from cli_guard.state.files import explain_write_errors
from cli_guard.state.records import ASKED, PendingReview, Records


def confirm(io: Io, review: PendingReview, findings: Iterable[str], details: str = "") -> bool:
    """Show what is approved and ask. Raises UsageError if no person can answer."""
    person_needed(io, "an approval", "approve")
    io.say(describe(review, findings))
    io.say(shown_on_terminal(details.encode("utf-8", "surrogateescape")))
    return ask_yes(io, "Approve exactly this?")


@click.pass_obj
def run(io: Io, /, id: str, reason: str, diff: bool) -> int:
    """Approve a review and resume its graph."""
    repository = Repository.discover(io.cwd, io.env)
    review = find_pending(Records(repository.state_folder), id, io.invocation)
    if diff:
        if review.event == ASKED:
            raise UsageError("a request shows its patch by itself: omit --diff")
        io.say(
            shown_on_terminal(
                bound_diff(repository, review, io.invocation).encode("utf-8", "surrogateescape")
            )
        )
        return 0
    with explain_write_errors("the approval"):
        code = (approve_asked if review.event == ASKED else approve_reviewed)(io, repository, review, reason)
    if code is None:
        io.say("cli-guard: not approved")
        return 1
    return code


def approve_reviewed(io: Io, repository: Repository, review: PendingReview, reason: str) -> int | None:
    """Approve a change after asking; None if the person declines."""
    if not confirm(io, review, bound_findings(Records(repository.state_folder), review)):
        return None
    state = approve_change(repository, review, io.invocation, reason)
    again = "push" if review.event == "pre-push" else "commit"
    io.say(f"cli-guard: {review.id} approved for exactly this content; run the {again} again")
    return 0 if state["status"] == "ok" else 1


def approve_asked(io: Io, repository: Repository, review: PendingReview, reason: str) -> int | None:
    """Approve a request of the assistant after showing what it does; None if the person declines."""
    from cli_guard.assistant.approve import approve_request, describe_requests, find_requests
    from cli_guard.mcp.client.tools import open_servers

    requests = find_requests(repository, review, io.invocation)
    if not confirm(io, review, (), describe_requests(repository, requests)):
        return None
    state = approve_request(
        repository,
        review,
        io.invocation,
        reason,
        requests,
        servers=open_servers,
        say=lambda line: io.say(line or "\n"),
    )
    io.say(printable(state["final_output"] or "", keep_newlines=True))
    return 0 if state["status"] == "ok" else 1


command = Command(
    "approve",
    callback=run,
    help="Approve a pending review, after looking at it. The approval is valid for exactly the content, policy and"
    " findings that were reviewed; if one more byte is staged, it is void. For a request of `ask` it writes the"
    " patch to the work tree, all of it or nothing, and never over unstaged changes (`cli-guard undo` reverts"
    " it); or it runs the command, once, in the top folder of the work tree, and exits with 1 if that fails.",
    params=[
        click.Argument(["id"]),
        click.Option(["--diff"], is_flag=True, help="Only show the diff that is to be approved."),
        click.Option(
            ["--reason", "-r"], default="", metavar="TEXT", help="The reason; written to the audit log."
        ),
    ],
)
