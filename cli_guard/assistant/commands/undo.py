"""`cli-guard undo`: revert an approved patch."""

import click

from cli_guard.assistant.approve import undo
from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.errors import CliGuardError
from cli_guard.secrets.printable import printable


@click.pass_obj
def run(io: Io, /, id: str | None) -> int:
    """Revert one patch, all of it or nothing."""
    repository = io.find_repository()
    try:
        applied = undo(repository, id, io.invocation)
    except OSError as error:
        where = repository.state_folder
        raise CliGuardError(
            f"reverted, but not recorded in {where}: {error.strerror}"
        ) from error
    io.say(
        printable(
            f"cli-guard: reverted: {applied.request} ({', '.join(sorted(applied.left))})"
        )
    )
    return 0


command = Command(
    "undo",
    callback=run,
    help="Revert an approved patch, by default the last one, if its files have not changed since.",
    params=[click.Argument(["id"], required=False)],
)
