"""Releases known to be bad: `known-bad.toml`, kept by hand, and `taken-over.toml`, from a public list.

Both are read when a change names a dependency, never before.
"""

import re
from functools import cache

from cli_guard.reviewers.dependencies.reading import IMAGE_HOST
from cli_guard.reviewers.dependencies.versions import is_in_range
from cli_guard.rules.catalog import read_table

FILES = ("dependencies/known-bad.toml", "dependencies/taken-over.toml")
EXACT = re.compile(r"\s*(?:===?|=|\^|~=?|>=|v)?\s*v?(\d[\w.+-]*)\s*$")
COMMIT = re.compile(r"[0-9a-f]{40}")
# The table names a commit by so many digits.
COMMIT_DIGITS = 12
# Ecosystems whose names are the same in any case, beyond those of which the reader makes lower ones.
CASELESS = ("actions", "vscode", "docker")
# What Debian, Alpine and Fedora put around the version of the project: an epoch and their own revision.
DISTRIBUTED = re.compile(r"(?:\d+:)?([^-]+)(?:-.*)?")


@cache
def bad_versions() -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Return by ecosystem and name the bad versions, a text each, and what is known of them."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for file in FILES:
        for incident in read_table(file)["incident"]:
            what = f"{incident['what']} ({incident['source']})"
            for ecosystem, lines in incident["bad"].items():
                for line in filter(None, lines.split("\n")):
                    name, _, versions = line.partition(" ")
                    found.setdefault((ecosystem, name), []).append((versions, what))
    return found


def known_bad(ecosystem: str, name: str, spec: str) -> str | None:
    """Return what is known of a version, or of the version that a range begins with; None if nothing is."""
    known = bad_versions().get((ecosystem, _plain_name(ecosystem, name)))
    version = _plain_version(ecosystem, spec)
    for versions, what in known or ():
        if versions == "*":
            return what if version or not spec.strip("*") else None
        if version and _is_among(version, versions, ecosystem):
            return what
    return None


def _is_among(version: str, versions: str, ecosystem: str) -> bool:
    if versions.startswith((">", "<")):
        return is_in_range(version, versions, ecosystem) is True
    return version in versions.split()


def _plain_name(ecosystem: str, name: str) -> str:
    """Return a name as the table has it: an image without its registry, an action without a folder."""
    if ecosystem in CASELESS:
        name = name.lower()
    if ecosystem == "docker":
        name = IMAGE_HOST.sub("", name, count=1)
    if ecosystem == "actions":
        name = "/".join(name.split("/")[:2])
    return name


def _plain_version(ecosystem: str, spec: str) -> str:
    """Return the exact version that a text names or begins with, empty if it names none."""
    if COMMIT.fullmatch(spec):
        return spec[:COMMIT_DIGITS]
    if ecosystem == "system":
        found = DISTRIBUTED.fullmatch(spec)
        return found[1] if found else ""
    exact = EXACT.match(spec.removesuffix("/go.mod"))
    return exact[1] if exact else ""
