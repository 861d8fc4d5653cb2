"""The commands that the run tool has beside those of bash: one file each, and here the one list of them all.

Everything that helps (the description of the tool, `help`, usage, the list behind an unknown name) is made from it.
"""

from cli_guard.assistant.sandbox.commands import help as help_
from cli_guard.assistant.sandbox.commands import history, mcp, memory, see, symbols
from cli_guard.assistant.sandbox.commands.command import OwnCommand
from cli_guard.assistant.sandbox.model import Shell

COMMANDS: dict[str, OwnCommand] = {
    command.name: command
    for command in (
        help_.help_command(lambda: COMMANDS),
        see.SEE,
        symbols.SYMBOLS,
        symbols.REFS,
        *history.COMMANDS,
        memory.MEMORY,
        mcp.MCP,
    )
}


def description(world: Shell) -> str:
    """Return what a model reads of the tool: level 0 of its help."""
    return (
        f"Runs one bash command over {world.snapshot.name}: {len(world.snapshot.entries)} files in /repo.\n"
        "Pipes, &&, ||, ;, redirections, $(...), loops and functions work as in bash. Nothing is ever changed:"
        " what a command writes ends with the call. There is no network, and no program can be started.\n"
        f"{help_.list_commands(COMMANDS)}\n"
        "A command with sub-commands, called bare, prints its usage; each takes --help.\n"
        "The last line of a result is [exit:CODE | TIME]."
    )
