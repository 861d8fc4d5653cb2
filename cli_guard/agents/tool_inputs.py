"""Read the uses of a tool from its name and its input.

Agents name the same things differently (`Bash`, `run_shell_command`; `file_path`, `filePath`, `path`): every known name
counts, for every agent. A tool with an unknown name is what the shape of its input says: an object with a command runs
it, one with a path and a text writes the file. Nothing else of it is judged.
"""

import shlex
from collections.abc import Iterator, Mapping
from enum import Enum
from itertools import chain
from typing import Any

from cli_guard.agents.payload import parse, text_in
from cli_guard.agents.uses import Fetch, Read, ShellKind, Use, Write, texts_in
from cli_guard.errors import UsageError
from cli_guard.lazy import regex
from cli_guard.rules import data as rules

TABLES = rules.read("dialects.toml")
KEYS = {name: tuple(words.split()) for name, words in TABLES["keys"].items()}
FOLDERS = KEYS["folders"]
PATHS = KEYS["paths"]
MCP_PATHS = KEYS["mcp_paths"]
TARGETS = KEYS["targets"]
LISTS = KEYS["lists"]
GLOBS = KEYS["globs"]
WHOLE = KEYS["whole"]
OLD = KEYS["old"]
REPLACEMENTS = KEYS["replacements"]
PATCHES = KEYS["patches"]
COMMANDS = KEYS["commands"]
VERBS = KEYS["verbs"]
INPUTS = KEYS["inputs"]
PATCH_START = "*** Begin Patch"
# A patch as the only command: what follows the first line that ends it would be run.
PATCH_CALL = regex(
    r"\s*apply_patch\s+<<\s*(['\"])(\w+)\1\n(?P<patch>(?:(?!\2\n).*\n)*)\2\s*\Z"
)
# So many commands may be in one request.
MOST_COMMANDS = 50
PATCHED = regex(r"\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)")


class ToolKind(Enum):
    """The kinds of tool that are judged. A search may go without a path."""

    SHELL = "shell"
    WRITE = "write"
    PATCH = "patch"
    READ = "read"
    SEARCH = "search"
    FETCH = "fetch"


TOOLS = {
    name: ToolKind(kind)
    for kind, names in TABLES["tools"].items()
    for name in names.split()
}
CHANGING = (ToolKind.SHELL, ToolKind.WRITE, ToolKind.PATCH)


def find_uses(name: str, given: Mapping[str, Any]) -> tuple[Use, ...]:
    """Return what a tool would do; an unknown one by the shape of its input. Raises ValueError."""
    kind = TOOLS.get(name)
    if kind is None:
        return find_shapes(given)
    if kind is ToolKind.PATCH:
        # Each agent reads another key.
        keys = [key for key in PATCHES if key in given] or ["patch"]
        return tuple(use for key in keys for use in read_patch(text_in(given, key)))
    commands = read_commands(given)
    if kind is ToolKind.SHELL:
        if not commands:
            raise ValueError("there is no command")
        return commands
    # One word is the verb of an editor.
    commands = tuple(each for each in commands if len(each.command.split()) > 1)
    if kind is ToolKind.FETCH:
        return (*commands, Fetch("\n".join(texts_in(given))))
    paths = find_paths(given)
    if kind is ToolKind.SEARCH:
        globs = texts_in([given.get(key) for key in GLOBS])
        paths += [glob for glob in globs if glob and not glob.startswith("!")]
    if not paths and kind is ToolKind.WRITE and (uses := find_shapes(given)):
        # Copilot calls its `apply_patch` Edit.
        return uses
    if not paths and kind is not ToolKind.SEARCH:
        raise ValueError("there is no path")
    if kind is ToolKind.WRITE:
        return (*commands, *read_writes(given, paths))
    return (*commands, *(Read(path) for path in paths))


def find_reads(given: Mapping[str, Any]) -> tuple[Read, ...]:
    """Return the files that a tool of an MCP server may read, by the keys of its input. Raises UsageError."""
    # Few requests need it, and every hook would wait for it.
    from urllib.parse import unquote, urlsplit

    keys = (*PATHS, *GLOBS, *MCP_PATHS)
    texts = sorted({text for key in keys for text in texts_in(given.get(key)) if text})
    if len(texts) > MOST_COMMANDS:
        raise UsageError("there are too many files in one request")
    paths = [
        unquote(urlsplit(text).path) if text.lower().startswith("file:") else text
        for text in texts
    ]
    return tuple(Read(path) for path in paths if path and "://" not in path)


def find_shapes(value: object) -> tuple[Use, ...]:
    """Return the commands that are run and the files that are written anywhere in plain data. Raises ValueError."""
    uses: list[Use] = []
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str) and each.lstrip().startswith(PATCH_START):
            uses += read_patch(each)
        elif isinstance(each, list):
            waiting += each
        elif isinstance(each, Mapping):
            uses += read_shape(each)
            waiting += [unpack(key, inner) for key, inner in each.items()]
        if len(uses) > MOST_COMMANDS:
            raise ValueError("there are too many commands in one request")
    return tuple(uses)


def unpack(key: str, value: object) -> object:
    """Return the input of a tool that is JSON in a text. Raises ValueError for a broken one."""
    is_packed = key in INPUTS and isinstance(value, str)
    if is_packed and str(value).lstrip().startswith(("{", "[")):
        return parse(str(value).encode("utf-8", "surrogatepass"))
    return value


