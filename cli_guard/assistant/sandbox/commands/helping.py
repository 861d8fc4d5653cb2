"""`help`: the list of commands, and the help of one."""

from collections.abc import Callable, Mapping

from cli_guard.assistant.sandbox.commands.model import Answer, Call, CommandFailure, OwnCommand

Registry = Callable[[], tuple[Mapping[str, OwnCommand], Mapping[str, str]]]


def listed(own: Mapping[str, OwnCommand], tools: Mapping[str, str]) -> str:
    """Every command with its summary."""
    rows = {**tools, **{name: command.summary for name, command in own.items()}}
    width = max(map(len, rows))
    return "Available commands:\n" + "\n".join(f"  {name:{width}}  {rows[name]}" for name in (*own, *tools))


def help_command(registry: Registry) -> OwnCommand:
    """The command over a registry; it is asked when it runs, for it holds this command too."""

    def run(call: Call) -> Answer:
        own, tools = registry()
        if not call.arguments:
            return Answer.of(listed(own, tools) + "\nUse: help COMMAND, or COMMAND --help")
        name = call.arguments[0]
        if name in own:
            return Answer.of(own[name].usage)
        if name in tools:
            return Answer.of(f"{name}: {tools[name]}\n  Works as in bash; its own help: {name} --help")
        raise CommandFailure(f"no command {name}\nAvailable: {', '.join(sorted({*own, *tools}))}")

    return OwnCommand("help", "list the commands, or show the help of one", "[COMMAND]", run=run)
