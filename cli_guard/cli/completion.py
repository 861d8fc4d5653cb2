"""`cli-guard completion`: the script that completes commands in a shell, and what that script asks for."""

import click
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

from cli_guard.cli.app import COMPLETE, Command, app
from cli_guard.cli.io import Io
from cli_guard.errors import UsageError

SHELLS = ("bash", "zsh", "fish")


def completer(shell: str, io: Io) -> ShellComplete:
    """Return what writes and answers the script of a shell. Raises UsageError for one that is not known."""
    made = get_completion_class(shell) if shell in SHELLS else None
    if made is None:
        raise UsageError(f"{shell!r} is not one of {', '.join(SHELLS)}")
    return made(app, {"obj": io}, "cli-guard", COMPLETE)


def complete(io: Io, asked: str) -> int:
    """Answer the script of a shell (`bash_complete`): what may stand at the cursor. Raises UsageError."""
    asking = completer(asked.partition("_")[0], io)
    try:
        words, incomplete = asking.get_completion_args()
    except (KeyError, ValueError) as error:
        raise UsageError(f"{COMPLETE} is for the script of `cli-guard completion`: unset it") from error
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


command = Command(
    "completion",
    callback=run,
    help='Print the script that completes commands, options and rules: `eval "$(cli-guard completion bash)"`.',
    params=[click.Argument(["shell"], type=click.Choice(SHELLS))],
)
