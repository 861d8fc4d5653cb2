"""Examine the files of a big change before the reviewers run: all reviewers on one file, then the next.

So the text and tree of a file are made once, and few are kept at a time. A very big change is examined in several
copies of this process; the result for a file does not depend on the copy.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice

from cli_guard.code.languages import suffix_of
from cli_guard.code.syntax import Trees
from cli_guard.model import Contents, FileChange
from cli_guard.repository.protocol import Prefetching
from cli_guard.reviewers import workers
from cli_guard.reviewers.cache import Cache
from cli_guard.reviewers.clean_files import CleanFiles, Results, identity
from cli_guard.reviewers.per_file import AGAIN, NOTHING, Examiner, FileResult
from cli_guard.reviewers.registry import examining
from cli_guard.reviewers.review_input import ReviewInput

# Below this everything is kept anyway, and another order gains nothing.
BIG_CHARS = 500_000
# In a process that knows its own identity already, a look at what is known to be clean, and to keep what is, costs a
# quarter of this; and few commits are tried twice.
RECALLED_CHARS = 40_000
# 20 files of 50 lines: a copy of the process saves more time (40 ms and more) than it costs (10 ms).
CHARS_A_WORKER = 35_000
CHARS_A_LINE = 35
# The trees of one file, before and after, are enough.
TREE_CHARS = 200_000
KINDS_LOADED = 10
# Files whose texts are read at once: few enough that none is dropped before it is examined.
PREFETCHED = 50

# The index of a file in the change, and the reviewers that have to examine it.
Assignments = Mapping[int, tuple[str, ...]]
Progress = Callable[[int, int], None]


class PerFileWork:
    """The results for the files of one change, examined at the first request for a result."""

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
        # Those with little room read the first files that fit, in the order of their own reviews.
        left_out = subject.idle | subject.advice.bounded
        self._names = [r.name for r in examining() if r.name not in left_out]

    def _is_due(self, name: str, change: FileChange) -> bool:
        shard = self._subject.shard
        return not shard or shard.has_file(name, change.path)

    def result(self, reviewer: str, change: FileChange) -> FileResult | None:
        if self._results is None:
            files = self._subject.changes.files
            self._results = {
                id(files[number]): each for number, each in self._examine_all().items()
            }
        if id(change) not in self._results or not self._is_due(reviewer, change):
            return None
        nothing = NOTHING if reviewer in self._names else None
        found = self._results[id(change)].get(reviewer, nothing)
        return None if found == AGAIN else found

    def _examine_all(self) -> dict[int, Results]:
        files = dict(enumerate(self._subject.changes.files))
        found = dict(self._clean_files.recall(files)) if self._clean_files else {}
        left: dict[int, tuple[str, ...]] = {}
        for number, change in files.items():
            missing = (name for name in self._names if name not in found.get(number, {}))
            if due := tuple(name for name in missing if self._is_due(name, change)):
                left[number] = due
        fresh: dict[int, Results] = {}
        for number, results in examine_files(self._subject, left, self._count):
            known = found.get(number, {}) | dict.fromkeys(left[number], NOTHING)
            fresh[number] = found[number] = known | results
            if self._on_progress:
                self._on_progress(len(fresh), len(left))
        if self._clean_files:
            self._clean_files.keep(fresh)
        return found


def examine_files(
    subject: ReviewInput, assignments: Assignments, count: int
) -> Iterator[tuple[int, Results]]:
    """Yield the results by file index, examined in `count` processes: this one and copies of it."""
    if count < 2:
        yield from examine_here(subject, assignments)
        return
    # Load the modules for each kind of file once, before the copies are made.
    first = {
        suffix_of(subject.changes.files[number].path): number
        for number in reversed(list(assignments))
    }
    loading = dict(
        list({number: assignments[number] for number in first.values()}.items())[
            :KINDS_LOADED
        ]
    )
    yield from examine_here(subject, loading)
    missing = {
        number: names for number, names in assignments.items() if number not in loading
    }
    numbers = list(missing)

    def work(worker: int) -> Iterator[bytes]:
        part = {number: assignments[number] for number in numbers[worker::count]}
        for number, results in examine_here(subject, part):
            data = {name: result.as_data() for name, result in results.items()}
            yield json.dumps([number, data]).encode("ascii")

    for _, line in workers.lines_of(count, work, joins=True):
        number, data = json.loads(line)
        missing.pop(number, None)
        yield number, {name: FileResult.of_data(each) for name, each in data.items()}
    # A copy did not start, or died: its files are examined here.
    yield from examine_here(subject, missing)


def examine_here(
    subject: ReviewInput, assignments: Assignments
) -> Iterator[tuple[int, Results]]:
    if not assignments:
        return
    with_trees = replace(subject, trees=Trees(TREE_CHARS))
    examiners = {reviewer.name: reviewer.examiner(with_trees) for reviewer in examining()}
    for place, (number, names) in enumerate(assignments.items()):
        if place % PREFETCHED == 0:
            numbers = islice(assignments, place, place + PREFETCHED)
            prefetch_texts(
                subject.contents, map(subject.changes.files.__getitem__, numbers)
            )
        change = subject.changes.files[number]
        results = ((name, examine_or_fail(examiners[name], change)) for name in names)
        yield number, {name: result for name, result in results if result != NOTHING}


def prefetch_texts(contents: Contents, files: Iterable[FileChange]) -> None:
    """Read both sides of changed files at once."""
    if isinstance(contents, Prefetching):
        sides = ((each.old_blob, each.new_blob) for each in files if each.is_text)
        contents.prefetch(filter(None, chain.from_iterable(sides)))


def examine_or_fail(examine: Examiner, change: FileChange) -> FileResult:
    """Examine one file. A reviewer that fails on it is left to fail in its own review, which says so."""
    try:
        return examine(change)
    except Exception:
        return AGAIN


def add_file_work(
    subject: ReviewInput, cache: Cache | None = None, on_progress: Progress | None = None
) -> ReviewInput:
    """Examine the subject's files as fits its size; `on_progress` gets the number done and the total."""
    chars = sum(
        sum(map(len, hunk.added)) for change in subject.changes for hunk in change.hunks
    )
    if chars <= (RECALLED_CHARS if cache and identity.cache_info().currsize else BIG_CHARS):
        return subject
    count = count_workers(subject, chars)
    # A part of a review has not read every file whose results would be kept.
    clean_files = (
        CleanFiles(
            cache, subject.limits, f"{subject.user_rules.digest} {subject.own_guards}"
        )
        if cache and not subject.shard
        else None
    )
    return replace(subject, work=PerFileWork(subject, count, clean_files, on_progress))


def count_workers(subject: ReviewInput, added: int) -> int:
    """Return in how many processes the files are examined: each file is read as a whole, however little changes.

    Git is not asked for the sizes: a file goes on at least to where its last hunk ends.
    """
    files = subject.changes.files
    last = (change.hunks[-1] for change in files if change.hunks)
    lines = sum(hunk.new_start + len(hunk.added) for hunk in last)
    most = min(max(added, lines * CHARS_A_LINE) // CHARS_A_WORKER, len(files))
    return min(most, workers.idle()) if most > 1 else 1
