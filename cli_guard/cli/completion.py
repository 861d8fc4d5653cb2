"""`cli-guard completion`: the script that completes commands in a shell, and what that script asks for."""

from collections.abc import Iterator
from dataclasses import replace

import click
from click.shell_completion import CompletionItem, get_completion_class

from cli_guard.cli.app import COMMANDS, COMPLETE, Command, app
from cli_guard.cli.io import Io
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.rules.catalog import load_all
from cli_guard.secrets.printable import printable

# What may stand before the id of a review; behind any other option stands the value of that option.
BEFORE_ID = ("approve", "--reject", "--diff")


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
    while len(words) > 1 and words[0] == "-C":
        io = replace(io, cwd=io.path(words[1]))
        words = words[2:]
    # Most arguments that no table lists are paths.
    names = find_names(io, words)
    chosen = sorted(each for each in names if each.startswith(incomplete))
    found = [CompletionItem(each, help=names[each] or None) for each in chosen]
    is_path = words and not incomplete.startswith("-")
    files = [CompletionItem(incomplete, type="file")] if is_path else []
    shown = found or asking.get_completions(words, incomplete) or files
    io.say("\n".join(map(asking.format_completion, shown)))
    return 0


def find_names(io: Io, words: list[str]) -> dict[str, str]:
    """Return the names that may follow some words, each with what it stands for; no command is imported for them."""
    if words in ([], ["help"]):
        return COMMANDS
    if words == ["explain"]:
        return dict.fromkeys(load_all(), "")
    if words[0] == "approve" and words[-1] in BEFORE_ID:
        return dict(list_pending(io))
    return {}


def list_pending(io: Io) -> Iterator[tuple[str, str]]:
    """Yield the id and the event of each review that may be approved here, none outside a repository."""
    from cli_guard.state.records import Records

    try:
        records = Records(io.find_repository().state_folder)
    except CliGuardError:
        return
    for review in records.pending():
        if not review.has_expired(io.invocation.now):
            yield printable(review.id), printable(f"{review.event} {review.at}")


@click.pass_obj
def run(io: Io, /, shell: str) -> int:
    asking = get_completion_class(shell)(app, {}, "cli-guard", COMPLETE)  # type: ignore[misc]
    # Not `source()`: it starts bash to ask for its version.
    io.say(asking.source_template % asking.source_vars())
    return 0


shell = click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"]))
HELP = 'Print the script that completes what you type in a shell: `eval "$(cli-guard completion bash)"`.'
command = Command("completion", callback=run, help=HELP, params=[shell])
