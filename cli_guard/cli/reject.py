"""`cli-guard reject`: a person says no; the review waits no longer, and the trail keeps why."""

import click

from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.errors import CliGuardError
from cli_guard.git.repository import Repository
from cli_guard.review.approve import reject
from cli_guard.review.pending import waiting
from cli_guard.state.records import Records


@click.pass_obj
def run(io: Io, /, id: str, reason: str) -> int:
    """Rejects a review and ends its graph."""
    repository = Repository.discover(io.cwd, io.env)
    review = waiting(Records(repository.state_folder), id, io.invocation)
    try:
        reject(repository, review, io.invocation, reason)
    except OSError as error:
        where = repository.state_folder
        raise CliGuardError(f"the rejection cannot be written to {where}: {error.strerror}") from error
    io.say(f"cli-guard: {review.id} rejected; it waits no longer, and nothing was changed")
    return 0


command = Command(
    "reject",
    callback=run,
    help="Reject a review or a proposal that waits. What it was about stays as it is: a rejected commit is asked"
    " about again when somebody tries it again.",
    params=[
        click.Argument(["id"]),
        click.Option(["--reason", "-r"], default="", metavar="TEXT", help="Why; goes to the audit trail."),
    ],
)
