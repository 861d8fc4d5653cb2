"""Read what a lock file says that a package of the repository itself asks for: the list that its manager compares.

A lock of Poetry, PDM, Pipenv or Composer has a hash in its place, so nothing is known of those.
"""

import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from posixpath import basename, dirname, normpath, relpath
from typing import Any

from cli_guard.lazy import frozen
from cli_guard.reviewers.dependencies.lock_files import LockListing, data_of
from cli_guard.reviewers.dependencies.pieces import LockPiece
from cli_guard.reviewers.dependencies.reading import Listing, normalise

# What describes one package. The versions that a workspace shares are of none.
MANIFESTS = ("package.json", "pyproject.toml", "Cargo.toml")
# How uv.lock says where a package of the repository is.
OWN_SOURCES = ("editable", "virtual", "directory")
# Where a lock file has the packages of its workspace by their folders.
GROUPS = {
    "package-lock.json": "packages",
    "npm-shrinkwrap.json": "packages",
    "pnpm-lock.yaml": "importers",
    "bun.lock": "workspaces",
}
NPM_LISTS = ("dependencies", "optionalDependencies", "peerDependencies")


@frozen
class RootList:
    """The names that a package asks for to run, and those for its development (None: the lock does not say)."""

    runs: frozenset[str]
    develops: frozenset[str] | None

    def lacks(self, name: str, kind: str) -> bool:
        """Return whether the lock knows nothing of an entry of the manifest."""
        if kind == "dev":
            return self.develops is not None and name not in self.develops | self.runs
        return name not in self.runs


# The lock file of a folder above is not for this manifest: a template, an example.
NO_MEMBER = RootList(frozenset(), None)
# A member of the workspace that the lock file has nothing of.
UNLISTED = RootList(frozenset(), frozenset())


def read_root(
    path: str, lock: Listing, manifest: str, manifest_text: str
) -> RootList | None:
    """Return what a lock file lists for a manifest, None if it has no such list or cannot be read."""
    if basename(manifest) not in MANIFESTS or not isinstance(lock, LockListing):
        return None
    name = basename(path)
    folder = relpath(dirname(manifest) or ".", dirname(path) or ".")
    try:
        if name in GROUPS:
            return _read_workspace(lock, folder, GROUPS[name])
        if name == "uv.lock":
            return _read_uv(lock, folder)
        return _read_cargo(lock, manifest_text) if name == "Cargo.lock" else None
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None  # broken or of another form: what is in it is compared without the list


def _read_uv(lock: LockListing, folder: str) -> RootList | None:
    for piece in lock.pieces:
        if not any(key in piece.text for key in OWN_SOURCES):
            continue
        package = data_of(piece)
        source = package.get("source", {})
        places = [source[key] for key in OWN_SOURCES if key in source]
        if not any(normpath(place) == folder for place in places):
            continue
        metadata = package.get("metadata", {})
        optional = package.get("optional-dependencies", {})
        develops = [
            *package.get("dev-dependencies", {}).values(),
            *metadata.get("requires-dev", {}).values(),
        ]
        runs = (
            package.get("dependencies", ()),
            metadata.get("requires-dist", ()),
            *optional.values(),
        )
        return RootList(
            frozenset(_names(runs)), frozenset(_names(develops)) if develops else None
        )
    return None


def _names(lists: Any) -> Iterator[str]:
    for each in lists:
        yield from (normalise(item["name"], "pypi") for item in each)


def _read_workspace(lock: LockListing, folder: str, group: str) -> RootList | None:
    pieces = {each.key: each for each in lock.pieces if each.group == group}
    members = lock.head.get(group, pieces)
    top = "." if group == "importers" else ""
    key = top if folder == "." else folder
    if key in members:
        return _list_of(_data_in(members[key]))
    if top not in members:
        return None
    patterns = _data_in(members[top]).get("workspaces", ())
    is_member = any(fnmatchcase(folder, str(each).strip("./")) for each in patterns)
    return UNLISTED if is_member else NO_MEMBER


def _data_in(member: Any) -> Mapping[str, Any]:
    data: Mapping[str, Any] = data_of(member) if isinstance(member, LockPiece) else member
    return data


def _list_of(package: Mapping[str, Any]) -> RootList:
    """Return the lists of one package of a workspace, by the keys of package.json."""
    runs = (name for key in NPM_LISTS for name in package.get(key, ()))
    develops = package.get("devDependencies", ())
    return RootList(
        frozenset(normalise(name, "npm") for name in runs),
        frozenset(normalise(name, "npm") for name in develops),
    )


def _read_cargo(lock: LockListing, manifest_text: str) -> RootList | None:
    manifest = tomllib.loads(manifest_text)
    name = manifest.get("package", {}).get("name")
    # What a workspace shares is not asked for by its root.
    if not name or "dependencies" in manifest.get("workspace", {}):
        return None
    for package in (data_of(each) for each in lock.pieces if name in each.text):
        if package["name"] == name and "source" not in package:
            names = (each.split()[0] for each in package.get("dependencies", ()))
            found = frozenset(normalise(each, "cargo") for each in names)
            return RootList(found, found)
    return None
