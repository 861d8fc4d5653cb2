"""The known moves from one library to another, as data: `rules/editing/*.toml`, read when first asked for."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from cli_guard.rules.catalog import FOLDER


@dataclass(frozen=True, slots=True)
class CallChange:
    """A call that has an exact counterpart: a name, or a pattern with arguments; and the import it then needs.

    A name that begins with a dot is a method of any object, in files that import the old library.
    """

    old: str
    new: str
    needs: str = ""


@dataclass(frozen=True, slots=True)
class HandWork:
    """A call that a person must look at, and why; `owner` is a pattern that what it is called on must fit."""

    call: str
    why: str
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Dependency:
    """An entry of a manifest: what it becomes; gone, if `new` is empty. `version` as the manifest writes it."""

    ecosystem: str
    old: str
    new: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Migration:
    """One pair of libraries. `prefixes` are how the old one is imported, `imports` old -> new name (gone if "")."""

    name: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    languages: tuple[str, ...]
    prefixes: tuple[str, ...]
    # Is it a part of the language, which no file imports?
    builtin: bool = False
    # Are tests changed too, where it is a part of the language?
    tests: bool = False
    # Is only a part of what is imported meant, so that other uses are no work?
    partial: bool = False
    imports: Mapping[str, str] = field(default_factory=dict)
    calls: tuple[CallChange, ...] = ()
    by_hand: tuple[HandWork, ...] = ()
    # Lines that a person must look at: a pattern and why.
    look: tuple[tuple[re.Pattern[str], str], ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    configuration: tuple[str, ...] = ()
    configuration_step: str = ""
    risks: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()


@cache
def migrations() -> tuple[Migration, ...]:
    """All known migrations, by name."""
    return tuple(
        read(path.stem, path.read_text("utf-8")) for path in sorted((FOLDER / "editing").glob("*.toml"))
    )


def read(name: str, text: str) -> Migration:
    """A migration of a TOML text. Raises tomllib.TOMLDecodeError and KeyError: the files are ours."""
    data: dict[str, Any] = tomllib.loads(text)
    return Migration(
        name,
        tuple(data["from"]),
        tuple(data["to"]),
        tuple(data["languages"]),
        tuple(data["prefixes"]),
        data.get("builtin", False),
        data.get("tests", False),
        data.get("partial", False),
        data.get("imports", {}),
        tuple(CallChange(c["old"], c["new"], c.get("import", "")) for c in data.get("call", ())),
        tuple(HandWork(h["call"], h["why"], h.get("owner", "")) for h in data.get("by_hand", ())),
        tuple((re.compile(each["pattern"], re.MULTILINE), each["why"]) for each in data.get("look", ())),
        tuple(
            Dependency(d["ecosystem"], d["old"], d.get("new", ""), d.get("version", ""))
            for d in data.get("dependency", ())
        ),
        tuple(data.get("configuration", ())),
        data.get("configuration_step", ""),
        tuple(data.get("risks", ())),
        tuple(data.get("steps", ())),
    )


def plain(name: str) -> str:
    """A library's name as people write it in a request."""
    return re.sub(r"[\s_]+", "-", name.strip().strip("`'\"").lower())


def find(old: str, new: str) -> Migration | None:
    """The migration between two libraries, by any of their names."""
    for each in migrations():
        if plain(old) in map(plain, each.old) and plain(new) in map(plain, each.new):
            return each
    return None
