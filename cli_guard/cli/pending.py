"""`cli-guard pending`: the reviews and proposals that need a person."""

import click

from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.git.repository import Repository
from cli_guard.secrets.printable import printable
from cli_guard.state.records import ASKED, PendingReview, Records


def describe(review: PendingReview) -> str:
    """Describe a review in a few lines."""
    head = printable(
        f"{review.id}  {review.event}  {review.at}" + (f"  {review.reason}" if review.event == ASKED else "")
    )
    return "\n".join([head, *(f"    {printable(line)}" for line in review.findings)])


@click.pass_obj
def run(io: Io, /) -> int:
    """List the reviews, oldest first."""
    now = io.invocation.now
    kept = Records(Repository.discover(io.cwd, io.env).state_folder).pending()
    reviews = [review for review in kept if not review.expired(now)]
    if not reviews:
        io.say("cli-guard: no pending reviews")
        return 0
    io.say("\n".join(describe(review) for review in reviews))
    io.say(
        "Answer one with `cli-guard approve ID` or `cli-guard reject ID`, then run its commit or push again."
    )
    return 0


command = Command("pending", callback=run, help="List the reviews and proposals that need a person.")
