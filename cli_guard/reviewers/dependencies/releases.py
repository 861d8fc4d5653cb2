"""Judge the release that an entry asks for: its scripts, what is known of it, its name and its version."""

import re
from collections.abc import Iterator
from itertools import accumulate

from cli_guard.model import Severity
from cli_guard.repository.protocol import Searchable
from cli_guard.reviewers.dependencies import names
from cli_guard.reviewers.dependencies.changes import DependencyChange
from cli_guard.reviewers.dependencies.incidents import known_bad
from cli_guard.reviewers.dependencies.judging import OWNED, DependencyWorld, Remark
from cli_guard.reviewers.dependencies.reading import Dependency
from cli_guard.reviewers.dependencies.versions import is_major_move

LOOSE = "* x latest next >=0 >=0.0.0 + LATEST RELEASE dev-master dev-main @dev".split()
BRANCHES = frozenset("main master HEAD develop trunk latest stable".split())
UNVERSIONED = ("maven", "nuget", "gem", "go", "conda")
# Kinds of entries that ask no registry for a version.
PLACED = ("range", "replace", "image", "hook")
# In Gemfile.lock: a locked gem, and deeper what it needs.
LOCKED_GEM = re.compile(r"( {4}| {6})([\w.-]+)(?= \(|$)")


def judge_script(
    world: DependencyWorld,
    each: DependencyChange,
    was: Dependency | None,
    entry: Dependency,
) -> Iterator[Remark]:
    name = entry.name
    spec = entry.spec
    if not entry.has_script or (was and was.has_script):
        return
    if was:
        yield "deps-install-script", f"{name} {spec} now runs a script when it is installed"
        return
    is_popular = names.is_popular(entry.ecosystem, name)
    if not (each.is_new and is_popular):
        yield (
            "deps-install-script",
            f"{name} {spec} is new and runs a script when it is installed",
            Severity.LOW if is_popular else Severity.HIGH,
        )


def judge_advisory(
    world: DependencyWorld,
    each: DependencyChange,
    was: Dependency | None,
    entry: Dependency,
) -> Iterator[Remark]:
    name = entry.name
    advisory = known_bad(entry.ecosystem, entry.package or name, entry.spec)
    version = entry.spec.lstrip("=^~v ")
    if advisory and world.is_first("bad", name, version):
        yield "deps-known-bad", f"{f'{name} {version}'.rstrip()}: {advisory}"


def judge_name(
    world: DependencyWorld,
    each: DependencyChange,
    was: Dependency | None,
    entry: Dependency,
) -> Iterator[Remark]:
    name = entry.name
    ecosystem = entry.ecosystem
    if was or world.was_known(ecosystem, name) or not world.is_first("name", name):
        return
    similar = names.similar_name(ecosystem, name)
    if similar and is_needed_by_known(world, each, entry):
        return
    if similar:
        # Forks and successors append a digit.
        is_successor = name[:-1] == similar and name[-1].isdigit()
        yield (
            "deps-similar-name",
            f"{name} is no known package, and its name resembles the popular {similar}",
            Severity.LOW if is_successor else Severity.HIGH,
        )
    elif not names.is_known_publisher(ecosystem, name) and world.is_first(
        "vscode", each.path
    ):
        yield "deps-unknown-extension", f"{name} is of a publisher who is not known"


def is_needed_by_known(
    world: DependencyWorld, each: DependencyChange, entry: Dependency
) -> bool:
    """Return whether the lock file says that a part of a popular package needs another part of it.

    `aws-sdk-resources` is a part of the popular `aws-sdk`, and needs hundreds of others. A name that is no part of it
    is judged, whoever needs it: anybody can write a lock file.
    """
    if not (each.is_lock and entry.ecosystem == "gem"):
        return False
    holder = ""
    for line in (world.subject.text_at(each.path) or "").split("\n"):
        found = LOCKED_GEM.match(line)
        if found and len(found[1]) == 4:
            holder = found[2]
        elif found and found[2] == entry.name:
            wholes = accumulate(holder.split("-"), "{}-{}".format)
            if any(
                entry.name.startswith(f"{whole}-") and names.is_popular("gem", whole)
                for whole in wholes
            ):
                return True
    return False


def judge_version(
    world: DependencyWorld,
    each: DependencyChange,
    was: Dependency | None,
    entry: Dependency,
) -> Iterator[Remark]:
    """Yield that a version is left open; note a move to another major one, which the code is asked about."""
    # An extension of an editor has no version here.
    if each.is_lock or entry.kind in PLACED or entry.source or entry.ecosystem == "vscode":
        return
    name = entry.name
    if is_loose(each, was, entry):
        if not is_own_package(world, entry) and world.is_first("unpinned", each.path):
            others = sum(is_loose(each, old, new) for old, new in each.pairs) - 1
            more = f"; {others} more have none" if others else ""
            yield (
                "deps-unpinned",
                f"{name} has no version: {entry.spec or 'any'} is accepted{more}",
            )
        return
    is_library = entry.kind != "dev" and entry.ecosystem not in (
        "go",
        "actions",
        "pre-commit",
    )
    if (
        was
        and is_library
        and entry not in each.beside
        and is_major_move(was.spec, entry.spec)
        and world.is_first("major", name)
    ):
        world.majors.append((each, was, entry))


def is_own_package(world: DependencyWorld, entry: Dependency) -> bool:
    """Return whether a manifest of the repository has the name of an entry: npm takes the workspace of that name."""
    contents = world.subject.contents
    if entry.ecosystem != "npm" or not isinstance(contents, Searchable):
        return False
    named = re.compile(rf'"name"\s*:\s*"{re.escape(entry.name)}"')
    hits = contents.search((entry.name,), ("package.json", "*/package.json"))
    return any(named.search(hit.text) for hit in hits.found)


def is_loose(each: DependencyChange, was: Dependency | None, entry: Dependency) -> bool:
    """Return whether an entry accepts any version where that says something."""
    spec = entry.spec.replace(" ", "")
    if each.ecosystem in OWNED:
        return each.ecosystem == "pre-commit" and spec in BRANCHES
    if spec or each.ecosystem in UNVERSIONED or entry.kind == "build":
        # Composer names what PHP itself must have as `ext-json`.
        is_platform = each.ecosystem == "composer" and entry.name.startswith("ext-")
        return not is_platform and (
            spec in LOOSE or (each.ecosystem == "maven" and spec.endswith("+"))
        )
    if each.ecosystem == "pypi":
        return bool(was and was.spec) or (entry.kind != "dev" and "spec" in each.usual)
    return each.ecosystem != "cargo" or entry.last == entry.line
