"""Examines the files of a big change before their reviewers ask: all reviewers look at one file, then the next.

So the text and the tree of a file are made once, and few of them are kept at a time. A very big change is examined in
several copies of this process; the result for a file does not depend on which of them looked at it.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol, runtime_checkable

from cli_guard.code.languages import suffix_of
from cli_guard.code.syntax import Trees
from cli_guard.model import Contents, FileChange
from cli_guard.reviewers import workers
from cli_guard.reviewers.cache import Cache
from cli_guard.reviewers.clean_files import CleanFiles, Results
from cli_guard.reviewers.per_file import NOTHING, FileResult
from cli_guard.reviewers.registry import examining
from cli_guard.reviewers.review_input import ReviewInput

# Below this everything is kept anyway, and nothing is gained by another order.
BIG_CHARS = 500_000
# A copy of the process pays for itself from about here.
CHARS_A_WORKER = 400_000
# The tree of one file, before and after, is enough.
TREE_CHARS = 200_000
KINDS_LOADED = 10

# The numbers of files in the change, and the reviewers that have to look at each.
Wanted = Mapping[int, tuple[str, ...]]
Progress = Callable[[int, int], None]


@runtime_checkable
class ProcessContents(Protocol):
    """Contents that are read through a child process, which a copy of this process cannot share."""

    def apart(self) -> Contents:
        """The same contents with a child process of their own."""


class PerFileWork:
    """The results for the files of one change; they are examined when the first result is asked for."""

    def __init__(
        self,
        subject: ReviewInput,
        count: int = 1,
        clean_files: CleanFiles | None = None,
        on_progress: Progress | None = None,
    ) -> None:
        self._subject = subject
        self._count = count
        self._clean_files = clean_files
        self._on_progress = on_progress
        self._results: dict[int, Results] | None = None

    def result(self, reviewer: str, change: FileChange) -> FileResult | None:
        if self._results is None:
            files = self._subject.changes.files
            self._results = {id(files[number]): each for number, each in self._examine_all().items()}
        of_file = self._results.get(id(change))
        return None if of_file is None else of_file.get(reviewer, NOTHING)

    def _examine_all(self) -> dict[int, Results]:
        files = dict(enumerate(self._subject.changes.files))
        found = dict(self._clean_files.recall(files)) if self._clean_files else {}
        shard = self._subject.shard
        names = [reviewer.name for reviewer in examining()]
        left: dict[int, tuple[str, ...]] = {}
        for number, change in files.items():
            missing = (name for name in names if name not in found.get(number, {}))
            wanted = tuple(name for name in missing if not shard or shard.has_file(name, change.path))
            if wanted:
                left[number] = wanted
        fresh: dict[int, Results] = {}
        for number, results in examine_files(self._subject, left, self._count):
            fresh[number] = found[number] = found.get(number, {}) | results
            if self._on_progress:
                self._on_progress(len(fresh), len(left))
        if self._clean_files:
            self._clean_files.keep(fresh)
        return found


def examine_files(subject: ReviewInput, wanted: Wanted, count: int) -> Iterator[tuple[int, Results]]:
    """The results by file number, examined in `count` copies of this process."""
    if count < 2:
        yield from examine_here(subject, wanted)
        return
    # What the first file of a kind has loaded, the copies need not load again.
    first = {suffix_of(subject.changes.files[number].path): number for number in reversed(list(wanted))}
    loading = dict(list({number: wanted[number] for number in first.values()}.items())[:KINDS_LOADED])
    yield from examine_here(subject, loading)
    missing = {number: names for number, names in wanted.items() if number not in loading}
    numbers = list(missing)

    def work(worker: int) -> Iterator[bytes]:
        contents = subject.contents
        own = replace(
            subject, contents=contents.apart() if isinstance(contents, ProcessContents) else contents
        )
        part = {number: wanted[number] for number in numbers[worker::count]}
        for number, results in examine_here(own, part):
            data = {name: result.as_data() for name, result in results.items()}
            yield json.dumps([number, data]).encode("ascii")

    for _, line in workers.lines_of(count, work):
        number, data = json.loads(line)
        missing.pop(number, None)
        yield number, {name: FileResult.of_data(each) for name, each in data.items()}
    # A copy could not be started, or has died: what it leaves is done here.
    yield from examine_here(subject, missing)


def examine_here(subject: ReviewInput, wanted: Wanted) -> Iterator[tuple[int, Results]]:
    """The results by file number, examined in this process."""
    if not wanted:
        return
    with_trees = replace(subject, trees=Trees(TREE_CHARS))
    examiners = {reviewer.name: reviewer.examiner(with_trees) for reviewer in examining()}
    for number, names in wanted.items():
        change = subject.changes.files[number]
        results = ((name, examiners[name](change)) for name in names)
        yield number, {name: result for name, result in results if result != NOTHING}


def add_file_work(
    subject: ReviewInput, cache: Cache | None = None, on_progress: Progress | None = None
) -> ReviewInput:
    """The subject with its files examined as fits its size; `on_progress` gets how many are done, of how many."""
    chars = sum(len(line) for change in subject.changes for hunk in change.hunks for line in hunk.added)
    if chars <= BIG_CHARS:
        return subject
    count = min(chars // CHARS_A_WORKER, len(subject.changes.files), workers.available())
    # A part of a review has not looked at everything that would be kept.
    clean_files = CleanFiles(cache, subject.limits) if cache and not subject.shard else None
    return replace(subject, work=PerFileWork(subject, count, clean_files, on_progress))
