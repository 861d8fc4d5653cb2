"""Judge what a lock file says against itself: the address of an entry names its package and version.

What the address names is what is installed, whatever the entry is called.
"""

import re
from collections.abc import Iterator
from posixpath import basename, dirname, join
from urllib.parse import unquote

from cli_guard.reviewers.dependencies.changes import DependencyChange
from cli_guard.reviewers.dependencies.judging import (
    DependencyWorld,
    Remark,
    message_of_host,
)
from cli_guard.reviewers.dependencies.lock_files import LockListing
from cli_guard.reviewers.dependencies.reading import Dependency, normalise

# An address of a registry of npm: the package, and the file with its version.
NPM = re.compile(r"/((?:@[^/]+/)?[^/@]+)/-/(?:@[^/]+/)?([^/]+)\.tgz$")
WHEEL = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(?:-[^-]+){3,4}\.whl$")
ARCHIVE = re.compile(r"(?P<stem>.+)\.(?:tar\.(?:gz|bz2|xz)|zip|tgz)$")
GITHUB = re.compile(
    r"//(?:api\.github\.com/repos|github\.com)/([^/]+/[^/]+?)(?:\.git)?(?:/|$)"
)
ZIPBALL = re.compile(r"//api\.github\.com/repos/[^/]+/[^/]+/zipball/([0-9a-f]{40})$")
# The manifest that names a package behind another name, and what it writes before the package.
MANIFESTS = {"npm": ("package.json", "npm:"), "hex": ("mix.exs", ":")}
NUMBER = re.compile(r"\d+|[a-z]+")


def judge_address(
    world: DependencyWorld,
    each: DependencyChange,
    was: Dependency | None,
    entry: Dependency,
) -> Iterator[Remark]:
    """Yield what the address of a locked package names instead of it, and the names that only the lock file has."""
    rule = "deps-lock-address"
    name = entry.name
    if not each.is_lock:
        return
    other = named_otherwise(entry)
    if other and not (was and named_otherwise(was) == other):
        yield rule, f"{name} {entry.spec} has the address of {other}"
    is_new = entry.package and not (was and was.package == entry.package)
    if is_new and not _is_stated(world, each, entry):
        message = (
            f"{name} is the package {entry.package} by another name, which nothing asks for"
        )
        yield rule, message
    for host in sorted(entry.hosts - {entry.host}):
        if each.is_new or each.old.is_empty or each.old.has_host(host):
            continue
        if world.is_first("host", host):
            yield "deps-new-host", message_of_host(each, was, entry, host)


def named_otherwise(entry: Dependency) -> str:
    """Return the package or version that an address names, empty if it is the entry's own or names none."""
    bare = unquote(re.split("[?#]", entry.source)[0])
    if entry.ecosystem == "npm":
        return _npm_otherwise(entry, bare.lower())
    if entry.ecosystem == "composer":
        return _composer_otherwise(entry)
    if entry.ecosystem == "pypi":
        others = (_file_otherwise(entry, each) for each in sorted(entry.addresses))
        return next(filter(None, others), "")
    return ""


def _npm_otherwise(entry: Dependency, address: str) -> str:
    found = NPM.search(address)
    if found is None:
        return ""
    name = entry.package or entry.name
    last = basename(name)
    version = entry.spec.lower().partition("+")[0]
    file = found[2].partition("+")[0]
    if found[1] != name or not file.startswith(f"{last}-"):
        return f"{found[1]} ({file})" if found[1] == name else found[1]
    return "" if not version or file == f"{last}-{version}" else file


def _file_otherwise(entry: Dependency, address: str) -> str:
    """Return what the file of a wheel or of a source archive names instead of its package and version."""
    file = basename(unquote(re.split("[?#]", address)[0]))
    wheel = WHEEL.match(file)
    if wheel:
        name = wheel["name"]
        version = wheel["version"]
    else:
        archive = ARCHIVE.match(file)
        # The name of an archive has as many words as its package: the rest is the version.
        words = entry.name.count("-") + 1
        parts = re.split(r"[-_.]+", archive["stem"]) if archive else []
        if len(parts) <= words:
            return ""
        name = "-".join(parts[:words])
        version = ".".join(parts[words:])
    is_own = normalise(name, "pypi") == entry.name
    return "" if is_own and _same_version(version, entry.spec) else file


def _same_version(one: str, other: str) -> bool:
    """Return whether two versions have the same numbers and words, however these are divided and padded."""
    first, second = (
        [part.lstrip("0") or "0" for part in NUMBER.findall(each.lower())]
        for each in (one, other)
    )
    return not second or first == second


def _composer_otherwise(entry: Dependency) -> str:
    """Return the repository or commit of an archive on GitHub, if they are not those of the package's source."""
    archive = GITHUB.search(entry.source)
    origin = GITHUB.search(entry.place)
    if archive and origin and archive[1].lower() != origin[1].lower():
        return archive[1]
    commit = ZIPBALL.search(entry.source)
    own = dict(entry.files).get("commit", "")
    return f"commit {commit[1]}" if commit and own and commit[1] != own else ""


def _is_stated(world: DependencyWorld, each: DependencyChange, entry: Dependency) -> bool:
    """Return whether a manifest, or another entry, asks for a package by another name."""
    name, mark = MANIFESTS.get(entry.ecosystem, MANIFESTS["npm"])
    wanted = f"{mark}{entry.package}"
    if isinstance(each.new, LockListing) and each.new.asks_for(entry.name, wanted):
        return True
    # The first Yarn writes below an entry what it asks for.
    lock = world.subject.text_at(each.path) or ""
    asked = rf'(?mi)^ +"?{re.escape(entry.name)}"? "{re.escape(wanted)}@'
    if re.search(asked, lock):
        return True
    manifest = world.subject.text_at(join(dirname(each.path), name)) or ""
    return wanted in manifest.lower()
