"""The tables of `rules/agents/`: which files a tool reads, and what the keys in them mean. A file a tool.

    tool      how the tool is called in a finding
    folders   its folders: a file there that no table names is listed once
    grants    names of the tool's own tools by what they do: command, edit, read, fetch, server, silent

    [[file]]
    paths     a pattern over the end of a path, whole names
    format    json (with comments, the default), toml, yaml, front (front matter of Markdown), rules (of Codex),
              script, none
    roots     where the keys may begin, for a file that holds another one's keys; "" is the top
    merges    names of files beside it whose statements count together with its own
    text      whether an agent obeys the text
    local     why the file belongs to one user and not into a repository
    hooks     the places of hooks: a command, or a prompt or an address that gets what happens
    entry     what is read from it

An entry has a `kind` (start, permission, server, plugin, traffic, text that is obeyed, names of such texts) and places
`at`: keys with `/` between, `*` for any name, `[]` for each item of a list, or for a value that is none, `[--]` for
each argument of a program, an option with its value; or it has a pattern `matches` for the text of the file, whose
group is the value.
`when` are patterns that other keys below the place must match, `on` one for the value itself. `name` is a key whose
value names the statement, "key" for the last key of the place, or "value" for what a pattern matches.
What the other words of an entry mean is explained where they are used: `permissions`, `started`, `grants`, `traffic`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from cli_guard.lazy import frozen
from cli_guard.rules import data
from cli_guard.rules.catalog import read_table

GROUP = "agents"
RULES = "rules.toml"
# Tables that hold no tool: words and lists of the reviewers of one kind.
WITHOUT_TOOLS = frozenset((RULES, "programs.toml", "servers.toml", "text.toml"))


@frozen(eq=False)
class Entry:
    """What is read at some places of a file."""

    kind: str
    places: tuple[tuple[str, ...], ...]
    words: Mapping[str, Any]

    def word(self, name: str) -> str:
        """Return a word of the entry, empty if it has none."""
        return str(self.words.get(name, ""))


@frozen(eq=False)
class SurfaceFile:
    """One sort of file that a tool reads."""

    tool: str
    paths: re.Pattern[str]
    format: str
    roots: tuple[tuple[str, ...], ...]
    entries: tuple[Entry, ...]
    merges: tuple[str, ...]
    grants: Mapping[str, str]
    is_text: bool
    local: str


def steps_of(place: str) -> tuple[str, ...]:
    """Return the steps of a place, such as `permissions/allow/[]`."""
    return tuple(place.split("/")) if place else ()


def entries_of_hooks(places: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yield what is read from hooks, whatever tool starts them."""
    if not places:
        return
    programs = ["command", "bash", "powershell"]
    when = {"type": "command|^$"}
    yield {"kind": "start", "at": places, "when": when, "programs": programs}
    yield {"kind": "text", "at": [f"{place}/prompt" for place in places]}
    addresses = [f"{place}/url" for place in places]
    yield {"kind": "traffic", "at": addresses, "read": "address"}


def read_file(table: Mapping[str, Any], tool: Mapping[str, Any]) -> SurfaceFile:
    entries = tuple(
        Entry(each["kind"], tuple(map(steps_of, each.get("at", ()))), each)
        for each in (*entries_of_hooks(table.get("hooks", ())), *table.get("entry", ()))
    )
    grants = {
        name: sort
        for sort, names in tool.get("grants", {}).items()
        for name in names.split()
    }
    return SurfaceFile(
        tool=table.get("tool", tool["tool"]),
        paths=re.compile(rf"(?:^|/)(?:{table['paths']})$"),
        # What says nothing is not read.
        format=table.get("format", "json" if entries else "none"),
        roots=tuple(map(steps_of, table.get("roots", [""]))),
        entries=entries,
        merges=tuple(table.get("merges", ())),
        grants=MappingProxyType(grants),
        is_text=table.get("text", False),
        local=table.get("local", ""),
    )


@cache
def tools() -> tuple[Mapping[str, Any], ...]:
    """Return the tables of all tools, by the names of their files."""
    names = (name for name in data.names(GROUP) if name.endswith(".toml"))
    return tuple(
        read_table(f"{GROUP}/{name}") for name in names if name not in WITHOUT_TOOLS
    )


@cache
def every_file() -> tuple[SurfaceFile, ...]:
    """Return every sort of file of every tool."""
    return tuple(read_file(table, tool) for tool in tools() for table in tool["file"])


@cache
def folders() -> re.Pattern[str]:
    """Return the pattern of the folders that belong to a known tool alone."""
    every = "|".join(folder for tool in tools() for folder in tool["folders"])
    return re.compile(rf"(?:^|/)({every})/")


def files_of(path: str) -> Iterator[SurfaceFile]:
    """Yield what a path is to each tool that reads it."""
    return (each for each in every_file() if each.paths.search(path))
