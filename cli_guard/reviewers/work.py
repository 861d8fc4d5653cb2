"""Examines the files of a big change before their reviewers ask: all reviewers look at one file, then it is let go.

So the text and the tree of a file are made once, and few of them are held at a time. A very big change is examined in
several copies of this process; what comes of a file does not depend on which of them looked at it.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Protocol, runtime_checkable

from cli_guard.code.syntax import Trees, suffix_of
from cli_guard.model import Contents, FileChange
from cli_guard.reviewers import workers
from cli_guard.reviewers.cache import Cache
from cli_guard.reviewers.per_file import EXAMINERS, NOTHING, Alone, Examiner
from cli_guard.reviewers.remembered import ByReviewer, Memory
from cli_guard.reviewers.review_input import ReviewInput

# Below this everything is held anyway, and nothing is gained by another order.
BIG_CHARS = 500_000
# A copy of the process pays for itself from about here.
CHARS_A_WORKER = 400_000
# The tree of one file, before and after, is enough.
TREE_CHARS = 200_000
KINDS_LOADED = 10

Wanted = Mapping[int, tuple[str, ...]]


@runtime_checkable
class Apart(Protocol):
    """Contents that read from a process."""

    def apart(self) -> Contents:
        """The same, for a copy of this process."""


Told = Callable[[int, int], None]


def nobody(done: int, of: int) -> None:
    """Nobody is told how far it has come."""


class FileByFile:
    """What was made of the files of one change; they are looked at when the first is asked for."""

    def __init__(
        self, subject: ReviewInput, count: int = 1, memory: Memory | None = None, told: Told = nobody
    ) -> None:
        self._subject = subject
        self._count = count
        self._memory = memory
        self._told = told
        self._known: dict[int, ByReviewer] | None = None

    def known(self, reviewer: str, change: FileChange) -> Alone | None:
        """What a reviewer made of one file."""
        if self._known is None:
            found = self._found()
            files = self._subject.changes.files
            self._known = {id(files[number]): by_reviewer for number, by_reviewer in found.items()}
        by_reviewer = self._known.get(id(change))
        return None if by_reviewer is None else by_reviewer.get(reviewer, NOTHING)

    def _found(self) -> dict[int, ByReviewer]:
        """What was made of each file, by its number, now or in an earlier review."""
        files = dict(enumerate(self._subject.changes.files))
        found = dict(self._memory.recall(files)) if self._memory else {}
        shard = self._subject.shard
        left: dict[int, tuple[str, ...]] = {}
        for number, change in files.items():
            missing = (name for name in EXAMINERS if name not in found.get(number, {}))
            names = tuple(name for name in missing if not shard or shard.looks(name, change.path))
            if names:
                left[number] = names
        fresh: dict[int, ByReviewer] = {}
        for number, by_reviewer in examined(self._subject, left, self._count):
            fresh[number] = found[number] = found.get(number, {}) | by_reviewer
            self._told(len(fresh), len(left))
        if self._memory:
            self._memory.remember(fresh)
        return found


def examined(subject: ReviewInput, wanted: Wanted, count: int) -> Iterator[tuple[int, ByReviewer]]:
    """What reviewers make of files, by their numbers: nothing where one of them is not named."""
    if count < 2:
        yield from one_by_one(subject, wanted)
        return
    # What the first file of a kind has loaded, the copies need not load again.
    first = {suffix_of(subject.changes.files[number].path): number for number in reversed(list(wanted))}
    loading = dict(list({number: wanted[number] for number in first.values()}.items())[:KINDS_LOADED])
    yield from one_by_one(subject, loading)
    missing = {number: names for number, names in wanted.items() if number not in loading}
    numbers = list(missing)

    def work(worker: int) -> Iterator[bytes]:
        contents = subject.contents
        own = replace(subject, contents=contents.apart() if isinstance(contents, Apart) else contents)
        part = {number: wanted[number] for number in numbers[worker::count]}
        for number, found in one_by_one(own, part):
            told = {name: alone.as_line() for name, alone in found.items()}
            yield json.dumps([number, told]).encode("ascii")

    for _, line in workers.lines_of(count, work):
        number, told = json.loads(line)
        missing.pop(number, None)
        yield number, {name: Alone.of_line(data) for name, data in told.items()}
    # A copy could not be started, or has died: what it leaves is done here.
    yield from one_by_one(subject, missing)


def one_by_one(subject: ReviewInput, wanted: Wanted) -> Iterator[tuple[int, ByReviewer]]:
    """Some files of the change, examined in this process."""
    if not wanted:
        return
    examiners = examiners_of(replace(subject, trees=Trees(TREE_CHARS)))
    for number, names in wanted.items():
        change = subject.changes.files[number]
        found = ((name, examiners[name](change)) for name in names)
        yield number, {name: alone for name, alone in found if alone != NOTHING}


def examiners_of(subject: ReviewInput) -> dict[str, Examiner]:
    """The reviewers that look at one file alone, by name."""
    modules = {name: import_module(f"cli_guard.reviewers.{name}") for name in EXAMINERS}
    return {name: module.examiner(subject) for name, module in modules.items()}


def prepared(subject: ReviewInput, cache: Cache | None = None, told: Told = nobody) -> ReviewInput:
    """The subject with its files examined as fits its size; `told` hears how many are done, of how many."""
    chars = sum(len(line) for change in subject.changes for hunk in change.hunks for line in hunk.added)
    if chars <= BIG_CHARS:
        return subject
    count = min(chars // CHARS_A_WORKER, len(subject.changes.files), workers.available())
    # A part of a review has not looked at everything that would be remembered.
    memory = Memory(cache, subject.limits) if cache and not subject.shard else None
    return replace(subject, work=FileByFile(subject, count, memory, told))
