"""Find and read the tables of the programs: TOML files under `programs/`, each read on demand."""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from cli_guard.rules.catalog import FOLDER

NAMES = "names"


@cache
def _files() -> Mapping[str, str]:
    # `rglob` takes seven times as long, at the start of every judgement.
    found = sorted(
        (folder, name)
        for folder, _, names in os.walk(FOLDER / "programs")
        for name in names
    )
    return MappingProxyType(
        {n.removesuffix(".toml"): f"{at}/{n}" for at, n in found if n.endswith(".toml")}
    )


def programs() -> tuple[str, ...]:
    """Return the names of all tables, sorted by folder."""
    return tuple(name for name in _files() if name != NAMES)


def exists(name: str) -> bool:
    """Return whether a program has a table under this very name."""
    return name != NAMES and name in _files()


@cache
def other_names() -> Mapping[str, str]:
    """Map other names to the program with the table: `egrep` -> `grep`."""
    with open(_files()[NAMES], "rb") as file:  # noqa: PTH123 - a Path for each table takes time
        return MappingProxyType(tomllib.load(file)["names"])


def read(name: str) -> dict[str, Any]:
    """Return a table as data. Raises KeyError if it does not exist."""
    with open(_files()[name], "rb") as file:  # noqa: PTH123
        return tomllib.load(file)


@cache
def words(name: str) -> Mapping[str, Any]:
    """The lists of words of `rules/words/NAME.toml`, each split at its blanks."""

    def split(given: Any) -> Any:
        return (
            given.split()
            if isinstance(given, str)
            else {key: split(each) for key, each in given.items()}
        )

    with (FOLDER / "words" / f"{name}.toml").open("rb") as file:
        lists: dict[str, Any] = split(tomllib.load(file))
    return MappingProxyType(lists)


@dataclass(frozen=True)
class WorkspaceLists:
    """The lists of `rules/workspace.toml`; its comments say what each is for."""

    runs: frozenset[str]
    forms: tuple[str, ...]
    runners: frozenset[str]
    local: frozenset[str]
    cleans: frozenset[str]
    writes: frozenset[str]
    asks: tuple[str, ...]
    leaves: frozenset[str]
    formats: frozenset[str]
    paths: frozenset[str]
    flags: frozenset[str]
    git: Mapping[str, tuple[str, ...]]
    files: Mapping[str, re.Pattern[str]]


@cache
def workspace() -> WorkspaceLists:
    """Return what a trusted work tree allows."""
    with (FOLDER / "workspace.toml").open("rb") as file:
        data = tomllib.load(file)
    return WorkspaceLists(
        runs=frozenset((*data["runs"], *data["runners"])),
        forms=tuple(name for name in data["runs"] if "*" in name),
        runners=frozenset(data["runners"]),
        local=frozenset(data["local"]),
        cleans=frozenset(data["cleans"]),
        writes=frozenset(data["writes"]),
        asks=tuple(data["asks"]),
        leaves=frozenset(data["leaves"]),
        formats=frozenset(data["formats"]),
        paths=frozenset(data["variables"]["paths"]),
        flags=frozenset(data["variables"]["flags"]),
        git={name: tuple(words) for name, words in data["git"].items()},
        files={
            name: re.compile(text)
            for name, text in {**data["files"], "flags": data["variables"]["safe"]}.items()
        },
    )
