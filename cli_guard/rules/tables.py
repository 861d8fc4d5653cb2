"""Finds and reads the tables of the programs: TOML files under `programs/`, each read when it is first asked for."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cli_guard.rules.catalog import FOLDER

NAMES = "names"


@cache
def _files() -> Mapping[str, Path]:
    return MappingProxyType({path.stem: path for path in sorted((FOLDER / "programs").rglob("*.toml"))})


def programs() -> tuple[str, ...]:
    """The names of all tables, sorted by folder."""
    return tuple(name for name in _files() if name != NAMES)


def exists(name: str) -> bool:
    """Is there a table of this name?"""
    return name != NAMES and name in _files()


@cache
def other_names() -> Mapping[str, str]:
    """The program whose table stands for another name: `egrep` -> `grep`."""
    with _files()[NAMES].open("rb") as file:
        return MappingProxyType(tomllib.load(file)["names"])


def read(name: str) -> dict[str, Any]:
    """A table as data. Raises KeyError for one that is not there."""
    with _files()[name].open("rb") as file:
        return tomllib.load(file)
