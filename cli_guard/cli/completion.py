"""`cli-guard completion`: the script that completes commands in a shell, and what that script asks for."""

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem, get_completion_class

from cli_guard.cli.app import COMMANDS, COMPLETE, Command, app
from cli_guard.cli.io import Io
from cli_guard.errors import UsageError
from cli_guard.rules.catalog import load_all


def complete(io: Io, asked: str) -> int:
    """Answer the script of a shell (`bash_complete`): what may stand at the cursor. Raises UsageError."""
    made = get_completion_class(asked.partition("_")[0])
    try:
        asking = made(app, {"obj": io}, "cli-guard", COMPLETE)  # type: ignore[misc] # of an unknown shell None
        words, incomplete = asking.get_completion_args()
    except (KeyError, ValueError, TypeError) as error:
        raise UsageError(
            f"{COMPLETE} is for the script of `cli-guard completion`: unset it"
        ) from error
    # Names come from tables: no command is imported for them. Most other arguments are paths.
    names: Iterable[str] = ()
    if words in ([], ["help"]):
        names = COMMANDS.keys()
    elif words == ["explain"]:
        names = load_all()
    chosen = sorted(each for each in names if each.startswith(incomplete))
    found = [CompletionItem(each, help=COMMANDS.get(each)) for each in chosen]
    files = [] if incomplete.startswith("-") else [CompletionItem(incomplete, type="file")]
    shown = found or asking.get_completions(words, incomplete) or files
    io.say("\n".join(map(asking.format_completion, shown)))
    return 0


@click.pass_obj
def run(io: Io, /, shell: str) -> int:
    asking = get_completion_class(shell)(app, {}, "cli-guard", COMPLETE)  # type: ignore[misc]
    # Not `source()`: it starts bash to ask for its version.
    io.say(asking.source_template % asking.source_vars())
    return 0


shell = click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"]))
HELP = 'Print the script that completes commands, options and rules: `eval "$(cli-guard completion bash)"`.'
command = Command("completion", callback=run, help=HELP, params=[shell])
