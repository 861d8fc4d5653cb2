"""`cli-guard pending`: the reviews and proposals that need a person."""

from collections.abc import Iterable

import click

from cli_guard.answering.approve import commits_of, lines_of
from cli_guard.answering.kept import is_outdated
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
    """List the reviews that can still be answered, oldest first."""
    repository = io.find_repository()
    records = Records(repository.state_folder)
    now = io.invocation.now
    valid = [each for each in records.pending() if not each.has_expired(now)]
    standing = [e for e in valid if not is_outdated(repository, e, io.invocation)]
    lines: Iterable[str]
    for review in standing:
        try:
            lines = (*commits_of(repository, review), *lines_of(records, review))
        except UsageError as error:
            lines = (str(error),)
        io.say(describe(review, lines))
    outdated = len(valid) - len(standing)
    hidden = f"; {outdated} outdated, as what they are about has changed since"
    if not standing:
        io.say(f"cli-guard: no pending reviews{hidden if outdated else ''}")
        return 0
    io.say(
        "Approve one with `cli-guard approve ID`, then run its commit or push again; or reject it with"
        " `cli-guard approve --reject ID`."
    )
    return 0


command = Command(
    "pending", callback=run, help="List the reviews and proposals that need a person."
)
