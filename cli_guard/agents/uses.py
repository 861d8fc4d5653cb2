"""What a coding agent wants to do: typed uses of its tools, read from the name and the input of a tool.

Agents name the same things differently (`Bash`, `run_shell_command`; `file_path`, `filePath`, `path`): every known name
counts, for every agent.
"""

from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import Any

from cli_guard.agents.payload import parse, text_in
from cli_guard.lazy import dataclass, regex

# The largest request, in bytes: a tool that writes a file sends all of it.
LARGEST = 20_000_000
FOLDERS = ("workdir", "dir_path", "directory", "cwd")
PATHS = (
    *(
        "file_path",
        "filePath",
        "path",
        "notebook_path",
        "absolute_path",
        "target_file",
        "target_notebook",
    ),
    *("dir_path", "paths", "include"),
)
# The patterns of the files that a search goes through.
GLOBS = ("glob", "globs", "include_pattern", "includePattern")
# The text of a whole file, and of one that is replaced, in the words of the tools.
WHOLE = ("content", "contents", "file_text", "fileText")
OLD = ("old_string", "oldString", "old_str", "oldStr", "old_text", "oldText")
REPLACEMENTS = (
    "new_string",
    "newString",
    "new_str",
    "newStr",
    "new_text",
    "newText",
    "insert_text",
)
PATCHES = ("patchText", "patch", "input", "command")
PATCHED = regex(r"\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)")


class ToolKind(Enum):
    """The kinds of tool that are judged. A search may go without a path."""

    SHELL = auto()
    WRITE = auto()
    PATCH = auto()
    READ = auto()
    SEARCH = auto()
    FETCH = auto()


NAMES = {
    ToolKind.SHELL: "Bash bash Shell powershell run_shell_command",
    ToolKind.WRITE: "Write Edit MultiEdit NotebookEdit EditNotebook StrReplace Delete write edit multiedit create"
    " str_replace_editor write_file replace",
    ToolKind.PATCH: "apply_patch patch",
    ToolKind.READ: "Read NotebookRead read view view_image read_file read_many_files",
    ToolKind.SEARCH: "Grep grep rg grep_search search_file_content",
    ToolKind.FETCH: "WebFetch webfetch web_fetch",
}
TOOLS = {name: kind for kind, names in NAMES.items() for name in names.split()}


@dataclass(frozen=True, slots=True)
class ShellKind:
    """A shell command, and the folder it runs in, relative to that of the request."""

    command: str
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Write:
    """A file that is written or removed: the text that is new, and the text that it replaces.

    `whole` is the text after the write, where a tool gives it; `edits` are the texts that are replaced, each with its
    replacement, in order.
    """

    path: str
    added: str = ""
    removed: str = ""
    whole: str | None = None
    edits: tuple[tuple[str, str], ...] = ()

    def apply(self, text: str) -> str:
        """Return the text after the write; a replacement whose place is not found is added at the end."""
        if self.whole is not None:
            return self.whole
        for old, new in self.edits:
            is_found = bool(old) and old in text
            text = text.replace(old, new, 1) if is_found else f"{text}\n{new}".lstrip("\n")
        return text


@dataclass(frozen=True, slots=True)
class Read:
    path: str


@dataclass(frozen=True, slots=True)
class Fetch:
    """A request to the web: the text with the address, and all that is sent with it."""

    text: str


@dataclass(frozen=True, slots=True)
class McpCall:
    """A call of an MCP tool. `names` are the pairs of server ("" if not known) and tool that its name can mean."""

    names: tuple[tuple[str, str], ...]
    given: Mapping[str, Any]


Use = ShellKind | Write | Read | Fetch | McpCall


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """One request of an agent. `folder` is its current one; `silent` is why nobody can be asked, "" if it asks."""

    uses: tuple[Use, ...]
    folder: str = ""
    silent: str = ""


def read_object(raw: bytes) -> dict[str, Any]:
    """Parse a request. Raises ValueError."""
    if len(raw) > LARGEST:
        raise ValueError(
            f"the request is longer than {LARGEST:,} bytes: do it in smaller steps"
        )
    return as_object(parse(raw), "the request")


