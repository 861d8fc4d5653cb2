"""Find and read the tables of the programs: TOML files under `programs/`, each read on demand."""

import re
from collections.abc import Mapping
from functools import cache
from posixpath import basename
from types import MappingProxyType
from typing import Any

from cli_guard.lazy import frozen
from cli_guard.rules import data

NAMES = "names"


@cache
def _files() -> Mapping[str, str]:
    """Map the names of the tables to their paths."""
    files = (path for path in data.paths() if path.startswith("programs/"))
    return MappingProxyType({basename(path).removesuffix(".toml"): path for path in files})


def programs() -> tuple[str, ...]:
    """Return the names of all tables, sorted by folder."""
    return tuple(name for name in _files() if name != NAMES)


def exists(name: str) -> bool:
    """Return whether a program has a table under this very name."""
    return name != NAMES and name in _files()


@cache
def other_names() -> Mapping[str, str]:
    """Map other names to the program with the table: `egrep` -> `grep`."""
    return MappingProxyType(data.read(_files()[NAMES])["names"])


def read(name: str, *, examples: bool = False) -> dict[str, Any]:
    """Return a table as data, its examples too if asked for. Raises KeyError if it does not exist."""
    table: dict[str, Any] = data.read(_files()[name], examples=examples)
    return table


@cache
def words(name: str) -> Mapping[str, Any]:
    """Return the lists of words of `rules/words/NAME.toml`, each split at its blanks."""

    def split(given: Any) -> Any:
        return (
            given.split()
            if isinstance(given, str)
            else {key: split(each) for key, each in given.items()}
        )

    lists: dict[str, Any] = split(data.read(f"words/{name}.toml"))
    return MappingProxyType(lists)


@frozen
class WorkspaceLists:
    """The lists of `rules/workspace.toml`; its comments say what each is for."""

    runs: frozenset[str]
    forms: tuple[str, ...]
    runners: frozenset[str]
    local: frozenset[str]
    opens: frozenset[str]
    cleans: frozenset[str]
    writes: frozenset[str]
    asks: tuple[str, ...]
    leaves: frozenset[str]
    alone: frozenset[str]
    production: frozenset[str]
    affixes: frozenset[str]
    builds: frozenset[str]
    brings: frozenset[str]
    formats: frozenset[str]
    patterns: tuple[str, ...]
    paths: frozenset[str]
    flags: frozenset[str]
    git: Mapping[str, tuple[str, ...]]
    files: Mapping[str, re.Pattern[str]]


# Its lists of which the order says nothing.
SETS = "runners local opens cleans writes leaves alone production affixes builds brings formats"


@cache
def workspace() -> WorkspaceLists:
    """Return what a trusted work tree allows."""
    lists = data.read("workspace.toml")
    variables = lists["variables"]
    files = {**lists["files"], "flags": variables["safe"]}
    return WorkspaceLists(
        runs=frozenset((*lists["runs"], *lists["runners"])),
        forms=tuple(name for name in lists["runs"] if "*" in name),
        asks=tuple(lists["asks"]),
        patterns=tuple(lists["patterns"]),
        paths=frozenset(variables["paths"]),
        flags=frozenset(variables["flags"]),
        git={name: tuple(words) for name, words in lists["git"].items()},
        files={name: re.compile(text) for name, text in files.items()},
        **{name: frozenset(lists[name]) for name in SETS.split()},
    )
