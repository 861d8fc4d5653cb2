"""Compare the entries of a file before and after: what came, what moved, what left."""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from functools import cached_property
from operator import attrgetter
from posixpath import basename, join, split

from cli_guard.code.classify import is_vendored
from cli_guard.code.test_files import is_test_or_example
from cli_guard.lazy import dataclass
from cli_guard.model import FileChange, Skipped, group_by, unmatched
from cli_guard.reviewers.dependencies.lock_changes import LockChanges, compare_locks
from cli_guard.reviewers.dependencies.lock_files import read_listing
from cli_guard.reviewers.dependencies.reading import Dependency, Listing, formats_of
from cli_guard.reviewers.review_input import ReviewInput

# Endings and names of the files that may name dependencies, so that no table is read for a change without one.
MAYBE = re.compile(
    r"(?i)\.(?:json5?|toml|lock|lockfile|ya?ml|txt|in|cfg|ini|conf|xml|gradle|kts|props|properties|config|\w+proj|gemspec"
    r"|npmrc|yarnrc|mod|work|sum|locked|dockerfile|env|envrc)$|(?:pip|docker|container|gem|make)file[^/]*$|(?:setup\.py|gems\.rb|\.bundle/config)$"
)
NOTHING = Listing()
# Lock files that no text is made of, and the manifest that says why one of them changes.
BINARY_LOCKS = {"bun.lockb": "package.json"}
# A lock file in which nearly all have a hash is one in which all should.
MOST_HAVE = 0.8


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
        return self.change.is_new

    @cached_property
    def pairs(self) -> tuple[tuple[Dependency | None, Dependency], ...]:
        """Return each entry that came (None) or changed, with the one that it replaces.

        An entry may change by a removed line alone: its hash, for example. One that came beside others of its name
        is with the first of them.
        """
        return tuple((was, entry) for was, entry, _ in self._matches)

    @cached_property
    def beside(self) -> frozenset[Dependency]:
        """Return the entries that replace none: each of their name that was there is still there."""
        return frozenset(entry for _, entry, is_beside in self._matches if is_beside)

    @cached_property
    def _matches(self) -> tuple[tuple[Dependency | None, Dependency, bool], ...]:
        """Match the entries that are new with those that left, in order, each once."""
        olds = self.old.entries
        news = self.new.entries
        value = attrgetter("value")
        before = by_key(olds)
        left = {
            key: deque(each) for key, each in by_key(unmatched(olds, news, value)).items()
        }
        same = set(map(value, olds))
        surplus = Counter(map(value, unmatched(news, olds, value)))
        found: list[tuple[Dependency | None, Dependency, bool]] = []
        for entry in news:
            gone = left.get(entry.key)
            is_copy = gone and surplus[entry.value] > 0 and self._touches(entry)
            if entry.value in same and not is_copy:
                continue
            surplus[entry.value] -= 1
            if gone:
                found.append((gone.popleft(), entry, False))
            elif entry.key in before:
                found.append((before[entry.key][0], entry, True))
            elif self._touches(entry):
                found.append((None, entry, False))
        return (*found, *self.lock_changes.matches)

    @cached_property
    def lock_changes(self) -> LockChanges:
        """Return what changed in a lock file that has a tree."""
        return compare_locks(self.old, self.new)

    def _touches(self, entry: Dependency) -> bool:
        return self.change.touches(entry.line, entry.last)

    @cached_property
    def removals(self) -> tuple[Dependency, ...]:
        """Return the entries whose name is no longer there."""
        left = by_key(self.new.entries)
        gone = (each for each in self.old.entries if each.key not in left)
        locked = (e for e in self.lock_changes.gone if not self.new.entries_named(e.name))
        return (*gone, *locked)

    @cached_property
    def usual(self) -> frozenset[str]:
        """Return which of hash and version nearly all dependencies had before."""
        olds = [
            each
            for each in self.old.sample()
            if not each.is_setting and each.kind != "image"
        ]
        had = Counter(
            name for name in ("integrity", "spec") for each in olds if getattr(each, name)
        )
        return frozenset(name for name in had if had[name] >= MOST_HAVE * len(olds))


def by_key(entries: Iterable[Dependency]) -> dict[tuple[str, str], list[Dependency]]:
    return group_by(entries, lambda each: each.key)


def find_differences(
    subject: ReviewInput, skipped: list[Skipped]
) -> Iterator[DependencyChange]:
    """Yield the difference of each file that names dependencies; what is left out of it is added to `skipped`."""
    for change in subject.changes:
        if basename(change.path) in BINARY_LOCKS and not change.is_deleted:
            skipped.append(_skip_binary(subject, change))
            continue
        paths = [change.path, *([change.old_path] if change.old_path else [])]
        if not change.is_text or change.read_as or not any(map(MAYBE.search, paths)):
            continue
        if not any(map(formats_of, paths)):
            continue
        sides = subject.sides_of(change, "dependencies", subject.limits.file_chars)
        if isinstance(sides, Skipped):
            skipped.append(sides)
            continue
        old, new = sides
        after = read_listing(change.path, new)
        before = read_listing(change.old_path or change.path, old)
        difference = DependencyChange(change, after, before)
        problem = after.problem or difference.lock_changes.problem
        if problem:
            asks = after.is_cut and not difference.is_aside
            skipped.append(Skipped(change.path, f"dependencies: {problem}", asks=asks))
        yield difference


def _skip_binary(subject: ReviewInput, change: FileChange) -> Skipped:
    """Return that a binary lock file is not read; it needs a person where no manifest says why it changes."""
    folder, name = split(change.path)
    manifest = join(folder, BINARY_LOCKS[name])
    is_alone = all(each.path != manifest for each in subject.changes)
    is_aside = is_test_or_example(change.path) or is_vendored(change.path)
    reason = f"dependencies: {name} is binary"
    return Skipped(change.path, reason, asks=is_alone and not is_aside)
