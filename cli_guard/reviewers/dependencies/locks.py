"""Compare manifests with their lock files: what one names and the other does not have."""

from collections.abc import Iterator
from contextlib import suppress
from posixpath import dirname, join

from cli_guard.errors import MissingObject
from cli_guard.model import FileChange, Finding, Status
from cli_guard.reviewers.dependencies.changes import NOTHING, Difference, deadline
from cli_guard.reviewers.dependencies.judging import World, findings_of
from cli_guard.reviewers.dependencies.reading import Entry, Listing, formats, read
from cli_guard.reviewers.dependencies.versions import is_in_range
from cli_guard.reviewers.new_roles import WholeTree

MOST_FOLDERS_UP = 4
MOST_NAMED = 3
COMPARED = ("", "dev", "build")


def text_of(world: World, path: str) -> str | None:
    """Return the text of a file after the change, whether it changes or not; None if there is none to read."""
    for change in world.subject.changes:
        if change.path == path:
            return None if change.status is Status.DELETED else world.subject.contents.new(change)
    contents = world.subject.contents
    if not isinstance(contents, WholeTree):
        return None
    with suppress(MissingObject):
        return contents.new(FileChange(path, Status.MODIFIED, new_blob=contents.object_name(path)))
    return None


def listing_of(world: World, path: str) -> Listing:
    """Return the entries of a file after the change."""
    for each in world.differences:
        if each.path == path:
            return each.new
    text = text_of(world, path)
    if text is None or len(text) > world.subject.limits.file_chars:
        return NOTHING
    return read(path, text, deadline(world.subject))


def lock_of(world: World, each: Difference) -> tuple[str, Listing]:
    """Return the lock file of a manifest, in its folder or above, with what it holds."""
    if each.path.endswith(".in"):
        path = f"{each.path[:-3]}.txt"
        return path, listing_of(world, path)
    if each.path.endswith(".txt"):
        return "", NOTHING
    folder = dirname(each.path)
    for _ in range(MOST_FOLDERS_UP):
        for name in each.new.locks:
            listing = listing_of(world, join(folder, name))
            if listing.entries:
                return join(folder, name), listing
        if not folder:
            break
        folder = dirname(folder)
    return "", NOTHING


def find_stale(world: World) -> Iterator[Finding]:
    """Yield the entries of manifests that their lock file does not have, and versions outside of their range."""
    for each in world.differences:
        if each.is_lock:
            yield from find_outside(world, each)
        elif each.new.locks:
            added = each.change.added
            changed = [e for _, e in each.pairs if e.kind in COMPARED and not e.source and is_locked(e)]
            # A compiled file has the entries of one environment: those with a marker may not be in it.
            changed = [
                e for e in changed if not each.path.endswith(".in") or ";" not in added.get(e.line, ";")
            ]
            path, lock = lock_of(world, each) if changed else ("", NOTHING)
            if lock.entries and not lock.problem:
                stale = [(e, why) for e in changed if (why := difference(e, lock))]
                for entry, why in stale[:MOST_NAMED]:
                    more = (
                        f"; so do {len(stale) - MOST_NAMED} more"
                        if len(stale) > MOST_NAMED and entry is stale[0][0]
                        else ""
                    )
                    yield from findings_of(
                        each, "deps-lock-stale", entry, f"{entry.name} {entry.spec}: {path} {why}{more}"
                    )


def is_locked(entry: Entry) -> bool:
    """Return whether a lock file has an entry of this name: the language itself is no package."""
    platform = entry.ecosystem == "composer" and (
        entry.name == "php" or entry.name.startswith(("ext-", "lib-"))
    )
    return not platform and not (
        entry.ecosystem == "pypi" and (entry.name == "python" or entry.kind == "build")
    )


def difference(entry: Entry, lock: Listing) -> str:
    """Say how a lock file contradicts an entry; empty if it does not, or nobody can tell."""
    same = [e for e in lock.entries if e.name == entry.name and not e.is_setting]
    versions = [e.spec.removesuffix("/go.mod") for e in same]
    if not same:
        return "does not have it"
    if any(e.source == "workspace:" for e in same):
        return ""
    if entry.ecosystem == "go":
        return "" if entry.spec in versions else "does not have that version"
    answers = [is_in_range(each.lstrip("="), entry.spec, entry.ecosystem) for each in versions]
    return f"has {', '.join(sorted(set(versions))[:3])}" if all(answer is False for answer in answers) else ""


def find_outside(world: World, each: Difference) -> Iterator[Finding]:
    """Yield the versions of a lock file that its manifest, unchanged, does not allow."""
    folder, _, name = each.path.rpartition("/")
    manifests = {
        "package.json": "npm",
        "pyproject.toml": "pypi",
        "Cargo.toml": "cargo",
        "composer.json": "composer",
        "Pipfile": "pypi",
        "Gemfile": "gem",
    }
    for manifest, ecosystem in manifests.items():
        path = join(folder, manifest)
        if ecosystem != each.ecosystem or any(d.path == path for d in world.differences):
            continue
        moved = {entry.name: entry for _, entry in each.pairs if not entry.is_setting}
        wanted = listing_of(world, path) if moved else NOTHING
        if name not in wanted.locks:
            continue
        for entry in wanted.entries:
            if (
                entry.name in moved
                and entry.kind in COMPARED
                and not entry.source
                and (why := difference(entry, each.new))
            ):
                yield from findings_of(
                    each,
                    "deps-lock-stale",
                    moved[entry.name],
                    f"{entry.name}: {path} asks for {entry.spec}, but {each.path} {why}",
                )


def find_removed_locks(world: World) -> Iterator[Finding]:
    """Yield the lock files that were removed while their manifest stays and no other lock file takes their place."""
    for each in world.differences:
        if (
            not each.is_lock
            or each.change.status is not Status.DELETED
            or not any(e.integrity for e in each.old.entries)
        ):
            continue
        name, folder = each.path.rpartition("/")[2], dirname(each.path)
        others = {lock for _, _, table in formats() for lock in table.get("locks", "").split()}
        table = next((t for _, _, t in formats() if name in t.get("locks", "").split()), None)
        siblings = table["locks"].split() if table else []
        if any(
            listing_of(world, join(folder, other)).entries
            for other in siblings
            if other != name and other in others
        ):
            continue
        manifests = (
            "package.json",
            "pyproject.toml",
            "Cargo.toml",
            "go.mod",
            "Gemfile",
            "composer.json",
            "Pipfile",
        )
        if any(
            listing_of(world, join(folder, manifest)).ecosystem == each.ecosystem for manifest in manifests
        ):
            yield from findings_of(
                each,
                "deps-integrity-lost",
                None,
                f"{each.path} is removed: versions and hashes are fixed by nothing",
            )
