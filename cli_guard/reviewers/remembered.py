"""Which files need not be examined again: those in which nothing was found, by everything that this depends on.

Remembered is that there was nothing, and never a finding, so nothing of a file stands in the cache. Not remembered, by
reviewer:

    secrets, commands   a file with something to tell: it is looked at again anyway, together with the others
    code, refactor      a file with findings, or with a part that was left out (time may have been short)
    refactor            a file of whose functions other files were asked, for one may have moved from there
    docs                a file that was left out
    message, push, policy, and what docs and refactor compare across files: never examined alone
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
from cli_guard.reviewers.per_file import EXAMINERS, NOTHING, Alone
from cli_guard.reviewers.review_input import Limits

LIBRARIES = ("ast-grep-py", "lizard", "PyYAML")
PACKAGE = Path(__file__).parent.parent
RETELLING = ("secrets", "commands")
ByReviewer = dict[str, Alone]


def key_of(change: FileChange, limits: Limits) -> bytes | None:
    """A hash of all that the examination of a file depends on; None where its texts have no ids that tell them."""
    if change.new_blob is None or (change.old_blob is None and change.old_mode.strip("0")):
        return None
    digest = hashlib.sha256(identity())
    facts = (limits, *(getattr(change, name) for name in FACTS))
    digest.update(repr(facts).encode("utf-8", "backslashreplace"))
    for hunk in change.hunks:
        head = (hunk.old_start, hunk.new_start, len(hunk.removed), len(hunk.added))
        digest.update(repr(head).encode("ascii"))
        digest.update("\n".join((*hunk.removed, *hunk.added)).encode("utf-8", "surrogatepass"))
    return digest.digest()


FACTS = ("path", "old_path", "status", "kind", "old_mode", "new_mode", "old_blob", "new_blob", "size")


@cache
def identity() -> bytes:
    """A hash of what examines: every file of cli-guard, code and rules, the libraries that read code, and Python."""
    digest = hashlib.sha256(repr((sys.version, sys.byteorder)).encode())
    for name in LIBRARIES:
        digest.update(f"{name} {metadata.version(name)}\n".encode())
    for file in sorted(
        path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".toml", ".yml", ".yaml", ".txt")
    ):
        data = file.read_bytes()
        digest.update(f"{file.relative_to(PACKAGE).as_posix()} {len(data)}\n".encode() + data)
    return digest.digest()


class Memory:
    """What earlier reviews have found nothing in."""

    def __init__(self, cache: Cache, limits: Limits) -> None:
        self._cache = cache
        self._limits = limits
        self._keys: dict[int, bytes] = {}
        self._used: list[bytes] = []

    def recall(self, files: Mapping[int, FileChange]) -> Iterator[tuple[int, ByReviewer]]:
        """Of each file what its reviewers need not look at again."""
        for number, change in files.items():
            key = key_of(change, self._limits)
            if key is not None:
                self._keys[number] = key
        values = self._cache.get(self._keys.values())
        for number, key in self._keys.items():
            found = read(values[key]) if key in values else None
            if found:
                self._used.append(key)
                yield number, found

    def remember(self, found: Mapping[int, ByReviewer]) -> None:
        """Keeps of files that were examined now what may be kept."""
        values = {self._keys[number]: written(each) for number, each in found.items() if number in self._keys}
        self._cache.put(values, self._used)


def may_be_kept(reviewer: str, alone: Alone) -> bool:
    """Was there nothing, and would there be nothing again?"""
    if alone.findings or alone.skipped or alone.shared:
        return False
    return not (reviewer in RETELLING and alone.again)


def written(found: ByReviewer) -> bytes:
    """The part that may be kept, as bytes: reviewer -> [again, weights]."""
    every = {name: found.get(name, NOTHING) for name in EXAMINERS}
    kept = {name: [each.again, each.weights] for name, each in every.items() if may_be_kept(name, each)}
    return json.dumps(kept).encode("ascii")


def read(value: bytes) -> ByReviewer:
    """What `written` wrote; nothing for anything else."""
    try:
        data = json.loads(value)
        return {
            name: Alone(again=bool(again), weights=tuple(map(float, weights)))
            for name, (again, weights) in data.items()
            if name in EXAMINERS
        }
    except (ValueError, TypeError, AttributeError):
        return {}