def as_object(value: object, what: str) -> dict[str, Any]:
    """Return an object, also one that is given as JSON in a text. Raises ValueError."""
    if isinstance(value, str):
        value = parse(value.encode("utf-8", "surrogatepass"))
    if not isinstance(value, dict):
        raise ValueError(f"{what} is not an object")
    return value


def check_event(data: Mapping[str, Any], event: str, key: str = "hook_event_name") -> None:
    """Raise ValueError for a request of another event."""
    if text_in(data, key) != event:
        raise ValueError(f"the event is {data[key]}, not {event}")


def find_folder(data: Mapping[str, Any]) -> str:
    """Return the current folder of a request, "" if it does not say. Raises ValueError."""
    return text_in(data, "cwd") if "cwd" in data else ""


def find_uses(name: str, given: Mapping[str, Any]) -> tuple[Use, ...]:
    """Return what a tool would do; nothing for an unknown tool that has no command. Raises ValueError."""
    kind = TOOLS.get(name)
    if kind is ToolKind.SHELL or (kind is None and "command" in given):
        return (read_shell(given),)
    if kind is ToolKind.PATCH:
        return read_patch(
            text_in(given, next((key for key in PATCHES if key in given), "patch"))
        )
    if kind is ToolKind.FETCH:
        return (Fetch("\n".join(texts_in(given))),)
    if kind is None:
        return ()
    paths = find_paths(given)
    if kind is ToolKind.SEARCH:
        globs = texts_in([given.get(key) for key in GLOBS])
        paths += [glob for glob in globs if glob and not glob.startswith("!")]
    if not paths and kind is not ToolKind.SEARCH:
        raise ValueError("there is no path")
    return (
        read_writes(given, paths)
        if kind is ToolKind.WRITE
        else tuple(Read(path) for path in paths)
    )


def read_writes(given: Mapping[str, Any], paths: list[str]) -> tuple[Write, ...]:
    """Return the writes of a tool: what is named `old…` is replaced, all other text is new."""
    old = {key: value for key, value in given.items() if key.startswith("old")}
    new = {
        key: value for key, value in given.items() if key not in PATHS and key not in old
    }
    added = "\n".join(texts_in(new))
    removed = "\n".join(texts_in(old))
    whole = next((given[key] for key in WHOLE if isinstance(given.get(key), str)), None)
    edits = tuple(find_edits(given))
    return tuple(Write(path, added, removed, whole, edits) for path in paths)


def find_edits(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the replacements of a tool: its own, or those of its list."""
    listed = given.get("edits")
    for each in listed if isinstance(listed, list) else [given]:
        if not isinstance(each, Mapping):
            continue
        old = next((each[key] for key in OLD if isinstance(each.get(key), str)), "")
        new = next(
            (each[key] for key in REPLACEMENTS if isinstance(each.get(key), str)), None
        )
        if new is not None:
            yield old, new


def split_name(name: str, between: str) -> tuple[tuple[str, str], ...]:
    """Return every way to split the name of an MCP tool into that of its server and its own."""
    parts = name.split(between)
    pairs = (
        (between.join(parts[:at]), between.join(parts[at:])) for at in range(1, len(parts))
    )
    return tuple(pair for pair in pairs if all(pair))


def find_mcp_call(name: str, between: str, given: Mapping[str, Any]) -> tuple[McpCall, ...]:
    """Return the call of an MCP tool that is named after its server (`github-create_issue`); nothing for others."""
    names = split_name(name, between)
    return (McpCall(names, given),) if names else ()


def read_shell(given: Mapping[str, Any]) -> ShellKind:
    """Return the command and its folder. Raises ValueError."""
    text = text_in(given, "command")
    folders = [text_in(given, key) for key in FOLDERS if given.get(key)]
    if len(set(folders)) > 1:
        raise ValueError("the command has two folders")
    return ShellKind(text, folders[0] if folders else "")


def find_paths(given: Mapping[str, Any]) -> list[str]:
    """Return every path of an input. Raises ValueError if one is empty or no text."""
    values = [given[key] for key in PATHS if given.get(key) is not None]
    paths = [
        each for value in values for each in (value if isinstance(value, list) else [value])
    ]
    for each in paths:
        if not text_in({"the path": each}, "the path"):
            raise ValueError("the path is empty")
    return paths


def texts_in(value: object) -> Iterator[str]:
    """Yield every text in plain data, the keys of objects too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield str(key)
            yield from texts_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)


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
