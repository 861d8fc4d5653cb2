"""Blocks that the change adds twice. One hash for each window of lines keeps the cost linear in the lines."""

import posixpath
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from cli_guard.code.languages import suffix_of
from cli_guard.lazy import frozen
from cli_guard.model import FileChange, Finding, Hunk, Skipped, group_by
from cli_guard.rules.catalog import Rule

ENDINGS = frozenset(
    ".py .js .mjs .cjs .jsx .ts .mts .cts .tsx .go .java .kt .c .h .cc .cpp .hpp .cs .rs .rb"
    " .php .swift .scala .sh .bash .lua".split()
)
# Lines that mean nothing alone, or are alike in every file: imports, comments, brackets, decorators.
IDLE = re.compile(
    r"^(import\b|from\b.*\bimport\b|package\b|using\b|use\b|include\b|require\b|export\s*[{*]"
    r"|#|//|\*|/\*|@|\"\"\"|'''|</?[\w>]"
    r"|[\W_]*$|(else|try|finally|do|then|fi|done|end|pass|break|continue|return|default)\W*$)"
)
WORKS = re.compile(r"\w\s*\(|=|\bif\b|\bfor\b|\bwhile\b|\breturn\b")
LITERAL = r"(?:['\"\d\[{(\-]|true\b|false\b|none\b|null\b)[^()]*$"
DATA = re.compile(rf"^[\[({{]?\s*(?:{LITERAL}|\w+\s*:\s*{LITERAL}|\w+,$)", re.IGNORECASE)
CONSTANT = re.compile(
    rf"^(?:export )?[\w.]+(?:\s*:\s*[\w.]+)?\s*=\s*{LITERAL}", re.IGNORECASE
)
DEEPEST = 400
MOST_PLACES = 4
MOST_BLOCKS = 20
SORTED = 400_000


@frozen
class LineRange:
    """The lines from `first` to `last`, both included, of a file."""

    path: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"lines {self.first} to {self.last} of `{self.path}`"


@frozen
class Pair:
    """Two places with the same lines: the indexes of their first lines, and the number of equal lines."""

    first: int
    second: int
    length: int


class AddedLines:
    """The added lines that count: for each its hash, its number, and its run (a hunk of a file).

    The texts stay in the change: a million lines must not be held twice.
    """

    def __init__(self, changes: Iterable[FileChange]) -> None:
        self.hashes = array("q")
        self.runs = array("i")
        self._numbers = array("i")
        self._hunks: list[tuple[FileChange, Hunk]] = []
        for change in changes:
            for hunk in change.hunks:
                self._add_hunks(change, hunk)

    def _add_hunks(self, change: FileChange, hunk: Hunk) -> None:
        run = len(self._hunks)
        self._hunks.append((change, hunk))
        for number, raw in enumerate(hunk.added, hunk.new_start):
            value = hash_of(raw)
            if value is not None:
                self.hashes.append(value)
                self.runs.append(run)
                self._numbers.append(number)

    def __len__(self) -> int:
        return len(self.hashes)

    def text(self, at: int) -> str:
        hunk = self._hunks[self.runs[at]][1]
        return fold_blanks(hunk.added[self._numbers[at] - hunk.new_start])

    def texts(self, at: int, length: int) -> list[str]:
        return [self.text(number) for number in range(at, at + length)]

    def place(self, at: int, length: int) -> LineRange:
        change = self._hunks[self.runs[at]][0]
        return LineRange(change.path, self._numbers[at], self._numbers[at + length - 1])

    def files(self, pair: Pair) -> tuple[str, str]:
        """Return the paths of a pair of places."""
        return self.place(pair.first, 1).path, self.place(pair.second, 1).path

    def mark_repeated(self) -> bytearray:
        """Mark each line that occurs more than once; only these can be part of a repeated block."""
        marks = bytearray(len(self.hashes))
        # A number as an object takes five times its room in an array: many numbers are sorted in portions.
        parts = 1 + len(self.hashes) // SORTED
        for part in range(parts):
            ordered = sorted(each for each in self.hashes if each % parts == part)
            twice = {one for one, next_one in pairwise(ordered) if one == next_one}
            for at, each in enumerate(self.hashes):
                if each in twice:
                    marks[at] = 1
        return marks


def is_code(path: str) -> bool:
    """Return whether a path is source code, where a repetition is the author's choice."""
    return suffix_of(path) in ENDINGS