def read_shape(given: Mapping[str, Any]) -> tuple[Use, ...]:
    """Return what one object says by its keys: a command, or a path with a text. Raises ValueError."""
    verb = given.get("command")
    has_path = any(given.get(key) for key in PATHS)
    if has_path and isinstance(verb, str) and verb in VERBS:
        paths = find_paths(given)
        if verb == "view":
            return tuple(Read(path) for path in paths)
        return read_writes(given, paths)
    has_text = any(isinstance(given.get(key), str) for key in (*WHOLE, *REPLACEMENTS))
    writes = read_writes(given, find_paths(given)) if has_path and has_text else ()
    moved = [given[key] for key in TARGETS if isinstance(given.get(key), str)]
    return (*read_commands(given), *writes, *(Write(path) for path in moved if path))


def read_commands(given: Mapping[str, Any]) -> tuple[ShellKind, ...]:
    """Return the commands of an object, each with its folder. Raises ValueError for one of another form."""
    folders = {text_in(given, key) for key in FOLDERS if given.get(key)}
    found = []
    for key, value in given.items():
        name = key.lower().replace("_", "")
        if name not in COMMANDS or value is None or isinstance(value, Mapping):
            continue
        if len(folders) > 1:
            raise ValueError("the command has two folders")
        texts = read_command_list(value) if name == "commands" else read_command(given, key)
        found += [ShellKind(text, next(iter(folders), "")) for text in texts]
    return tuple(found)


def read_command(given: Mapping[str, Any], key: str) -> list[str]:
    """Return a command: a text, or a list of words. Raises ValueError.

    With `args` there are two readings, a program with its arguments and a whole command: both are judged.
    """
    words = given[key]
    if isinstance(words, list):
        return [join_words(words)]
    text = text_in(given, key)
    more = given.get("args")
    return (
        [text, f"{text} {join_words(more)}"] if isinstance(more, list) and more else [text]
    )


def read_command_list(value: object) -> list[str]:
    """Return the commands of a list, also of one that is JSON in a text. Raises ValueError."""
    if isinstance(value, str):
        is_packed = value.lstrip().startswith("[")
        value = parse(value.encode("utf-8", "surrogatepass")) if is_packed else [value]
    if not isinstance(value, list):
        raise ValueError("commands is no list")
    # An object in it has a command of its own, which is found there.
    return [
        join_words(each)
        if isinstance(each, list)
        else text_in({"a command": each}, "a command")
        for each in value
        if not isinstance(each, Mapping)
    ]


def join_words(words: list[Any]) -> str:
    return shlex.join(text_in({"a word": word}, "a word") for word in words)


def read_writes(given: Mapping[str, Any], paths: list[str]) -> tuple[Write, ...]:
    """Return the writes of a tool: what is named `old…` is replaced, all other text is new."""
    old = {key: value for key, value in given.items() if key.startswith("old")}
    new = {
        key: value for key, value in given.items() if key not in PATHS and key not in old
    }
    added = "\n".join(texts_in(new))
    removed = "\n".join(texts_in(old))
    edits = [*find_edits(given)]
    wholes = [given[key] for key in WHOLE if isinstance(given.get(key), str)]
    whole = wholes[0] if len(wholes) == 1 and not edits else None
    if whole is None:
        # Which of them an agent reads is not known: each counts as added.
        edits += [("", text) for text in wholes]
    return tuple(Write(path, added, removed, whole, tuple(edits)) for path in paths)


def find_edits(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the replacements of a tool: its own, and those of its lists."""
    lists = [
        given[key] for key in ("edits", "replacements") if isinstance(given.get(key), list)
    ]
    for each in (given, *chain.from_iterable(lists)):
        if not isinstance(each, Mapping):
            continue
        old = next((each[key] for key in OLD if isinstance(each.get(key), str)), "")
        for key in REPLACEMENTS:
            if isinstance(each.get(key), str):
                yield old, each[key]


def find_paths(given: Mapping[str, Any]) -> list[str]:
    """Return every path of an input, and of the objects in its lists. Raises ValueError for one that is no text."""
    lists = [given[key] for key in LISTS if isinstance(given.get(key), list)]
    inner = [each for listed in lists for each in listed if isinstance(each, Mapping)]
    paths = []
    for each in (given, *inner):
        for key in PATHS:
            value = each.get(key)
            found = value if isinstance(value, list) else [value]
            paths += [
                path for path in found if path is not None and not isinstance(path, Mapping)
            ]
    for path in paths:
        if not text_in({"the path": path}, "the path"):
            raise ValueError("the path is empty")
    return paths


def read_patch(text: str) -> tuple[Write, ...]:
    """Return the files of a patch in the form `*** Begin Patch`. Raises ValueError if it names none."""
    files: dict[str, tuple[list[str], list[str]]] = {}
    lines: tuple[list[str], list[str]] = ([], [])
    for line in text.splitlines():
        if match := PATCHED.match(line.strip()):
            lines = files.setdefault(
                match[1].strip(), lines if "Move to" in match[0] else ([], [])
            )
        elif line[:1] in ("+", "-"):
            lines[line[0] == "-"].append(line[1:])
    if not files:
        raise ValueError("the patch names no file")
    writes = []
    for path, (new, old) in files.items():
        added = "\n".join(new)
        removed = "\n".join(old)
        writes.append(Write(path, added, removed, edits=((removed, added),)))
    return tuple(writes)
