"""Skip files whose last examination found nothing and depended on nothing that has changed.

The cache stores only that nothing was found, so it holds nothing of a file. Results are not stored if they hold
findings, if a part was left out (for lack of time, perhaps), or if they are not `cacheable`: secrets and commands read
a file with findings again anyway, and refactor compared it with other files.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

from cli_guard.model import FileChange
from cli_guard.reviewers.cache import Cache
from cli_guard.reviewers.per_file import FileResult
from cli_guard.reviewers.registry import examining
from cli_guard.reviewers.review_input import Limits

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
    digest = hashlib.sha256(identity())
    facts = (*(getattr(change, name) for name in FACTS), change.tail, limits, user_rules)
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
