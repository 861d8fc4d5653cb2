"""`cli-guard pending`: the reviews and proposals that need a person."""

from collections.abc import Iterable

import click

from cli_guard.answering.approve import commits_of, is_outdated, lines_of
from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.errors import UsageError
from cli_guard.secrets.printable import printable
from cli_guard.state.records import ASKED, PendingReview, Records


def describe(review: PendingReview, findings: Iterable[str]) -> str:
    """Describe a review in a few lines; `findings` are those of its checkpoint."""
    head = printable(
        f"{review.id}  {review.event}  {review.at}"
        + (f"  {review.reason}" if review.event == ASKED else "")
    )
    return "\n".join([head, *(f"    {printable(line)}" for line in findings)])


@click.pass_obj
def run(io: Io, /) -> int:
    """List the reviews, oldest first; remove those of other content."""
    repository = io.find_repository()
    records = Records(repository.state_folder)
    reviews = [
        review for review in records.pending() if not review.expired(io.invocation.now)
    ]
    outdated = {
        review.id for review in reviews if is_outdated(repository, review, io.invocation)
    }
    for review in reviews:
        lines: Iterable[str] = (
            "outdated, so it is removed: the content has changed; commit or push again",
        )
        try:
            if review.id in outdated:
                records.remove_pending(review.id)
            else:
                lines = (*commits_of(repository, review), *lines_of(records, review))
        except UsageError as error:
            lines = (str(error),)
        io.say(describe(review, lines))
    if len(outdated) == len(reviews):
        io.say("cli-guard: no pending reviews")
        return 0
    io.say(
        "Answer one with `cli-guard approve ID` or `cli-guard approve --reject ID`, then run its commit or push again."
    )
    return 0


command = Command(
    "pending", callback=run, help="List the reviews and proposals that need a person."
)
