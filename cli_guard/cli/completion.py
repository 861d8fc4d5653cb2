"""`cli-guard completion`: the script that completes commands in a shell, and what that script asks for."""

import click
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

from cli_guard.cli.app import COMPLETE, Command, app
from cli_guard.cli.io import Io
from cli_guard.errors import UsageError


def completer(shell: str, io: Io) -> ShellComplete:
    """Return what writes and answers the script of a shell. Raises UsageError for one that is not known."""
    if made := get_completion_class(shell):
        return made(app, {"obj": io}, "cli-guard", COMPLETE)
    raise UsageError(f"{COMPLETE} is for the script of `cli-guard completion`: unset it")


def complete(io: Io, asked: str) -> int:
    """Answer the script of a shell (`bash_complete`): what may stand at the cursor. Raises UsageError."""
    asking = completer(asked.partition("_")[0], io)
    try:
        words, incomplete = asking.get_completion_args()
    except (KeyError, ValueError):
        asking = completer("", io)
    # Most arguments are paths.
    files = [] if incomplete.startswith("-") else [CompletionItem(incomplete, type="file")]
    io.say("\n".join(map(asking.format_completion, asking.get_completions(words, incomplete) or files)))
    return 0


@click.pass_obj
def run(io: Io, /, shell: str) -> int:
    asking = completer(shell, io)
    # Not `source()`: it starts bash to ask for its version.
    io.say(asking.source_template % asking.source_vars())
    return 0


shell = click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"]))
HELP = 'Print the script that completes commands, options and rules: `eval "$(cli-guard completion bash)"`.'
command = Command("completion", callback=run, help=HELP, params=[shell])
