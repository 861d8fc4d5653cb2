"""`cli-guard help`: the help of the program, of a command or of a sub-command, with every option."""

import click

from cli_guard.cli.app import WHOLE_HELP, Command, dispatch
from cli_guard.cli.io import Io


@click.pass_obj
def run(io: Io, /, words: tuple[str, ...]) -> int:
    return dispatch([*words, WHOLE_HELP], io)


words = click.Argument(["words"], nargs=-1, metavar="[COMMAND]...")
command = Command(
    "help",
    callback=run,
    help="Show the help of a command, every option included, or of this program.",
    params=[words],
)
