"""`cli-guard help`: the help of the program, of a command or of a sub-command."""

import click

from cli_guard.cli.app import COMMANDS, Command, app
from cli_guard.cli.io import Io
from cli_guard.errors import UsageError


@click.pass_context
def run(ctx: click.Context, /, words: tuple[str, ...]) -> int:
    """Show the help that the words lead to."""
    found: click.Command = app
    context = ctx.find_root()
    for word in words:
        if not isinstance(found, click.Group):
            raise UsageError(f"`{context.command_path}` has no commands of its own: omit {word!r}")
        name, inner, _ = found.resolve_command(context, [f"{word}"])
        assert inner is not None  # noqa: S101 - an unknown one raises
        found, context = inner, click.Context(inner, parent=context, info_name=name)
    ctx.ensure_object(Io).say(found.get_help(context))
    return 0


command = Command(
    "help",
    callback=run,
    help="Show the help of a command, or of this program.",
    params=[
        click.Argument(
            ["words"],
            nargs=-1,
            metavar="[COMMAND]...",
            shell_complete=lambda _context, _parameter, incomplete: [
                each for each in COMMANDS if each.startswith(incomplete)
            ],
        )
    ],
)
