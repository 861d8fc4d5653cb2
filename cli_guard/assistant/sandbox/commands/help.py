"""`help`: the list of commands, and the help of one."""

from collections.abc import Callable, Mapping

from cli_guard.assistant.sandbox.commands.command import OwnCommand
from cli_guard.assistant.sandbox.model import Answer, Call, CommandFailure

# The commands of bash and of its text tools, each line names with their summary; bash has its builtins besides.
SUMMARIES = {
    "cat": "print files",
    "ls": "list a folder",
    "find": "find files by name, type, size",
    "grep": "print the lines that match (-r -n -i -v -c -l -o -w -E)",
    "rg": "grep -rn, with regular expressions of Rust",
    "head": "the first lines",
    "tail": "the last lines",
    "wc": "count lines, words, bytes",
    "sort": "sort lines",
    "uniq": "drop or count repeated lines",
    "cut": "columns of lines",
    "tr": "replace or delete characters",
    "sed": "edit lines by a script",
    "awk": "programs over lines and fields",
    "xargs": "make arguments of lines",
    "tee": "copy a stream to files",
    "comm": "compare two sorted files",
    "cmp": "where two files differ first",
    "paste": "join lines of files",
    "join": "join two sorted files by a field",
    "rev": "reverse each line",
    "tac": "lines from last to first",
    "nl": "number lines",
    "fold": "wrap lines",
    "fmt": "fill lines",
    "pr": "lay out in pages",
    "column": "align in columns",
    "shuf": "lines in any order",
    "tsort": "sort by dependencies",
    "seq": "a sequence of numbers",
    "expand unexpand": "tabs to spaces, spaces to tabs",
    "basename dirname": "the last part of a path, all but the last",
    "realpath": "the full path",
    "readlink": "where a link points",
    "stat": "what is known of a file",
    "file": "what kind of file it is",
    "du": "sizes of folders",
    "tree": "a folder as a tree",
    "jq": "query JSON",
    "yq": "query YAML",
    "od xxd hexdump": "bytes in octal or hex",
    "strings": "the text in a binary file",
    "base64": "encode or decode",
    "cksum md5sum sha1sum sha256sum sha512sum": "checksums",
    "iconv": "change the encoding",
    "gzip": "pack, unpack (-d), print what is packed (-dc)",
    "tar": "list (tf), unpack, pack",
    "unzip": "list (-l), unpack",
    "date": "the time",
    "echo": "print words",
    "printf": "print by a format",
    "test": "check files, strings, numbers; also [ ] and [[ ]]",
    "expr factor numfmt": "compute, prime factors, numbers with units",
    "read": "read a line into variables",
    "true false": "succeed, fail",
    "cd pwd": "change the folder, print it",
    "cp mv ln": "copy, move, link (ends with the call)",
    "rm rmdir": "remove (ends with the call)",
    "mkdir touch mktemp": "make a folder or file (ends with the call)",
    "chmod truncate": "change permissions, cut a file (ends with the call)",
    "patch": "apply a diff (ends with the call)",
    "split": "cut a file in pieces",
    "env printenv": "the environment, one variable of it",
    "envsubst": "fill variables into text",
    "which": "is there such a command",
    "timeout": "run with a limit of time",
    "sleep": "wait",
    "yes": "one line again and again",
    "bash": "run a text or a script of bash",
}
TOOLS = {name: f"{names}: {summary}" for names, summary in SUMMARIES.items() for name in names.split()}


def list_names(own: Mapping[str, OwnCommand]) -> list[str]:
    return sorted({*own, *TOOLS})


def list_commands(own: Mapping[str, OwnCommand]) -> str:
    """Return every command with its summary, ours first."""
    rows = {**{name: command.summary for name, command in own.items()}, **SUMMARIES}
    return "\n".join(("Available commands:", *(f"  {names}: {summary}" for names, summary in rows.items())))


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
            return Answer.from_text(f"{TOOLS[name]}\n  Works as in bash; its own help: {name} --help")
        raise CommandFailure(f"no command {name}\nAvailable: {', '.join(list_names(own))}")

    return OwnCommand("help", "list the commands, or show the help of one", "[COMMAND]", run=run)
