"""Parse the output of `git diff-index`, `diff-tree` and `diff-files` with `--raw -z -p`.

The raw part gives paths byte for byte, modes and blob ids; the patch part gives the lines. Both list the same entries
in the same order (git-diff(1), "RAW OUTPUT FORMAT"), so they are joined by position and no path is read from a patch
header, where a hostile name could imitate anything. A type change is one raw entry and two patches, a deletion and a
creation.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from operator import itemgetter, methodcaller

from cli_guard.errors import InternalError
from cli_guard.model import FileChange, Hunk, Status
from cli_guard.repository.entries import (
    DiffSection,
    RawEntry,
    Touched,
    change_of,
    decode_path,
)

HUNK_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
PAIR_HEADER = re.compile(rb"[0-9a-f]{40,64} [0-9a-f]{40,64}\n")
NEXT_HEADER = re.compile(rb"\n(?=[0-9a-f]{40,64} [0-9a-f]{40,64}\n)")
END_OF_RAW = b"\0\0"
HEADER = b"diff --git "
NEXT = b"\n" + HEADER
UNMARKED = itemgetter(slice(1, None))
BEGINS_WITH = {mark: methodcaller("startswith", mark) for mark in "-+"}


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


def read_sections(patch: bytes, *, cut: bool = False) -> list[DiffSection]:
    """Return the patches of a patch text without context, in order; of a `cut` text all but the last.

    A header only marks where a patch begins: a name in it, such as `x b/y`, may be ambiguous. Raises InternalError for
    a text that ends inside a hunk though it was not cut.
    """
    lines = PatchLines(patch.decode("utf-8", "replace").split("\n"))
    sections: list[DiffSection] = []
    hunks: list[Hunk] = []
    binary = False
    begun = False
    for line in lines:
        if line.startswith("diff --git "):
            if begun:
                sections.append(DiffSection(tuple(hunks), binary))
            begun = True
            hunks = []
            binary = False
        elif line.startswith("@@") and (header := HUNK_HEADER.match(line)):
            old, removed, new, added = header.groups("1")
            gone = lines.take(int(removed), "-")
            fresh = lines.take(int(added), "+")
            if (len(gone), len(fresh)) != (int(removed), int(added)) and not cut:
                raise InternalError("a patch of git ends inside a hunk: please report this")
            hunks.append(Hunk(int(old), int(new), gone, fresh))
        elif line.startswith("Binary files "):
            binary = True
    if begun and not cut:
        sections.append(DiffSection(tuple(hunks), binary))
    return sections


class PatchLines:
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
        if not number:
            return ()
        taken = self._lines[self._position : self._position + number]
        self._position += len(taken)
        if self._position < len(self._lines) and self._lines[self._position].startswith(
            "\\"
        ):
            self._position += 1
        if all(map(BEGINS_WITH[mark], taken)):
            return tuple(map(UNMARKED, taken))
        return tuple(line[1:] for line in taken if line.startswith(mark))


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
        yield join_sections(entries, read_sections(output[start:position]))


def join_sections(
    entries: list[RawEntry], sections: list[DiffSection], *, cut: bool = False
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


def parse_pieces(
    pieces: Iterable[bytes], limit: int, *, touched: Touched | None = None
) -> tuple[list[FileChange], list[FileChange]] | None:
    """Return the changes of one diff, and those whose patch is beyond the first `limit` bytes.

    Binary files have no lines. For a file with only a new time stamp (see `touched`) Git prints a record, and in some
    versions a patch. None if the limit cuts the raw part.
    """
    bounded = Bounded(pieces, limit)
    stream = iter(bounded)
    head = bytearray()
    for piece in stream:
        head += piece
        if END_OF_RAW in head[-len(piece) - 1 :]:
            break
    end = head.find(END_OF_RAW)
    if end < 0 and bounded.cut:
        return None
    entries, start = read_raw(bytes(head[: end + len(END_OF_RAW)] if end >= 0 else head))
    sections: list[DiffSection] = []
    printed = 0
    for text, last in whole_patches(chain((bytes(head[start:]),), stream)):
        sections += read_sections(text, cut=last and bounded.cut)
        printed += text.startswith(HEADER) + text.count(NEXT)
    entries = drop_touched(entries, printed, touched)
    changes = join_sections(entries, sections, cut=bounded.cut)
    return changes, [change_of(entry, []) for entry in entries[len(changes) :]]


def parse_raw(output: bytes, *, touched: Touched | None = None) -> list[FileChange]:
    """Return the changes of a diff that was printed without patches."""
    entries, _ = read_raw(output)
    return [change_of(entry, []) for entry in drop_touched(entries, 0, touched)]


def drop_touched(
    entries: list[RawEntry], printed: int, touched: Touched | None
) -> list[RawEntry]:
    """Drop the records of files with only a new time stamp, unless Git printed a patch for every record."""
    if touched is None or sum(entry.sections for entry in entries) == printed:
        return entries
    return [entry for entry in entries if not (entry.may_be_touched and touched(entry))]


class Bounded:
    """The first bytes of some pieces; after the iteration `cut` says whether there were more."""

    def __init__(self, pieces: Iterable[bytes], limit: int) -> None:
        self._pieces = pieces
        self._left = limit
        self.cut = False

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            if len(piece) > self._left:
                self.cut = True
                yield piece[: self._left]
                return
            self._left -= len(piece)
            yield piece


def whole_patches(pieces: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield the same text in pieces of whole patches; the flag marks the last, which may be cut.

    In a patch every line of a file has a mark in front, so a header at the start of a line is one.
    """
    rest = bytearray()
    for piece in pieces:
        searched = max(len(rest) - len(NEXT), 0)
        rest += piece
        at = rest.rfind(NEXT, searched)
        if at >= 0:
            yield bytes(rest[: at + 1]), False
            del rest[: at + 1]
    yield bytes(rest), True
