"""The table of known servers, `rules/processes/servers.toml`, and what is told apart of a command that starts one."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from cli_guard.commands.expand.fields import Field
from cli_guard.rules.catalog import FOLDER


@dataclass(frozen=True, slots=True)
class Server:
    """One way of starting a server: a table of servers.toml, which says what its keys are."""

    program: tuple[str, ...]
    command: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    position: str = ""
    at: int = 0
    variables: tuple[str, ...] = ()
    default: int | None = None
    unless: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    bare: bool = False
    moves: bool = False


@dataclass(frozen=True, slots=True)
class Launch:
    """A program that is started: the words behind its name, and what is known of its environment."""

    program: str
    words: Sequence[Field] = ()
    variables: Mapping[str, str | None] = field(default_factory=dict)


@cache
def data() -> Mapping[str, Any]:
    """The file, as it is."""
    with (FOLDER / "processes" / "servers.toml").open("rb") as file:
        return tomllib.load(file)


@cache
def servers() -> Mapping[str, tuple[Server, ...]]:
    """The servers by each of their names."""
    found: dict[str, list[Server]] = {}
    for each in data()["server"]:
        server = _server(each)
        for name in server.program:
            found.setdefault(name, []).append(server)
    return {name: tuple(several) for name, several in found.items()}


@cache
def names() -> frozenset[str]:
    """What stands in every command that starts a server: its name, or that of a runner of scripts."""
    return frozenset(servers()) | {name for each in data()["runner"] for name in each["program"].split()}


def _server(each: Mapping[str, Any]) -> Server:
    lists = (
        "program",
        "command",
        "ports",
        "addresses",
        "published",
        "values",
        "variables",
        "unless",
        "needs",
    )
    plain = ("position", "at", "default", "bare", "moves")
    unknown = set(each) - {*lists, *plain, "except", "source", "fires", "silent"}
    if unknown:
        raise ValueError(f"servers.toml: {each['program']}: unknown key {sorted(unknown)[0]}")
    keys: dict[str, Any] = {key: tuple(each[key].split()) for key in lists if key in each}
    keys |= {key: each[key] for key in plain if key in each}
    return Server(**keys, excluded=tuple(each.get("except", "").split()))
