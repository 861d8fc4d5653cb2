"""`help`: the list of commands, and the help of one."""

from collections.abc import Callable, Mapping

from cli_guard.assistant.sandbox.commands.command import OwnCommand
from cli_guard.assistant.sandbox.model import Answer, Call, CommandFailure

# The commands of bash and its text tools; bash has its builtins besides.
TOOLS = (
    "cat ls find grep rg head tail wc sort uniq cut tr sed awk xargs tee comm cmp paste join rev tac nl "
    "fold fmt pr column shuf tsort seq expand unexpand basename dirname realpath readlink stat file du "
    "tree jq yq od xxd hexdump strings base64 cksum md5sum sha1sum sha256sum sha512sum iconv gzip tar "
    "unzip date echo printf test expr factor numfmt read true false cd pwd cp mv ln rm rmdir mkdir touch "
    "mktemp chmod truncate patch split env printenv envsubst which timeout sleep yes bash"
).split()


def list_names(own: Mapping[str, OwnCommand]) -> list[str]:
    return sorted({*own, *TOOLS})


def list_commands(own: Mapping[str, OwnCommand]) -> str:
    """Return our commands with their summaries, then the names of those of bash."""
    rows = [f"  {name}: {command.summary}" for name, command in own.items()]
    tools = f"  {' '.join(TOOLS)}: as in bash (rg as grep -rn); what they write ends with the call"
    return "\n".join(("Available commands:", *rows, tools))


def help_command(registry: Callable[[], Mapping[str, OwnCommand]]) -> OwnCommand:
    """Return the command over a registry, which is read when the command runs: it holds this command too."""

    def run(call: Call) -> Answer:
        own = registry()
        if not call.arguments:
            return Answer.from_text(list_commands(own) + "\nUse: help COMMAND, or COMMAND --help")
        name = call.arguments[0]
        if name in own:
            return Answer.from_text(own[name].usage)
        if name in TOOLS:
            return Answer.from_text(f"{name}: works as in bash; its own help: {name} --help")
        raise CommandFailure(f"no command {name}\nAvailable: {', '.join(list_names(own))}")

    return OwnCommand("help", "list the commands, or show the help of one", "[COMMAND]", run=run)
