"""`cli-guard reviews`: what waits for a person."""

import click

from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.git.repository import Repository
from cli_guard.secrets.printable import printable
from cli_guard.state.records import ASKED, Records, WaitingReview


def described(review: WaitingReview) -> str:
    """A review in a few lines."""
    head = printable(
        f"{review.id}  {review.event}  {review.at}" + (f"  {review.reason}" if review.event == ASKED else "")
    )
    return "\n".join([head, *(f"    {printable(line)}" for line in review.findings)])


@click.pass_obj
def run(io: Io, /) -> int:
    """Lists the reviews, oldest first."""
    now = io.invocation.now
    kept = Records(Repository.discover(io.cwd, io.env).state_folder).waiting()
    waiting = [review for review in kept if not review.expired(now)]
    if not waiting:
        io.say("cli-guard: no review waits")
        return 0
    io.say("\n".join(described(review) for review in waiting))
    io.say(
        "Answer one with `cli-guard approve ID` or `cli-guard reject ID`, then run its commit or push again."
    )
    return 0


command = Command("reviews", callback=run, help="List the reviews that wait for a person.")
