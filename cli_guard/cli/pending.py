"""`cli-guard pending`: the reviews and proposals that need a person."""

from collections.abc import Iterable

import click

from cli_guard.answering.approve import commits_of, lines_of
from cli_guard.answering.kept import is_outdated
from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.errors import UsageError
from cli_guard.secrets.printable import printable
from cli_guard.state.records import ASKED, OUTDATED_DAYS, PendingReview, Records

OUTDATED = (
    "outdated: the commit that it starts from, or its files, have changed; commit or push again if you still want to;"
    " it leaves this list after a day"
)


def describe(review: PendingReview, findings: Iterable[str]) -> str:
    """Describe a review in a few lines; `findings` are those of its checkpoint."""
    head = printable(
        f"{review.id}  {review.event}  {review.at}"
        + (f"  {review.reason}" if review.event == ASKED else "")
    )
    return "\n".join([head, *(f"    {printable(line)}" for line in findings)])


@click.pass_obj
def run(io: Io, /) -> int:
    """List the reviews, oldest first; those that nobody can answer any more for a day."""
    repository = io.find_repository()
    records = Records(repository.state_folder)
    now = io.invocation.now
    standing = 0
    for review in records.pending():
        if review.has_expired(now):
            continue
        lines: Iterable[str] = (OUTDATED,)
        if is_outdated(repository, review, io.invocation):
            if review.has_expired(now, OUTDATED_DAYS):
                continue
        else:
            standing += 1
            try:
                lines = (*commits_of(repository, review), *lines_of(records, review))
            except UsageError as error:
                lines = (str(error),)
        io.say(describe(review, lines))
    if not standing:
        io.say("cli-guard: no pending reviews")
        return 0
    io.say(
        "Approve one with `cli-guard approve ID`, then run its commit or push again; or reject it with"
        " `cli-guard approve --reject ID`."
    )
    return 0


command = Command(
    "pending", callback=run, help="List the reviews and proposals that need a person."
)
