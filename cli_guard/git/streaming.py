"""Parse a diff while git prints it, so that memory never holds the whole output beside its lines."""

from collections.abc import Iterable, Iterator
from itertools import chain

from cli_guard.git.plumbing import (
    Section,
    Touched,
    change_of,
    join_sections,
    parse,
    read_raw,
    read_sections,
)
from cli_guard.model import FileChange

END_OF_RAW = b"\0\0"
HEADER = b"diff --git "
NEXT = b"\n" + HEADER


def parse_pieces(
    pieces: Iterable[bytes], limit: int, *, touched: Touched | None = None
) -> tuple[list[FileChange], list[FileChange]] | None:
    """Return what `plumbing.parse` makes of all pieces together, of which the first `limit` bytes count.

    None if the limit cuts the raw part.
    """
    bounded = Bounded(pieces, limit)
    stream = iter(bounded)
    head = bytearray()
    for piece in stream:
        head += piece
        if END_OF_RAW in head[-len(piece) - 1 :]:
            break
    end = head.find(END_OF_RAW)
    if end < 0:
        return None if bounded.cut else parse(bytes(head), touched=touched)
    entries, start = read_raw(bytes(head[: end + len(END_OF_RAW)]))
    sections: list[Section] = []
    printed = 0
    for text, last in whole_patches(chain((bytes(head[start:]),), stream)):
        sections += read_sections(text, cut=last and bounded.cut)
        printed += text.startswith(HEADER) + text.count(NEXT)
    if touched and sum(entry.sections for entry in entries) != printed:
        entries = [
            entry for entry in entries if not (entry.may_be_touched and touched(entry))
        ]
    changes = join_sections(entries, sections, cut=bounded.cut)
    return changes, [change_of(entry, []) for entry in entries[len(changes) :]]


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
