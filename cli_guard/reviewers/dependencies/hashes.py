"""Compare the hashes of one version before and after: of its only file, of several, or of files by their names."""

import re

from cli_guard.reviewers.dependencies.reading import Dependency

# What a hash names in front of it: its algorithm, or the key of Yarn's cache.
ALGORITHM = re.compile(r"(\w+)[-:/]")
# One entry of these is one file: another hash beside the old one admits another file.
ONE_FILE = ("npm", "cargo", "nuget")
WEAK = {"1": 160, "5": 128}


def has_other_hash(was: Dependency, entry: Dependency) -> bool:
    """Return whether two entries are of one version, but not of one content.

    A hash that comes beside those of other files is none, and neither is a stronger one of the same file.
    """
    is_same = was.spec == entry.spec and bool(entry.spec or entry.ecosystem == "deno")
    if not is_same or entry.kind == "image" or "dev" in entry.spec:
        return False
    if was.files and entry.files:
        before = dict(was.files)
        return any(
            name in before
            and before[name] != now
            and algorithm_of(before[name]) == algorithm_of(now)
            for name, now in entry.files
        )
    olds = {algorithm_of(each) for each in was.integrity}
    news = {algorithm_of(each) for each in entry.integrity}
    lost = {e for e in was.integrity - entry.integrity if algorithm_of(e) in news}
    added = {e for e in entry.integrity - was.integrity if algorithm_of(e) in olds}
    return bool(added) and (bool(lost) or entry.ecosystem in ONE_FILE)


def has_old_hash(was: Dependency, entry: Dependency) -> bool:
    """Return whether an entry is of another version, but has all the hashes of the one before.

    What these registries publish holds its version; a Git tree, or the go.mod of a module, may stay the same.
    """
    if entry.ecosystem not in (*ONE_FILE, "pypi") or was.source or entry.source:
        return False
    is_same = was.integrity == entry.integrity and was.files == entry.files
    return is_same and was.spec != entry.spec and bool(entry.integrity or entry.files)


def algorithm_of(integrity: str) -> str:
    found = ALGORITHM.match(integrity)
    return found[1] if found else ""


def strength(integrity: frozenset[str]) -> int:
    """Return the bits of the best hash that names its algorithm as npm and pip do, 1000 if none does."""
    found = (re.match(r"(?:sha|md)(\d+)[-:]", each) for each in integrity)
    return max(
        (WEAK.get(each[1], int(each[1])) for each in found if each),
        default=1_000,
    )
