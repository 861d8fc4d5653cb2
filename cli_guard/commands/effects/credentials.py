"""Tell by its path whether a file holds secrets; the paths are in `rules/words/credentials.toml`."""

import re
from functools import cache

from cli_guard.lazy import regex
from cli_guard.rules.tables import words

# The most names of a folder in the table: `.local/share/keyrings`, `/var/run/secrets`.
LONGEST_FOLDER = 4


class CredentialPaths:
    """The paths of one group. Those without a star are looked up: to compile a pattern for each takes 3 ms."""

    def __init__(self, group: str) -> None:
        listed = words("credentials")[group].values()
        entries = {entry for each in listed for entry in each}
        folders = {entry for entry in entries if entry.endswith("/**")}
        wild = {entry for entry in entries - folders if set("*?") & set(entry)}
        self.plain = frozenset(entries - folders - wild)
        self.folders = frozenset(entry.removesuffix("/**") for entry in folders)
        self.wild = regex("|".join(write_pattern(entry) for entry in sorted(wild)))

    def has(self, path: str) -> bool:
        names = path.split("/")
        ends = ["/".join(names[at:]) for at in range(len(names))]
        if not self.plain.isdisjoint(ends) or any(
            map(self.wild.fullmatch, (path, *ends[-3:]))
        ):
            return True
        lengths = range(1, LONGEST_FOLDER + 1)
        return any(
            "/".join(names[at : at + n]) in self.folders
            for at in range(len(names))
            for n in lengths
        )


def write_pattern(entry: str) -> str:
    """Write a path of the table as a regular expression."""
    return re.escape(entry).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")


@cache
def read_paths(group: str) -> CredentialPaths:
    return CredentialPaths(group)


def holds_secrets(path: str) -> bool:
    """Return whether a program keeps secrets in a file at this path."""
    return read_paths("secret").has(path) and not read_paths("public").has(path)


@cache
def list_hidden() -> tuple[str, ...]:
    """Return the plain paths that begin with a hidden name."""
    return tuple(path for path in read_paths("secret").plain if path.startswith("."))
