"""Parse the output of `git diff-index`, `diff-tree` and `diff-files` with `--raw -z -p`.

The raw part gives paths byte for byte, modes and blob ids; the patch part gives the lines. Both list the same entries
in the same order (git-diff(1), "RAW OUTPUT FORMAT"), so they are joined by position and no path is read from a patch
header, where a hostile name could imitate anything. A type change is one raw entry and two patches, a deletion and a
creation.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

from cli_guard.errors import InternalError
from cli_guard.model import FileChange, Hunk, Kind, Status

LFS_LINE = re.compile(
    r"(version https://git-lfs\.github\.com/spec/|oid sha256:[0-9a-f]{64}$|size \d+$|ext-\d)"
)
HUNK_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
PAIR_HEADER = re.compile(rb"[0-9a-f]{40,64} [0-9a-f]{40,64}\n")
NEXT_HEADER = re.compile(rb"\n(?=[0-9a-f]{40,64} [0-9a-f]{40,64}\n)")
UNMARKED = itemgetter(slice(1, None))
NAMED = 3


@dataclass(frozen=True, slots=True)
class RawEntry:
    """One record of `--raw -z`."""

    old_mode: str
    new_mode: str
    old_blob: str
    new_blob: str
    status: Status
    path: str
    old_path: str | None

    @property
    def may_be_touched(self) -> bool:
        """Return whether perhaps only a time stamp differs: then Git gives no id for the new content."""
        return (
            self.status is Status.MODIFIED
            and self.old_mode == self.new_mode
            and not self.new_blob.strip("0")
        )

    @property
    def sections(self) -> int:
        """Return how many patches the entry has: an unmerged path has none."""
        return {Status.TYPE_CHANGED: 2, Status.UNMERGED: 0}.get(self.status, 1)


Touched = Callable[[RawEntry], bool]


@dataclass(frozen=True, slots=True)
class Section:
    """One patch: its hunks, or Git's note that the file is binary."""

    hunks: tuple[Hunk, ...]
    binary: bool


def decode_path(raw: bytes) -> str:
    """Decode a path so that it can be encoded to the same bytes again."""
    return raw.decode("utf-8", "surrogateescape")


def name_some(paths: list[str]) -> str:
    """Format the first few paths for a message."""
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    return ", ".join(paths[:NAMED]) + more


def read_raw(output: bytes, position: int = 0) -> tuple[list[RawEntry], int]:
    """Return the raw records from `position` on, and the position after them, where the patch text begins."""
    entries: list[RawEntry] = []
    while output.startswith(b":", position):
        end = output.index(b"\0", position)
        old_mode, new_mode, old_blob, new_blob, status = (
            output[position + 1 : end].decode("ascii").split(" ")
        )
        two_paths = status[0] in "RC"
        first_end = output.index(b"\0", end + 1)
        first = decode_path(output[end + 1 : first_end])
        position = first_end + 1
        second = None
        if two_paths:
            second_end = output.index(b"\0", position)
            second = decode_path(output[position:second_end])
            position = second_end + 1
        entries.append(
            RawEntry(
                old_mode,
                new_mode,
                old_blob,
                new_blob,
                Status(status[0]),
                second if second is not None else first,
                first if second is not None else None,
            )
        )
    return entries, position + output.startswith(b"\0", position)


def read_sections(patch: bytes, *, cut: bool = False) -> list[Section]:
    """Return the patches of a patch text without context, in order; of a `cut` text all but the last.

    A header only marks where a patch begins: a name in it, such as `x b/y`, may be ambiguous. Raises InternalError for
    a text that ends inside a hunk though it was not cut.
    """
    lines = Lines(patch.decode("utf-8", "replace").split("\n"))
    sections: list[Section] = []
    hunks: list[Hunk] = []
    binary = False
    begun = False
    for line in lines:
        if line.startswith("diff --git "):
            if begun:
                sections.append(Section(tuple(hunks), binary))
            begun = True
            hunks = []
            binary = False
        elif header := HUNK_HEADER.match(line):
            old, removed, new, added = (
                1 if number is None else int(number) for number in header.groups()
            )
            hunk = Hunk(old, new, lines.take(removed, "-"), lines.take(added, "+"))
            if (len(hunk.removed), len(hunk.added)) != (removed, added) and not cut:
                raise InternalError("a patch of git ends inside a hunk: please report this")
            hunks.append(hunk)
        elif line.startswith("Binary files "):
            binary = True
    if begun and not cut:
        sections.append(Section(tuple(hunks), binary))
    return sections


