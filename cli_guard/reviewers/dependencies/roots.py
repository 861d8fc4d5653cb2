"""Read what a lock file says that a package of the repository itself asks for: the list that its manager compares.

A lock of Poetry, PDM, Pipenv or Composer has a hash in its place, so nothing is known of those.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from posixpath import basename, dirname, normpath, relpath
from typing import Any

from cli_guard.lazy import dataclass
from cli_guard.reviewers.commands.extract.nodes import Node, Table
from cli_guard.reviewers.commands.extract.yaml_nodes import read_yaml
from cli_guard.reviewers.dependencies.reading import normalise

# How uv.lock says where a package of the repository is.
OWN_SOURCES = ("editable", "virtual", "directory")
NPM_LISTS = ("dependencies", "optionalDependencies", "peerDependencies")
# What pnpm writes of the packages of the workspace stands before all others; only this is read.
IMPORTERS = re.compile(r"(?m)^importers:[ \t]*\n((?:[ \t].*\n|[ \t]*\n)+)")
# bun.lock is JSON with a comma behind the last item.
LAST_COMMA = re.compile(r",(\s*[}\]])")


@dataclass(frozen=True, slots=True)
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


def read_root(lock: str, text: str, manifest: str, manifest_text: str) -> RootList | None:
    """Return what a lock file lists for a manifest, None if it has no such list or cannot be read."""
    folder = relpath(dirname(manifest) or ".", dirname(lock) or ".")
    reader = READERS.get(basename(lock))
    if reader is None or not text:
        return None
    try:
        return reader(text, folder, manifest_text)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None  # broken or of another form: what is in it is compared without the list


def _read_uv(text: str, folder: str, _: str) -> RootList | None:
    packages = tomllib.loads(text).get("package", ())
    for package in packages:
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


def _read_npm(text: str, folder: str, _: str) -> RootList | None:
    packages = json.loads(text)["packages"]
    return _read_member(packages, "" if folder == "." else folder)


def _read_bun(text: str, folder: str, _: str) -> RootList | None:
    members = json.loads(LAST_COMMA.sub(r"\1", text))["workspaces"]
    return _read_member(members, "" if folder == "." else folder)


def _read_member(members: Mapping[str, Any], folder: str) -> RootList | None:
    """Return the lists of one package of a workspace, by the keys of package.json."""
    package = members.get(folder)
    if package is None:
        return NO_MEMBER if folder and "" in members else None
    runs = (name for key in NPM_LISTS for name in package.get(key, ()))
    develops = package.get("devDependencies", ())
    return RootList(
        frozenset(normalise(name, "npm") for name in runs),
        frozenset(normalise(name, "npm") for name in develops),
    )


def _read_pnpm(text: str, folder: str, _: str) -> RootList | None:
    found = IMPORTERS.search(text)
    members = _plain(*read_yaml("pnpm-lock.yaml", found[1]).roots) if found else {}
    if not isinstance(members, dict) or not members:
        return None
    return _read_member({"": {}} | members, folder)


def _plain(node: Node) -> Any:
    """Return a tree of tables as dictionaries; what is no table is only there."""
    if not isinstance(node, Table):
        return None
    return {key: _plain(value) or {} for key, value in node.items()}


def _read_cargo(text: str, _: str, manifest_text: str) -> RootList | None:
    manifest = tomllib.loads(manifest_text)
    name = manifest.get("package", {}).get("name")
    # What a workspace shares is not asked for by its root.
    if not name or "dependencies" in manifest.get("workspace", {}):
        return None
    for package in tomllib.loads(text).get("package", ()):
        if package["name"] == name and "source" not in package:
            names = (each.split()[0] for each in package.get("dependencies", ()))
            found = frozenset(normalise(each, "cargo") for each in names)
            return RootList(found, found)
    return None


READERS: Mapping[str, Callable[[str, str, str], RootList | None]] = {
    "uv.lock": _read_uv,
    "package-lock.json": _read_npm,
    "npm-shrinkwrap.json": _read_npm,
    "bun.lock": _read_bun,
    "pnpm-lock.yaml": _read_pnpm,
    "Cargo.lock": _read_cargo,
}
