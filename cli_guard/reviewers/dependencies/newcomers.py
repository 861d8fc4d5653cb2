"""Find the unknown packages that a patch release of another one brings into a lock file.

A release that only mends something seldom needs a package that nobody has heard of; most releases that were taken over
had one (flatmap-stream, peacenotwar, plain-crypto-js). No table is asked.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

from cli_guard.model import Finding
from cli_guard.reviewers.dependencies import names
from cli_guard.reviewers.dependencies.changes import DependencyChange
from cli_guard.reviewers.dependencies.judging import DependencyWorld, findings_of
from cli_guard.reviewers.dependencies.reading import LONGEST_LINE, Dependency, normalise
from cli_guard.reviewers.dependencies.versions import is_patch_move

RULE = "deps-brought-along"
# A finding for each of them would say the same.
MOST_NAMED = 3
WORD = re.compile(r"@?\w[\w.-]*(?:/\w[\w.-]*)?")
# pip-compile says below an entry which others ask for it.
VIA = re.compile(r"^\s+#(?:\s+via)?\s+(?P<name>[A-Za-z0-9][\w.-]*)")
# It writes what each package asks for in another part of the file than its version.
APART = "pnpm-lock.yaml"


def review_newcomers(world: DependencyWorld) -> Iterator[Finding]:
    """Yield the unknown packages that came beneath one that moves by a patch, a few for each file."""
    named = {
        entry.name
        for each in world.differences
        if not _is_resolved(each)
        for entry in each.new.entries
    }
    for each in world.differences:
        # Elsewhere too much is unknown.
        if (
            not _is_resolved(each)
            or each.is_new
            or each.ecosystem not in names.BY_DOWNLOADS
        ):
            continue
        if each.path.endswith(APART):
            continue
        patched = {
            entry.name: (was, entry)
            for was, entry in each.pairs
            if was and is_patch_move(was.spec, entry.spec)
        }
        newcomers = {
            entry.name: entry
            for was, entry in each.pairs
            if was is None and entry.name not in named and _is_unknown(entry)
        }
        brought = _find_brought(each, newcomers, patched) if newcomers and patched else {}
        for name, parent in list(brought.items())[:MOST_NAMED]:
            was, now = patched[parent]
            entry = newcomers[name]
            message = (
                f"{name} {entry.spec} comes with {parent}, which only moves from {was.spec}"
                f" to {now.spec}; no manifest names it, and it is not known"
            )
            yield from findings_of(each, RULE, entry, message)


def _is_resolved(each: DependencyChange) -> bool:
    """Return whether a file holds what a program has resolved: a lock file, or a compiled list of requirements."""
    if each.is_lock:
        return True
    return each.path.endswith(".txt") and any(
        "# via" in line for line in each.change.added.values()
    )


def _is_unknown(entry: Dependency) -> bool:
    if entry.is_setting or entry.source == "workspace:":
        return False
    scope = entry.name.partition("/")[0]
    if entry.ecosystem == "npm" and scope in names.popular_scopes():
        return False
    return not names.is_popular(entry.ecosystem, entry.name)


def _find_brought(
    each: DependencyChange,
    newcomers: dict[str, Dependency],
    patched: dict[str, tuple[Dependency, Dependency]],
) -> dict[str, str]:
    """Return for each newcomer that an added line names beneath a moved package that package."""
    brought: dict[str, str] = {}
    moved = (entry for _, entry in each.pairs)
    entries = sorted(
        moved if each.is_lock else each.new.entries, key=lambda entry: entry.line
    )
    lines = [entry.line for entry in entries]
    for number, text in each.change.added.items():
        at = bisect_right(lines, number) - 1
        if at < 0 or len(text) > LONGEST_LINE:
            continue
        owner = entries[at].name
        if not each.is_lock:
            via = VIA.match(text)
            parent = normalise(via["name"], each.ecosystem) if via else ""
            if owner in newcomers and parent in patched:
                brought.setdefault(owner, parent)
        elif owner in patched:
            words = (normalise(word, each.ecosystem) for word in WORD.findall(text))
            for name in words:
                if name in newcomers and not _is_of_one_scope(name, owner):
                    brought.setdefault(name, owner)
    return brought


def _is_of_one_scope(name: str, other: str) -> bool:
    return "/" in name and name.partition("/")[0] == other.partition("/")[0]
