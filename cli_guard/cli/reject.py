"""`cli-guard reject`: a person rejects a pending review."""

import click

from cli_guard.answering.approve import find_pending, reject
from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.state.files import explain_write_errors
from cli_guard.state.records import Records


@click.pass_obj
def run(io: Io, /, id: str, reason: str) -> int:
    """Reject a review and end its graph."""
    repository = io.find_repository()
    review = find_pending(Records(repository.state_folder), id, io.invocation)
    with explain_write_errors("the rejection"):
        reject(repository, review, io.invocation, reason)
    io.say(f"cli-guard: {review.id} rejected; nothing was changed")
    return 0


command = Command(
    "reject",
    callback=run,
    help="Reject a pending review or proposal. No file is changed; a rejected commit needs review again if you try"
    " it again.",
    params=[
        click.Argument(["id"]),
        click.Option(
            ["--reason", "-r"],
            default="",
            metavar="TEXT",
            help="The reason; written to the audit log.",
        ),
    ],
)
