"""`cli-guard fetch`: get the signed approvals of a remote, and merge them with those here."""

import click

from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.git.notes import REF, fetch_as_user
from cli_guard.secrets.printable import printable
from cli_guard.state.files import lock
from cli_guard.state.records import Records


@click.pass_obj
def run(io: Io, /, remote: str) -> int:
    """Fetch and merge."""
    repository = io.find_repository()
    records = Records(repository.state_folder)
    records.prepare()
    with lock(records.folder / "notes"):
        found = fetch_as_user(repository, remote, io.env)
    io.say(
        f"cli-guard: {'merged the approvals' if found else 'there are no approvals'} of {printable(remote)} ({REF})"
    )
    return 0


command = Command(
    "fetch",
    callback=run,
    help="Fetch the signed approvals of a remote and merge them with those here.",
    params=[click.Argument(["remote"], default="origin")],
)
