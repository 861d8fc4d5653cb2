"""The commands that the run tool has beside those of bash: one file each, and here the one list of them all.

Everything that helps (the description of the tool, `help`, usage, the list behind an unknown name) is made from it.
"""

from cli_guard.assistant.sandbox.commands import helping, history, looking, mcp, remembering, searching
from cli_guard.assistant.sandbox.commands.model import OwnCommand
from cli_guard.assistant.sandbox.model import Shell
from cli_guard.assistant.sandbox.tools import TOOLS

COMMANDS: dict[str, OwnCommand] = {
    command.name: command
    for command in (
        helping.help_command(lambda: (COMMANDS, TOOLS)),
        looking.SEE,
        searching.SYMBOLS,
        searching.REFS,
        *history.COMMANDS,
        remembering.MEMORY,
        mcp.MCP,
    )
}


def description(world: Shell) -> str:
    """What a model is told of the tool: level 0 of its help."""
    return (
        f"Runs one bash command over {world.snapshot.name}: {len(world.snapshot.entries)} files in /repo.\n"
        "Pipes, &&, ||, ;, redirections, $(...), loops and functions work as in bash. Nothing is ever changed:"
        " what a command writes ends with the call. There is no network, and no program can be started.\n"
        f"{helping.listed(COMMANDS, TOOLS)}\n"
        "A command with sub-commands, called bare, prints its usage; each takes --help.\n"
        "The last line of a result is [exit:CODE | TIME]."
    )
