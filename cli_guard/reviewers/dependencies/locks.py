"""Compare manifests with their lock files: what one names and the other does not have."""

import re
from collections.abc import Iterator
from posixpath import basename, dirname, join

from cli_guard.model import Finding
from cli_guard.reviewers.dependencies.changes import NOTHING, DependencyChange
from cli_guard.reviewers.dependencies.judging import DependencyWorld, findings_of
from cli_guard.reviewers.dependencies.lock_files import read_listing
from cli_guard.reviewers.dependencies.reading import Dependency, Listing, formats_of
from cli_guard.reviewers.dependencies.roots import NO_MEMBER, RootList, read_root
from cli_guard.reviewers.dependencies.versions import is_in_range
from cli_guard.reviewers.review_input import folders_above

MANIFESTS = (
    "package.json",
    "pyproject.toml",
    "Pipfile",
    "Cargo.toml",
    "go.mod",
    "Gemfile",
    "composer.json",
)
MOST_NAMED = 3
EXCLUDE_NEWER = re.compile(r"(?m)^exclude-newer\s*=\s*[\"'](\d{4}-\d\d-\d\d)")
UPLOADED = re.compile(r"\bupload-time\s*=\s*\"(\d{4}-\d\d-\d\d)")
FIRST_DAY = "0001-01-01"
COMPARED = ("", "dev")
# In Composer these are the language and what it is built with; in Poetry the language.
PLATFORM = ("php", "python", "ext-", "lib-")


def listing_of(world: DependencyWorld, path: str) -> Listing:
    """Return the entries of a file after the change, read once."""
    if path not in world.listings:
        known = next((each.new for each in world.differences if each.path == path), None)
        text = "" if known else world.subject.text_at(path) or ""
        is_short = len(text) <= world.subject.limits.file_chars
        world.listings[path] = known or (
            read_listing(path, text) if is_short and text else NOTHING
        )
    return world.listings[path]


def lock_of(world: DependencyWorld, each: DependencyChange) -> tuple[str, Listing]:
    """Return the lock file of a manifest, in its folder or above, with what it holds."""
    paths = [
        join(folder, name) for folder in folders_above(each.path) for name in each.new.locks
    ]
    if each.path.endswith((".in", ".txt")):
        paths = [f"{each.path[:-3]}.txt"] if each.path.endswith(".in") else []
    found = ((path, listing_of(world, path)) for path in paths)
    return next((pair for pair in found if not pair[1].is_empty), ("", NOTHING))


def manifests_of(lock: str) -> list[str]:
    """Return where the manifest of a lock file may be."""
    name = basename(lock)
    tables = ((each, table) for each in MANIFESTS for _, table in formats_of(each))
    return [
        join(dirname(lock), each)
        for each, table in tables
        if name in table.get("locks", "").split()
    ]


def review_locks(world: DependencyWorld) -> Iterator[Finding]:
    """Yield what manifests and lock files do not agree on, and the lock files that were removed."""
    for each in world.differences:
        if not each.is_lock:
            changed = any(may_be_locked(each, entry) for _, entry in each.pairs)
            path, lock = lock_of(world, each) if changed else ("", NOTHING)
            stale = list(find_stale(world, each, path, lock)) if path else []
            for entry, why in stale[:MOST_NAMED]:
                more = (
                    f" (and {len(stale) - MOST_NAMED} more)"
                    if len(stale) > MOST_NAMED
                    else ""
                )
                message = f"{entry.name} {entry.spec}: {path} {why}{more}"
                yield from findings_of(each, "deps-lock-stale", entry, message)
            continue
        yield from _too_new(world, each)
        manifests = [(path, listing_of(world, path)) for path in manifests_of(each.path)]
        had_hashes = each.change.is_deleted and any(
            entry.integrity for entry in each.old.sample()
        )
        bare = [
            path
            for path, manifest in manifests
            if not manifest.is_empty
            and all(
                listing_of(world, join(dirname(path), name)).is_empty
                for name in manifest.locks
            )
        ]
        if had_hashes and bare:
            message = f"{each.path} is removed: versions and hashes are fixed by nothing"
            yield from findings_of(each, "deps-integrity-lost", None, message)
        moved = {entry.name: entry for _, entry in each.pairs if not entry.is_setting}
        unchanged = [
            pair
            for pair in manifests
            if all(other.path != pair[0] for other in world.differences)
        ]
        for path, manifest in unchanged:
            for entry in manifest.entries:
                if (
                    (entry.name in moved or each.old.entries_named(entry.name))
                    and may_be_locked(each, entry)
                    and (why := contradiction(entry, each.new))
                    and not contradiction(entry, each.old)
                ):
                    message = (
                        f"{entry.name}: {path} asks for {entry.spec}, but {each.path} {why}"
                    )
                    yield from findings_of(
                        each, "deps-lock-stale", moved.get(entry.name), message
                    )


