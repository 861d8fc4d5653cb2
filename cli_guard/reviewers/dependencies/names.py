"""Popular names, and names that resemble one: the lists in `rules/dependencies/`."""

import re
from functools import cache

from cli_guard.rules import data
from cli_guard.rules.near_names import LONGEST, edits, find_near, shorter

# A name of four letters is one edit from many words.
SHORTEST = 5
LISTED = ("pypi", "npm", "cargo", "gem", "nuget")
# The lists that are not by downloads lack new projects, which often differ by a digit.
BY_DOWNLOADS = ("pypi", "npm")
# Names that begin with the account of an owner, by what is behind it: the list has the owners.
OWNED_NAMES = {"actions": "/", "vscode": "."}
NO_DIGITS = str.maketrans("", "", "0123456789")
SEPARATORS = str.maketrans("", "", "-_.")
# A package of a registry that has its name behind that of a known one (`twilio-npm`).
REGISTRY = {"npm": "-npm", "pypi": "-pypi", "gem": "-gem", "cargo": "-crate"}
# What is put around the name of an owner to make it look like the owner's other one.
AROUND_OWNER = re.compile(r"^(?:go|golang)-|-(?:go|golang|org|io|dev|team|official)$")


@cache
def read_names(file: str) -> frozenset[str]:
    """Return the names of a list in the rules' folder, one a line; a line that begins with # is none."""
    lines = data.read(f"dependencies/{file}")
    return frozenset(line for line in lines if line and not line.startswith("#"))


def popular_names(ecosystem: str) -> frozenset[str]:
    return read_names(f"{ecosystem}-popular.txt")


@cache
def near_popular(ecosystem: str) -> frozenset[str]:
    return frozenset(each for name in popular_names(ecosystem) for each in shorter(name))


@cache
def joined_popular(ecosystem: str) -> dict[str, str]:
    """Return the popular names that have separators, by what they are without them."""
    return {
        joined: name
        for name in sorted(popular_names(ecosystem))
        if (joined := name.translate(SEPARATORS)) != name
    }


def is_popular(ecosystem: str, name: str) -> bool:
    return ecosystem in LISTED and name in popular_names(ecosystem)


def is_known_publisher(ecosystem: str, name: str) -> bool:
    """Return whether the publisher of an extension is known; other ecosystems have none."""
    return ecosystem != "vscode" or name.lower().partition(".")[0] in popular_names(
        "vscode"
    )


def similar_name(ecosystem: str, name: str) -> str | None:
    """Return the popular name that an unknown one resembles, None if there is none or it is known."""
    if len(name) < SHORTEST or len(name) > LONGEST:
        return None
    if ecosystem in LISTED:
        return _similar_package(ecosystem, name)
    if ecosystem == "maven":
        return _similar_group(name)
    if ecosystem == "go":
        return _similar_module(name.lower())
    if ecosystem in OWNED_NAMES:
        owner, mark, rest = name.lower().partition(OWNED_NAMES[ecosystem])
        similar = find_near(owner, popular_names(ecosystem), SHORTEST)
        return f"{similar}{mark}{rest}" if similar else None
    return None


def _similar_package(ecosystem: str, name: str) -> str | None:
    popular = popular_names(ecosystem)
    name = name.replace("_", "-") if ecosystem == "gem" else name
    if name in popular or name in read_names("similar.txt"):
        return None
    scope, slash, rest = name.partition("/")
    if slash:
        if scope in popular_scopes():
            return None
        if similar := find_near(scope, popular_scopes(), SHORTEST):
            return f"{similar}/{rest}"
    whole = name.removesuffix(REGISTRY.get(ecosystem, "/"))
    if whole != name and whole in popular:
        return whole
    joined = joined_popular(ecosystem).get(name.translate(SEPARATORS))
    if joined and len(joined) >= SHORTEST:
        return joined
    if near_popular(ecosystem).isdisjoint(shorter(name)):
        return None
    found = (each for each in edits(name) if each in popular and len(each) >= SHORTEST)
    letters = name.translate(NO_DIGITS)
    return next(
        (
            each
            for each in found
            if ecosystem in BY_DOWNLOADS or each.translate(NO_DIGITS) != letters
        ),
        None,
    )


def _similar_group(name: str) -> str | None:
    """Return an artifact with the known group that another one resembles: an edit, or another first part."""
    group, _, artifact = name.partition(":")
    known = popular_names("maven")
    # Who has a group has those beneath it, and the one around it.
    is_known = group in known or any(
        each.startswith(f"{group}.") or group.startswith(f"{each}.") for each in known
    )
    if is_known or not artifact:
        return None
    first, _, rest = group.partition(".")
    others = (
        f"{each}.{rest}" for each in ("com", "org", "io", "net", "dev") if each != first
    )
    similar = next((each for each in others if each in known and "." in rest), None)
    similar = similar or find_near(group, known, SHORTEST)
    return f"{similar}:{artifact}" if similar else None


def _similar_module(name: str) -> str | None:
    """Return the known Go module of another owner, whose name an unknown one's resembles."""
    known = popular_names("go")
    parts = name.split("/")[:3]
    if len(parts) < 3 or "/".join(parts) in known:
        return None
    host, owner, repository = parts
    others = [AROUND_OWNER.sub("", owner)]
    if len(owner) >= SHORTEST:
        others += edits(owner)
    modules = (f"{host}/{each}/{repository}" for each in others if each != owner)
    return next((each for each in modules if each in known), None)


@cache
def popular_scopes() -> frozenset[str]:
    """Return the scopes of popular and established npm packages: nobody else can publish in them."""
    listed = popular_names("npm") | read_names("similar.txt")
    return frozenset(name.partition("/")[0] for name in listed if name.startswith("@"))