def review_duplicates(
    rule: Rule, changes: Iterable[FileChange], every_change: Iterable[FileChange]
) -> tuple[list[Finding], list[Skipped]]:
    """Return the findings of `refactor-duplicate-block`: one for each pair of files, its longest block.

    Of very many, the longest are listed with the number of those left out.
    """
    lines = AddedLines(changes)
    # Files of one name are variants: of a platform, a version, an application.
    every = [
        pair
        for pair in _pairs(lines, int(rule.extra["lines"]))
        if not _are_variants(*lines.files(pair))
    ]
    if every:
        removed = count_removed(every_change)
        every = [pair for pair in every if not was_twice(pair, lines, removed)]
    copies = group_by(every, lambda pair: pair.first)
    noted: dict[tuple[str, str], list[Pair]] = {}
    blocks: list[list[Pair]] = []
    for pairs in sorted(
        copies.values(), key=lambda pairs: -sum(pair.length for pair in pairs)
    ):
        fresh = [pair for pair in pairs if lines.files(pair) not in noted]
        for pair in pairs:
            noted.setdefault(lines.files(pair), []).append(pair)
        if fresh:
            blocks.append(fresh)
    skipped = []
    if len(blocks) > MOST_BLOCKS:
        path = lines.place(blocks[MOST_BLOCKS][0].second, 1).path
        skipped = [
            Skipped(
                path,
                f"refactor: {len(blocks) - MOST_BLOCKS} more repeated blocks are not listed",
            )
        ]
    found = [
        _finding(rule, lines, pairs, {pair.first for pair in noted[lines.files(pairs[0])]})
        for pairs in blocks[:MOST_BLOCKS]
    ]
    return found, skipped


def count_removed(changes: Iterable[FileChange]) -> Counter[int]:
    """Count the lines that the change takes away, by their hashes."""
    removed = (raw for each in changes for raw in each.removed.values())
    return Counter(value for raw in removed if (value := hash_of(raw)) is not None)


def was_twice(pair: Pair, lines: AddedLines, removed: Counter[int]) -> bool:
    """Return whether most lines of a block were twice in what the change takes away: both places have moved."""
    block = lines.hashes[pair.first : pair.first + pair.length]
    return 2 * sum(removed[value] > 1 for value in block) > pair.length


def _are_variants(first: str, second: str) -> bool:
    return first != second and posixpath.basename(first) == posixpath.basename(second)


def fold_blanks(raw: str) -> str:
    """Fold the blanks of a line; empty for one too long to be written by hand."""
    return " ".join(raw.split()) if len(raw) < DEEPEST else ""


@lru_cache(maxsize=20_000)
def hash_of(raw: str) -> int | None:
    """Return the hash of a line that counts, None for any other; cached, as lines are often alike."""
    text = fold_blanks(raw)
    return hash(text) if text and not IDLE.match(text) else None


def _finding(rule: Rule, lines: AddedLines, pairs: list[Pair], blocks: set[int]) -> Finding:
    pair = pairs[0]
    here = lines.place(pair.second, pair.length)
    origin = lines.place(pair.first, pair.length)
    further = [
        str(lines.place(other.second, other.length)) for other in pairs[1 : 1 + MOST_PLACES]
    ]
    also = f" So do {' and '.join(further)}." if further else ""
    if len(blocks) > 1:
        also += f" They have {len(blocks)} such blocks in common."
    places = " and ".join([str(here), *further])
    return rule.finding(
        path=here.path,
        line=here.first,
        end_line=here.last,
        message=f"Lines {here.first} to {here.last} repeat {origin}, which this change adds, too.{also}",
        suggestion=(
            f"1. Move {origin} into a function of their own, in a module that all places can use.\n"
            f"2. Call it there, and instead of {places}.\n"
            "3. Run the tests."
        ),
        content="\n".join(lines.texts(pair.second, pair.length)),
    )


def _pairs(lines: AddedLines, size: int) -> Iterator[Pair]:
    """Yield each repeated window, extended while both places stay equal."""
    hashes = lines.hashes
    runs = lines.runs
    repeated = lines.mark_repeated()
    seen: dict[int, int] = {}
    at = 0
    while at + size <= len(lines):
        single = repeated.rfind(0, at, at + size)
        if single >= 0:
            at = single + 1
            continue
        if runs[at] != runs[at + size - 1]:
            at += 1
            continue
        key = hash(tuple(hashes[at : at + size]))
        first = seen.setdefault(key, at)
        length = _alike(lines, first, at) if first + size <= at else 0
        if length >= size and _worth_naming(lines.texts(at, length), size):
            yield Pair(first, at, length)
        at += max(1, length)


def _alike(lines: AddedLines, first: int, second: int) -> int:
    runs = lines.runs
    length = 0
    while (
        second + length < len(lines)
        and first + length < second
        and runs[first + length] == runs[first]
        and runs[second + length] == runs[second]
        and lines.hashes[first + length] == lines.hashes[second + length]
        and lines.text(first + length) == lines.text(second + length)
    ):
        length += 1
    return length


def _worth_naming(block: list[str], size: int) -> bool:
    """Return whether enough lines do something: no column of arguments, table of values or repeated line."""
    telling = {text for text in block if WORKS.search(text) and text[-1] != ","}
    working = {text for text in telling if not DATA.match(text)}
    return (
        len(working) >= max(size, len(block) / 2)
        and sum(1 for text in working if not CONSTANT.match(text)) * 2 >= size
    )