class Lines:
    """The lines of a patch, read from first to last."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._position = 0

    def __iter__(self) -> Iterator[str]:
        while self._position < len(self._lines):
            self._position += 1
            yield self._lines[self._position - 1]

    def take(self, number: int, mark: str) -> tuple[str, ...]:
        """Read `count` lines that begin with the mark, and skip the note on a missing LF."""
        taken = self._lines[self._position : self._position + number]
        self._position += len(taken)
        if self._position < len(self._lines) and self._lines[self._position].startswith(
            "\\"
        ):
            self._position += 1
        if {line[:1] for line in taken} == {mark}:
            return tuple(map(UNMARKED, taken))
        return tuple(line[1:] for line in taken if line.startswith(mark))


def kind_of(entry: RawEntry, sections: list[Section]) -> Kind:
    """Return the kind of the changed object, by its mode and by what Git said of its content."""
    mode = entry.old_mode if entry.status is Status.DELETED else entry.new_mode
    if mode == "160000":
        return Kind.SUBMODULE
    if mode == "120000":
        return Kind.SYMLINK
    if any(section.binary for section in sections):
        return Kind.BINARY
    lines = chain.from_iterable(h.added or h.removed for s in sections for h in s.hunks)
    first = next(lines, "")
    # The first line decides for nearly every file.
    if LFS_LINE.match(first):
        rest = [first, *lines]
        if any(line.startswith("oid sha256:") for line in rest) and all(
            map(LFS_LINE.match, rest)
        ):
            return Kind.LFS
    return Kind.TEXT


def parse(
    output: bytes, *, cut: bool = False, touched: Touched | None = None
) -> tuple[list[FileChange], list[FileChange]]:
    """Return the changes of one diff, binary ones without lines, and those whose patch a `cut` output left out.

    A cut output must hold all of its raw part, or nothing but that. For a file with only a new time stamp (see
    `touched`) Git prints a record, and in some versions a patch.
    """
    entries, start = read_raw(output)
    printed = output.startswith(b"diff --git ", start) + output.count(
        b"\ndiff --git ", start
    )
    if touched and sum(entry.sections for entry in entries) != printed:
        entries = [
            entry for entry in entries if not (entry.may_be_touched and touched(entry))
        ]
    changes = join(entries, output[start:], cut=cut)
    return changes, [change_of(entry, []) for entry in entries[len(changes) :]]


def parse_pairs(output: bytes) -> Iterator[list[FileChange]]:
    """Yield the changes between each two trees of `diff-tree --stdin`, one diff after another."""
    position = 0
    while header := PAIR_HEADER.match(output, position):
        entries, start = read_raw(output, header.end())
        position = start
        if not PAIR_HEADER.match(output, start):
            # In a patch every line has a mark of its own in front, so an id at the start of one is a header.
            following = NEXT_HEADER.search(output, start)
            position = following.end() if following else len(output)
        yield join(entries, output[start:position])


def join(entries: list[RawEntry], patch: bytes, *, cut: bool = False) -> list[FileChange]:
    """Join raw records and their patches to changes; if the patch text was cut, only the first of them.

    Raises InternalError if the two do not fit.
    """
    return join_sections(entries, read_sections(patch, cut=cut), cut=cut)


def join_sections(
    entries: list[RawEntry], sections: list[Section], *, cut: bool = False
) -> list[FileChange]:
    """Join raw records and parsed patches."""
    expected = sum(entry.sections for entry in entries)
    if expected != len(sections) and not cut:
        raise InternalError(
            f"git named {expected} patches and printed {len(sections)}: please report this"
        )
    changes = []
    position = 0
    for entry in entries:
        own = sections[position : position + entry.sections]
        if len(own) < entry.sections:
            break
        position += entry.sections
        changes.append(change_of(entry, own))
    return changes


def change_of(entry: RawEntry, sections: list[Section]) -> FileChange:
    """Join one raw record and its patches."""
    kind = kind_of(entry, sections)
    return FileChange(
        path=entry.path,
        status=entry.status,
        kind=kind,
        old_path=entry.old_path,
        old_mode=entry.old_mode,
        new_mode=entry.new_mode,
        old_blob=entry.old_blob if entry.old_blob.strip("0") else None,
        new_blob=entry.new_blob if entry.new_blob.strip("0") else None,
        hunks=()
        if kind is Kind.SUBMODULE
        else tuple(h for section in sections for h in section.hunks),
    )
