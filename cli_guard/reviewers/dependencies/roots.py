"""Read what a lock file says that a package of the repository itself asks for: the list that its manager compares.

A lock of Poetry, PDM, Pipenv or Composer has a hash in its place, so nothing is known of those.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from posixpath import basename, dirname, normpath, relpath
from typing import Any

from cli_guard.lazy import dataclass
from cli_guard.reviewers.dependencies.reading import normalise

# How uv.lock says where a package of the repository is.
OWN_SOURCES = ("editable", "virtual", "directory")
NPM_LISTS = ("dependencies", "optionalDependencies", "peerDependencies")


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


def read_root(lock: str, text: str, manifest: str) -> RootList | None:
    """Return what a lock file lists for a manifest, None if it has no such list or cannot be read."""
    folder = relpath(dirname(manifest) or ".", dirname(lock) or ".")
    try:
        match basename(lock):
            case "uv.lock":
                return _read_uv(tomllib.loads(text), folder)
            case "package-lock.json" | "npm-shrinkwrap.json":
                return _read_npm(json.loads(text), folder)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        pass  # broken or of another form: what is in it is compared without the list
    return None


def _read_uv(lock: Mapping[str, Any], folder: str) -> RootList | None:
    for package in lock.get("package", ()):
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


def _read_npm(lock: Mapping[str, Any], folder: str) -> RootList | None:
    package = lock["packages"].get("" if folder == "." else folder)
    if package is None:
        return None
    runs = (name for key in NPM_LISTS for name in package.get(key, ()))
    develops = package.get("devDependencies", ())
    return RootList(
        frozenset(normalise(name, "npm") for name in runs),
        frozenset(normalise(name, "npm") for name in develops),
    )
