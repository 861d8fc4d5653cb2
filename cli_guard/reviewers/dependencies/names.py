"""Popular names, names that resemble one, and versions known to be bad: the lists in `rules/dependencies/`."""

import re
from collections.abc import Iterator
from functools import cache

from cli_guard.reviewers.dependencies.versions import is_in_range
from cli_guard.rules import data
from cli_guard.rules.catalog import read_table

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-_."
# A name of four letters is one edit from many words.
SHORTEST = 5
LONGEST = 100
LISTED = ("pypi", "npm", "cargo", "gem", "nuget")
NO_DIGITS = str.maketrans("", "", "0123456789")
EXACT = re.compile(r"\s*(?:===?|=|\^|~=?|>=|v)?\s*v?(\d[\w.+-]*)\s*$")


@cache
def read_names(file: str) -> frozenset[str]:
    """Return the names of a list in the rules' folder, one a line; a line that begins with # is none."""
    lines = data.read(f"dependencies/{file}")
    return frozenset(line for line in lines if line and not line.startswith("#"))


def shorter(name: str) -> set[str]:
    """Return a name and what is left of it without one letter: two names one edit apart have one of these in common."""
    return {name, *(name[:at] + name[at + 1 :] for at in range(len(name)))}


@cache
def near_popular(ecosystem: str) -> frozenset[str]:
    return frozenset(
        each for name in read_names(f"{ecosystem}-popular.txt") for each in shorter(name)
    )


def edits(name: str) -> Iterator[str]:
    """Yield what one edit makes of a name: a letter less, two swapped, another letter, one more."""
    for at in range(len(name) + 1):
        head = name[:at]
        tail = name[at:]
        if tail:
            yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
        for letter in LETTERS:
            if tail:
                yield head + letter + tail[1:]
            yield head + letter + tail


def is_popular(ecosystem: str, name: str) -> bool:
    return ecosystem in LISTED and name in read_names(f"{ecosystem}-popular.txt")


def similar_name(ecosystem: str, name: str) -> str | None:
    """Return the popular name that an unknown one resembles, None if there is none or it is known."""
    if ecosystem not in LISTED or len(name) < SHORTEST or len(name) > LONGEST:
        return None
    popular = read_names(f"{ecosystem}-popular.txt")
    name = name.replace("_", "-") if ecosystem == "gem" else name
    if name in popular or name in read_names("similar.txt"):
        return None
    if name.partition("/")[0] in popular_scopes() or near_popular(ecosystem).isdisjoint(
        shorter(name)
    ):
        return None
    found = (each for each in edits(name) if each in popular and len(each) >= SHORTEST)
    # The lists that are not by downloads lack new projects, which often differ by a digit.
    letters = name.translate(NO_DIGITS)
    return next(
        (
            e
            for e in found
            if ecosystem in ("pypi", "npm") or e.translate(NO_DIGITS) != letters
        ),
        None,
    )


@cache
def popular_scopes() -> frozenset[str]:
    """Return the scopes of popular npm packages: nobody else can publish in them."""
    return frozenset(
        name.partition("/")[0]
        for name in read_names("npm-popular.txt")
        if name.startswith("@")
    )


@cache
def bad_versions() -> dict[tuple[str, str], list[tuple[str, str]]]:
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for each in read_table("dependencies/known-bad.toml")["bad"]:
        for name in each["name"].split():
            found.setdefault((each["ecosystem"], name), []).append(
                (each["versions"], f"{each['what']} ({each['source']})")
            )
    return found


def known_bad(ecosystem: str, name: str, spec: str) -> str | None:
    """Return what is known of a version, or of the version that a range begins with; None if nothing is."""
    exact = EXACT.match(spec.removesuffix("/go.mod"))
    wanted = bad_versions().get((ecosystem, name))
    if not wanted or not (exact or spec in ("", "*")):
        return None
    version = exact[1] if exact else ""
    for versions, what in wanted:
        if versions == "*" or version in versions.split():
            return what
        if (
            versions.startswith((">", "<"))
            and version
            and is_in_range(version, versions, ecosystem)
        ):
            return what
    return None
