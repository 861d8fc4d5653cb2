"""Configuration files whose commands are at fixed paths, listed in `rules/command_files/known.toml`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cache
from typing import Any

from cli_guard.lazy import frozen
from cli_guard.reviewers.commands.extract.nodes import (
    Document,
    at,
    each_line,
    lines,
    tables,
    words,
)
from cli_guard.reviewers.commands.extract.snippet import Snippet, Where, shell_of
from cli_guard.rules.catalog import read_table

BRACES = re.compile(r"\{\{.{1,500}?\}\}", re.DOTALL)
YAML = r"\.ya?ml"


@frozen
class Known:
    """A kind of file; the fields are described in the table. `keys` gives the shell of each key."""

    paths: re.Pattern[str]
    where: Where
    lines: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict)
    hide: re.Pattern[str] | None = None

    def snippets(self, document: Document) -> Iterator[Snippet]:
        for found in self.find(document):
            yield found.substitute(self.hide) if self.hide else found

    def find(self, document: Document) -> Iterator[Snippet]:
        for places, read in (
            (self.lines, lines),
            (self.apart, each_line),
            (self.words, words),
        ):
            for place in places:
                for node in at(document.roots, *place.split(".")):
                    yield from read(node, self.where)
        if not self.keys:
            return
        for table in tables(document.roots):
            named = table.text("shell")
            for key, node in table.items():
                if key in self.keys:
                    yield from lines(
                        node, self.where, shell_of(named) if named else self.keys[key]
                    )


def path(pattern: str) -> re.Pattern[str]:
    """Compile a pattern over the end of a path: whole names, in either case."""
    return re.compile(rf"(?:^|/)(?:{pattern})$", re.IGNORECASE)


def _kind(row: Mapping[str, Any]) -> Known:
    hide = row.get("hide")
    return Known(
        paths=path("|".join(row["paths"])),
        where=Where(row["where"]),
        lines=tuple(row.get("lines", "").split()),
        apart=tuple(row.get("apart", "").split()),
        words=tuple(row.get("words", "").split()),
        keys={
            key: shell
            for shell, keys in row.get("keys", {}).items()
            for key in keys.split()
        },
        hide=re.compile(hide) if hide else None,
    )


@cache
def known_kinds() -> tuple[Known, ...]:
    return tuple(map(_kind, read_table("command_files/known.toml")["kind"]))
