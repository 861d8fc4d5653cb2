"""Skip files whose last examination found nothing and depended on nothing that has changed.

The cache stores only that nothing was found, so it holds nothing of a file. Results are not stored if they hold
findings, if a part was left out (for lack of time, perhaps), or if they are not `cacheable`: secrets and commands read
a file with findings again anyway, and refactor compared it with other files.

So are the reviewers skipped that found nothing in this very change when it was staged. The cache stores their names
alone, under a hash of all that a review of the index depends on. One that has found something, or has left anything
unread, reads the change again.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import metadata
from pathlib import Path

from cli_guard.hooks import event_of
from cli_guard.model import FileChange
from cli_guard.repository.protocol import TreeContents
from cli_guard.reviewers.cache import Cache
from cli_guard.reviewers.per_file import FileResult
from cli_guard.reviewers.registry import REVIEWERS, examining
from cli_guard.reviewers.review_input import Limits, ReviewInput

LIBRARIES = ("ast-grep-py", "PyYAML")
# Code and rules: their sources in a checkout, or as the build compiled them.
SUFFIXES = (".py", ".toml", ".yml", ".txt", ".json")
PACKAGE = Path(__file__).parent.parent
# By the name of the reviewer.
Results = dict[str, FileResult]


def key_of(change: FileChange, limits: Limits, user_rules: str = "") -> bytes | None:
    """Hash everything that the examination of a file depends on; None if its texts have no blob ids.

    `user_rules` is the hash of the repository's own rules, with what its policy calls protections.
    """
    if change.new_blob is None or (change.old_blob is None and change.old_mode.strip("0")):
        return None
    return hash_changes((limits, user_rules), (change,))


def hash_changes(known: object, changes: Iterable[FileChange]) -> bytes:
    """Hash our own identity, what else is known, and all that a change says of its files."""
    digest = hashlib.sha256(identity())
    digest.update(repr(known).encode("utf-8", "backslashreplace"))
    for change in changes:
        facts = (*(getattr(change, name) for name in FACTS), change.tail)
        digest.update(repr(facts).encode("utf-8", "backslashreplace"))
        for hunk in change.hunks:
            head = (hunk.old_start, hunk.new_start, len(hunk.removed), len(hunk.added))
            digest.update(repr(head).encode("ascii"))
            digest.update(
                "\n".join((*hunk.removed, *hunk.added)).encode("utf-8", "surrogatepass")
            )
    return digest.digest()


FACTS = (
    "path",
    "read_as",
    "old_path",
    "status",
    "kind",
    "old_mode",
    "new_mode",
    "old_blob",
    "new_blob",
    "size",
)


@cache
def identity() -> bytes:
    """Hash the examining code: every file of cli-guard, the libraries that parse code, and Python."""
    digest = hashlib.sha256(repr((sys.version, sys.byteorder)).encode())
    for name in LIBRARIES:
        digest.update(f"{name} {metadata.version(name)}\n".encode())
    for file in sorted(
        path
        for path in PACKAGE.rglob("*")
        if path.suffix in SUFFIXES and path.parent.name != "__pycache__"
    ):
        data = file.read_bytes()
        digest.update(
            f"{file.relative_to(PACKAGE).as_posix()} {len(data)}\n".encode() + data
        )
    return digest.digest()


class CleanFiles:
    """The files in which earlier reviews have found nothing."""

    def __init__(self, cache: Cache, limits: Limits, user_rules: str = "") -> None:
        self._cache = cache
        self._limits = limits
        self._user_rules = user_rules
        self._keys: dict[int, bytes] = {}
        self._used: list[bytes] = []

    def recall(self, files: Mapping[int, FileChange]) -> Iterator[tuple[int, Results]]:
        """Return the stored results of each file, by the reviewers that need not read it again."""
        for number, change in files.items():
            key = key_of(change, self._limits, self._user_rules)
            if key is not None:
                self._keys[number] = key
        values = self._cache.get(self._keys.values())
        for number, key in self._keys.items():
            results = unpack(values[key]) if key in values else None
            if results:
                self._used.append(key)
                yield number, results

    def keep(self, found: Mapping[int, Results]) -> None:
        """Store the results that may be kept."""
        values = {self._keys[n]: pack(each) for n, each in found.items() if n in self._keys}
        self._cache.put(values, self._used)


def is_clean(result: FileResult) -> bool:
    """Return whether there was nothing to report and a later review would find nothing either."""
    return result.cacheable and not result.findings and not result.skipped


def pack(results: Results) -> bytes:
    """Serialise the results that may be kept: reviewer -> [again, weights]."""
    kept = {
        name: [each.again, each.weights] for name, each in results.items() if is_clean(each)
    }
    return json.dumps(kept).encode("ascii")


def unpack(value: bytes) -> Results:
    """Read what `pack` wrote; return nothing for anything else."""
    known = {reviewer.name for reviewer in examining()}
    try:
        data = json.loads(value)
        return {
            name: FileResult(again=bool(again), weights=tuple(map(float, weights)))
            for name, (again, weights) in data.items()
            if name in known
        }
    except (ValueError, TypeError, AttributeError):
        return {}


class CleanReviews:
    """What the reviews of one change before this one have found nothing in."""

    def __init__(self, cache: Cache, key: bytes) -> None:
        self._cache = cache
        self._key = key

    def recall(self, subject: ReviewInput) -> ReviewInput:
        """Return the subject with the reviewers that found nothing; as it is for a row of another kind."""
        value = self._cache.get([self._key]).get(self._key)
        known = {reviewer.name for reviewer in REVIEWERS}
        try:
            names, left_out = json.loads(value) if value else ((), 0)
            clean = frozenset(known & {*names})
            bounded = subject.advice.bounded - subject.idle
            # Without `work`, each takes its room when it runs: one that does not run would leave more to the others.
            if left_out and not subject.work and not clean >= bounded:
                return replace(subject, clean=clean - bounded)
            advice = replace(subject.advice, known_left_out=int(left_out))
            return replace(subject, clean=clean, advice=advice)
        except (ValueError, TypeError):
            return subject

    def keep(self, names: Iterable[str], subject: ReviewInput) -> None:
        """Store the reviewers that found nothing, and how many files those that advise have left out."""
        row = json.dumps([sorted(names), len(subject.advice.left_out)])
        self._cache.put({self._key: row.encode("ascii")})


def clean_reviews(cache: Cache, subject: ReviewInput, policy: str) -> CleanReviews | None:
    """Return what is known of the change of a commit that is about to be made; None for any other review.

    `policy` identifies the policy in force. The tree before the change and the change itself identify the tree after
    it, in which some reviewers search. A merge is compared with more than that, and checks run each time. A process
    that does not know its own identity yet would take longer to find it out than a review of most changes.
    """
    if (
        not identity.cache_info().currsize
        or not event_of(subject.event).is_before_commit
        or subject.changes.is_merge
        or subject.checks
        or not isinstance(subject.contents, TreeContents)
        or subject.contents.revision
    ):
        return None
    changes = subject.changes
    known = (
        subject.event,
        changes.identity,
        changes.parents,
        changes.people,
        changes.skipped,
        policy,
        subject.user_rules.digest,
        subject.limits,
    )
    return CleanReviews(cache, hash_changes(known, changes))