def find_stale(
    world: DependencyWorld, each: DependencyChange, path: str, lock: Listing
) -> Iterator[tuple[Dependency, str]]:
    """Yield the changed entries that a lock file contradicts, and how, unless it did so before the change."""
    manifest = world.subject.text_at(each.path) or ""
    other = next((other for other in world.differences if other.path == path), None)
    old_lock = other.old if other else lock
    root = read_root(path, lock, each.path, manifest)
    # Of a module that another one replaces, go.sum has only that one.
    replaced = {entry.name for entry in each.new.entries if entry.kind == "replace"}
    old_root = read_root(path, old_lock, each.path, manifest) if other else root
    for was, entry in each.pairs:
        if entry.name in replaced or not may_be_locked(each, entry):
            continue
        why = contradiction(entry, lock, root)
        if why and not (was and contradiction(was, old_lock, old_root)):
            yield entry, why


def _too_new(world: DependencyWorld, each: DependencyChange) -> Iterator[Finding]:
    """Yield what a lock of uv takes although it was uploaded after the date that the repository has set.

    uv writes the time of each upload, and the date itself: in the lock too if it is set as a span of days.
    """
    places = [
        each.path,
        *(join(dirname(each.path), name) for name in ("pyproject.toml", "uv.toml")),
    ]
    texts = (
        (world.subject.text_at(path) or "" for path in places)
        if each.path.endswith("uv.lock")
        else ()
    )
    dates = (match[1] for text in texts for match in EXCLUDE_NEWER.finditer(text))
    # Beside a span of days uv writes the first day of all.
    until = min((each for each in dates if each > FIRST_DAY), default="")
    for line, text in each.change.added.items() if until else ():
        uploaded = UPLOADED.search(text)
        if uploaded and uploaded[1][: len(until)] > until:
            entry = max(
                (e for e in each.new.every() if e.line <= line),
                key=lambda e: e.line,
                default=None,
            )
            name = f"{entry.name} {entry.spec}" if entry else "a file"
            message = (
                f"{name} was uploaded at {uploaded[1]}, after the {until} of exclude-newer"
            )
            yield from findings_of(each, "deps-cooldown", entry, message)
            return


def may_be_locked(each: DependencyChange, entry: Dependency) -> bool:
    """Return whether a lock file has to have an entry. A compiled file leaves out what its markers exclude."""
    has_marker = each.path.endswith(".in") and ";" in each.change.added.get(entry.line, ";")
    is_platform = (
        entry.ecosystem in ("composer", "pypi")
        and entry.name.startswith(PLATFORM)
        and "/" not in entry.name
    )
    is_language = is_platform and (entry.name in PLATFORM or entry.ecosystem == "composer")
    return entry.kind in COMPARED and not (entry.source or has_marker or is_language)


def contradiction(entry: Dependency, lock: Listing, root: RootList | None = None) -> str:
    """Say how a lock file contradicts an entry; empty if it does not, or nobody can tell.

    `root` is what it lists for the manifest: a package of that name may be there for another one.
    """
    if lock.is_empty or lock.problem or root is NO_MEMBER:
        return ""
    same = [e for e in lock.entries_named(entry.name) if e.key[0] == ""]
    versions = {e.spec.removesuffix("/go.mod") for e in same}
    if not same:
        return "does not have it"
    if root and root.lacks(entry.name, entry.kind):
        return "has it for other packages, but not for this one"
    if entry.ecosystem == "go":
        return "" if entry.spec in versions else "does not have that version"
    if any(
        e.source == "workspace:"
        or is_in_range(e.spec, entry.spec, entry.ecosystem) is not False
        for e in same
    ):
        return ""
    return f"has {', '.join(sorted(versions)[:MOST_NAMED])}"
