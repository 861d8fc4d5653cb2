"""The commands that the run tool has beside those of bash: one file each, and here the one list of them all.

Everything that helps (the description of the tool, `help`, usage, the list behind an unknown name) is made from it.
"""

import json
import posixpath
import tomllib

from cli_guard.assistant.sandbox.commands import (
    history,
    mcp,
    memory,
    see,
    symbols,
    tree,
)
from cli_guard.assistant.sandbox.commands.command import OwnCommand
from cli_guard.assistant.sandbox.model import (
    CommandCall,
    CommandFailure,
)
from cli_guard.rules.catalog import read_table

# The text tools of the interpreter; it has the builtins of bash besides.
TOOLS = read_table("sandbox.toml")["tools"].split()


def show_help(call: CommandCall) -> str:
    """List the commands, or print the help of one."""
    if not call.arguments:
        return list_commands() + "\nUse: help COMMAND, or COMMAND --help"
    name = call.arguments[0]
    if name in COMMANDS:
        return COMMANDS[name].usage
    if name in TOOLS:
        return f"{name}: works as in bash; its own help: {name} --help"
    raise CommandFailure(f"no command {name}\nAvailable: {list_names()}")


def ask(call: CommandCall) -> str:
    """Answer a question about the repository, where it can go down a pipe."""
    if call.world.ask is None:
        raise CommandFailure("nothing answers questions here: use symbols, refs, rg")
    return call.world.ask(" ".join(call.arguments))


def write(call: CommandCall) -> str:
    """Write a file of the sandbox, as a redirection would."""
    path, *words = call.arguments
    raw = call.stdin
    if words:
        raw = f"{' '.join(words)}\n".encode("utf-8", "surrogateescape")
    target = call.absolute(path)
    try:
        call.files.mkdir(posixpath.dirname(target), recursive=True)
        call.files.write_file(target, raw)
    except (RuntimeError, OSError):
        raise CommandFailure(f"{path} cannot be written: is it a folder?") from None
    return f"{len(raw)} bytes written to {path}"


def convert_toml(call: CommandCall) -> str:
    """Print TOML as JSON, dates as text."""
    raw = call.read(call.arguments[0]) if call.arguments else call.stdin
    try:
        data = tomllib.loads(raw.decode("utf-8", "replace"))
        return json.dumps(data, default=str, ensure_ascii=False)
    except (ValueError, RecursionError) as error:
        raise CommandFailure(f"this is no TOML: {error}") from None


WRITE = OwnCommand(
    "write",
    "write a file from words or from standard input; it ends with the call",
    "PATH [WORDS...]",
    run=write,
    needs=1,
    reads=lambda arguments: len(arguments) == 1,
)
ASK = OwnCommand(
    "ask",
    "a question about the repository, in words: where, what, which, how",
    "QUESTION",
    "It only reads; a request for a change is one for cli-guard ask, at the terminal.",
    run=ask,
    needs=1,
)
HELP = OwnCommand(
    "help", "list the commands, or show the help of one", "[COMMAND]", run=show_help
)
TOML = OwnCommand(
    "toml",
    "TOML as JSON, for jq (yq does so by itself for FILE.toml, and with -p toml)",
    "[FILE]",
    run=convert_toml,
    reads=lambda arguments: not arguments,
)
COMMANDS: dict[str, OwnCommand] = {
    command.name: command
    for command in (
        HELP,
        ASK,
        see.SEE,
        WRITE,
        symbols.SYMBOLS,
        symbols.REFS,
        *history.COMMANDS,
        memory.MEMORY,
        mcp.MCP,
        tree.FD,
        tree.TREE,
        TOML,
    )
}


def list_names() -> str:
    """Return the names of all commands, sorted, with commas."""
    return ", ".join(sorted({*COMMANDS, *TOOLS}))


def list_commands() -> str:
    """Return our commands with their summaries, then the names of those of bash."""
    rows = [f"  {name}: {command.summary}" for name, command in COMMANDS.items()]
    tools = f"  {' '.join(TOOLS)}: as in bash; rg PATTERN searches all files; what they write ends with the call"
    return "\n".join(("Available commands:", *rows, tools))


def description(files: str) -> str:
    """Return what a model reads of the tool over some `files`: level 0 of its help."""
    return (
        f"Runs one bash command over {files}, in /repo.\n"
        "Pipes, &&, ||, ;, redirections, $(...), loops and functions work as in bash. Nothing is ever changed:"
        " what a command writes ends with the call. There is no network, and no program can be started.\n"
        f"{list_commands()}\n"
        "A command with sub-commands, called bare, prints its usage; each takes --help.\n"
        "The last line of a result is [exit:CODE | TIME]."
    )
