"""Compare the entries of a file before and after: what came, what moved, what left."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from cli_guard.code.classify import is_vendored
from cli_guard.code.test_files import is_test_or_example
from cli_guard.model import FileChange, Kind, Skipped, Status
from cli_guard.reviewers.dependencies.reading import Dependency, Listing, formats_of, read
from cli_guard.reviewers.review_input import ReviewInput

# Endings and names of the files that may name dependencies, so that no table is read for a change without one.
MAYBE = re.compile(
    r"(?i)\.(?:json5?|toml|lock|lockfile|ya?ml|txt|in|cfg|ini|conf|xml|gradle|kts|props|properties|config|\w+proj|gemspec"
    r"|npmrc|yarnrc|mod|work|sum|locked|dockerfile|env|envrc)$|(?:pip|docker|container|gem|make)file[^/]*$|(?:setup\.py|gems\.rb|\.bundle/config)$"
)
NOTHING = Listing()
# A lock file in which nearly all have a hash is one in which all should.
MOST_HAVE = 0.8
# Versions of one name that are compared to find the one that an entry replaces.
MOST_OF_A_NAME = 20


@dataclass(frozen=True)
class DependencyChange:
    """One file before and after. `is_aside`: it belongs to a test, an example or a vendored copy."""

    change: FileChange
    new: Listing
    old: Listing

    @property
    def path(self) -> str:
        return self.change.path

    @property
    def ecosystem(self) -> str:
        return self.new.ecosystem or self.old.ecosystem

    @property
    def is_lock(self) -> bool:
        return self.new.is_lock or self.old.is_lock

    @cached_property
    def is_aside(self) -> bool:
        return is_test_or_example(self.path) or is_vendored(self.path)

    @property
    def is_new(self) -> bool:
        return self.change.status in (Status.ADDED, Status.COPIED)

    @cached_property
    def pairs(self) -> tuple[tuple[Dependency | None, Dependency], ...]:
        """Return each entry that came (None) or changed, with the one that it replaces.

        An entry may change by a removed line alone: its hash, for example.
        """
        before = by_key(self.old)
        same = {each.value for each in self.old.entries}
        kept = {each.value for each in self.new.entries}
        found: list[tuple[Dependency | None, Dependency]] = []
        for entry in self.new.entries:
            if entry.value in same:
                continue
            olds = before.get(entry.key, [])[:MOST_OF_A_NAME]
            if not olds and not self.change.touches(entry.line, entry.last):
                continue
            free = [old for old in olds if old.value not in kept]
            found.append((next(iter(free or olds), None), entry))
        return tuple(found)

    @cached_property
    def removals(self) -> tuple[Dependency, ...]:
        """Return the entries whose name is no longer there."""
        left = by_key(self.new)
        return tuple(each for each in self.old.entries if each.key not in left)

    def most_had(self, name: str) -> bool:
        """Return whether nearly all dependencies had an attribute before."""
        if name not in self._shares:
            olds = [
                each
                for each in self.old.entries
                if not each.is_setting and each.kind != "image"
            ]
            self._shares[name] = (
                sum(1 for each in olds if getattr(each, name)) / len(olds) if olds else 0
            )
        return self._shares[name] >= MOST_HAVE

    @cached_property
    def _shares(self) -> dict[str, float]:
        return {}

    @cached_property
    def hosts(self) -> frozenset[str]:
        """Return the hosts that the file named before."""
        return frozenset(each.host for each in self.old.entries if each.host)


def by_key(listing: Listing) -> dict[tuple[str, str], list[Dependency]]:
    found: dict[tuple[str, str], list[Dependency]] = defaultdict(list)
    for each in listing.entries:
        found[each.key].append(each)
    return dict(found)


def find_differences(
    subject: ReviewInput, skipped: list[Skipped]
) -> Iterator[DependencyChange]:
    """Yield the difference of each file that names dependencies; what is left out of it is added to `skipped`."""
    for change in subject.changes:
        paths = [change.path, *([change.old_path] if change.old_path else [])]
        if (
            change.kind is not Kind.TEXT
            or change.read_as
            or not any(map(MAYBE.search, paths))
        ):
            continue
        if not any(map(formats_of, paths)):
            continue
        new = "" if change.status is Status.DELETED else subject.contents.new(change)
        old = (
            ""
            if change.status in (Status.ADDED, Status.COPIED)
            else subject.contents.old(change)
        )
        if new is None and len(change.hunks) == 1 and change.status is Status.ADDED:
            new = "\n".join((*change.hunks[0].added, ""))
        if new is None or old is None:
            skipped.append(Skipped(change.path, "dependencies: whole text not available"))
            continue
        if max(len(new), len(old)) > subject.limits.file_chars:
            reason = f"dependencies: over {subject.limits.file_chars:,} characters"
            skipped.append(Skipped(change.path, reason, asks=True))
            continue
        after = read(change.path, new)
        before = read(change.old_path or change.path, old)
        if after.problem:
            skipped.append(
                Skipped(change.path, f"dependencies: {after.problem}", asks=after.is_cut)
            )
        yield DependencyChange(change, after, before)
