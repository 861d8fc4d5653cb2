"""Find the compressed streams in a file, wherever they begin, and inflate them in memory within a budget.

A zip (jar, whl, docx), tar, ar (deb), PDF or PNG is not read by its directory, which may lie, be missing, or stand
before other bytes, but by the streams in it. What it holds uncompressed is in its own bytes, which are searched anyway.
So no damage, forged flag or checksum hides another member. Nothing is written to disk.
"""

import bz2
import lzma
import re
import struct
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import field
from heapq import merge
from itertools import chain, pairwise, repeat
from typing import Any

from cli_guard.lazy import dataclass, regex

DEEPEST = 8
MOST_STREAMS = 100_000
# What is held of a stream, so that one inside it can be opened; of one that is longer, half of this goes on.
WINDOW = 8_000_000
PIECE = 1_000_000
OVERLAP = 32_768  # more than a block of a key has
# Of damaged bytes, what one call of a decompressor has read already is lost: so few at a time.
SLICE = 512
OUTPUT = 1 << 20
XZ_MEMORY = 80_000_000  # `xz -9` needs 66 MB

DAMAGED = "compressed: damaged, searched only in part"
# What a bound or a password leaves unread may hold anything.
OVER_BUDGET = "compressed: over the limit"
TOO_DEEP = f"compressed: nested more than {DEEPEST} deep"
TOO_LONG = f"compressed: an archive in it is over {WINDOW // 2:,} bytes"
ENCRYPTED = "not read: encrypted"

# Formats that the standard library does not open.
CLOSED = {
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "rar",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"\x1f\x9d": "compress",
    b"PACK\0\0\0": "Git pack",
    b"# v2 git bundle\n": "Git bundle",
    b"# v3 git bundle\n": "Git bundle",
}
CLOSED_START = regex(b"|".join(map(re.escape, CLOSED)))
MAY_CARRY = frozenset(
    (
        OVER_BUDGET,
        TOO_DEEP,
        TOO_LONG,
        ENCRYPTED,
        *(f"not read: {name}" for name in CLOSED.values()),
    )
)
# A `.pyc` begins with a magic number, of which the last two bytes stay the same; a short text with its type and length.
BYTECODE = re.compile(rb".[\x0c-\x0f]\r\n", re.DOTALL)
SHORT_TEXT = re.compile(rb"[zZ\xda\xfa](.)", re.DOTALL)
ZIP = b"PK\3\4"
XZ = b"\xfd7zXZ\0"
LZMA = b"\x5d\0\0"
TAR_MAGIC_TO_END = 255  # of a header of 512 bytes, after which the file begins
AR = b"!<arch>\n"
AR_MEMBER = re.compile(rb"\d[\d ]{9}`\n")
PDF_STREAM = re.compile(rb"stream\r?\n")
IMAGE_REACH = 400
PNG_TEXT = re.compile(
    rb"zTXt[^\0]{1,79}\0\0|iTXt[^\0]{1,79}\0\x01\0[^\0]{0,99}\0[^\0]{0,999}\0"
)
BROKEN = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)


@dataclass
class ArchiveBudget:
    """What was done for the archives of one change: bytes that were inflated, streams that were tried."""

    limit: int
    spent: int = 0
    streams: int = 0

    @property
    def is_spent(self) -> bool:
        return self.spent >= self.limit or self.streams >= MOST_STREAMS


@dataclass
class ArchiveStream:
    """A compressed stream: where its bytes begin, and `failure`, what is to be said if they cannot be inflated.

    `is_sure`: its signature is no accident. `size`: how long it has to be. `end` is known when it was inflated.
    """

    start: int
    begin: Callable[[], Any]
    failure: str = DAMAGED
    is_sure: bool = False
    size: int | None = None
    prefix: bytes = b""
    end: int | None = None
    is_cut: bool = False
    produced: int = 0


@dataclass
class Archive:
    """Reads what is compressed in one file. `streams` were inflated, `unread` are the reasons why others were not."""

    budget: ArchiveBudget
    streams: int = 0
    unread: set[str] = field(default_factory=set)
    is_zip: bool = False

    def read(self, raw: bytes) -> Iterator[bytes]:
        """Yield what is compressed in a file, at any depth, in pieces that overlap."""
        self.is_zip = ZIP in raw
        yield from self._inside(raw, 1)

    def _inside(
        self, data: bytes, depth: int, *, is_start: bool = True, is_whole: bool = True
    ) -> Generator[bytes, None, int]:
        """Yield what the streams in some bytes hold; return where the first begins that these bytes cut off."""
        cut = len(data)
        for at, stream in chain(self._heads(data) if is_start else (), _streams(data)):
            if isinstance(stream, bytes):
                yield stream
                continue
            if self.budget.is_spent or depth > DEEPEST:
                self.unread.add(TOO_DEEP if depth > DEEPEST else OVER_BUDGET)
                break
            self.budget.streams += 1
            yield from self._read(self._inflate(data, stream), depth + 1)
            if stream.end is not None and stream.size in (None, stream.end - stream.start):
                self.streams += 1
            elif stream.is_cut and not is_whole:
                cut = min(cut, at)
            elif stream.is_sure or at == 0 or stream.produced > SLICE:
                self.unread.update(filter(None, [stream.failure]))
        return cut

    def _read(self, outputs: Iterable[bytes], depth: int) -> Iterator[bytes]:
        """Yield a stream, and what is compressed in it."""
        held = bytearray()
        is_start = True
        for output in outputs:
            held += output
            if len(held) < WINDOW:
                continue
            yield from _pieces(held)
            cut = yield from self._inside(
                bytes(held), depth, is_start=is_start, is_whole=False
            )
            if cut < len(held) - WINDOW // 2:
                self.unread.add(TOO_LONG)
            is_start = False
            del held[: max(min(cut, len(held) - OVERLAP), len(held) - WINDOW // 2)]
        if held:
            yield from _pieces(held)
            yield from self._inside(bytes(held), depth, is_start=is_start)

    def _inflate(self, data: bytes, stream: ArchiveStream) -> Iterator[bytes]:
        decompressor = stream.begin()
        position = stream.start - len(stream.prefix)
        view = memoryview(data)
        slices = (view[at : at + SLICE] for at in range(stream.start, len(data), SLICE))
        for part in chain([memoryview(stream.prefix)] if stream.prefix else (), slices):
            position += len(part)
            left: bytes | memoryview = part
            while True:
                if self.budget.spent >= self.budget.limit:
                    stream.failure = OVER_BUDGET
                    stream.is_sure = True
                    return
                try:
                    output = decompressor.decompress(left, OUTPUT)
                except BROKEN:
                    return
                # A stream may have a long input without any output.
                self.budget.spent += max(len(output), len(left))
                stream.produced += len(output)
                yield output
                if decompressor.eof:
                    stream.end = position - len(decompressor.unused_data)
                    return
                left = getattr(decompressor, "unconsumed_tail", b"")
                if not left and len(output) < OUTPUT:
                    break
        stream.is_cut = True

    def _heads(self, data: bytes) -> Iterator[tuple[int, ArchiveStream | bytes]]:
        """Yield what has no signature of its own, where a file begins: in these bytes, or in a container of them."""
        for at, end in pairwise((*sorted(_file_starts(data)), len(data))):
            if closed := CLOSED_START.match(data, at):
                self.unread.add(f"not read: {CLOSED[closed[0]]}")
            if stream := _zlib(data, at):
                yield at, stream
            if data.startswith(LZMA, at):
                yield at, ArchiveStream(at, _lzma_alone, failure="")
            if BYTECODE.match(data, at):
                # Each short text on its line: there, the next byte may be a letter.
                found = SHORT_TEXT.finditer(data, at, end)
                yield (
                    at,
                    b"\n".join(
                        data[each.end() : each.end() + each[1][0]] for each in found
                    ),
                )


def _pieces(data: bytes | bytearray) -> Iterator[bytes]:
    for start in range(0, max(len(data) - OVERLAP, 1), PIECE):
        yield bytes(data[start : start + PIECE + OVERLAP])


def _places(data: bytes, signature: bytes) -> Iterator[int]:
    # A pattern of one text is found in half of the time of `bytes.find`.
    return (each.start() for each in re.finditer(re.escape(signature), data))


def _file_starts(data: bytes) -> set[int]:
    """Return where the files begin that a tar, an ar or a zip holds as they are."""
    stored = (_zip_entry(data, at) for at in _places(data, ZIP))
    members = AR_MEMBER.finditer(data) if data.startswith(AR) else ()
    return {
        0,
        *(at + TAR_MAGIC_TO_END for at in _places(data, b"ustar")),
        *(each.end() for each in members),
        *(entry.start for entry in stored if entry and not entry.failure),
    }


def _streams(data: bytes) -> Iterator[tuple[int, ArchiveStream]]:
    """Yield the streams that begin with a signature, but none that another one, which was inflated, seems to hold."""
    places = (
        zip(_places(data, SIGNATURES[kind][0]), repeat(kind))
        for kind in range(len(SIGNATURES))
    )
    inflated = 0
    for at, kind in merge(*places):
        signature, stream_at = SIGNATURES[kind]
        # The entries of a zip may overlap, and its directory names each one.
        stream = stream_at(data, at) if at >= inflated or signature == ZIP else None
        if stream:
            yield at, stream
            inflated = max(inflated, stream.end or 0)


def _inflate_bare() -> Any:
    """Return a decompressor of the bare stream: with its checksum, a wrong one would hide the end of it."""
    return zlib.decompressobj(-zlib.MAX_WBITS)


def _lzma_alone() -> Any:
    return lzma.LZMADecompressor(lzma.FORMAT_ALONE, XZ_MEMORY)


def _zip_entry(data: bytes, at: int) -> ArchiveStream | None:
    if len(data) < at + 30:
        return None
    flags, method, size, name, extra = struct.unpack_from("<HH8xI4xHH", data, at + 6)
    start = at + 30 + name + extra
    if method > 99 or start > len(data):
        return None
    # Stored bytes are in the file itself; bzip2 and xz have signatures of their own.
    unnamed = {0: "", 12: "", 95: "", 8: DAMAGED}.get(
        method, f"not read: zip method {method}"
    )
    if method == 14 and _zip_other(data, at):
        unnamed = ""
    # What is really encrypted may happen to look like a short stream.
    failure, wanted = (ENCRYPTED, size or None) if flags & 1 else (unnamed, None)
    # Programs that read zips hold the signature too: any header is tried, and the failure of a plausible one is said.
    named = data[at + 30 : at + 30 + name]
    is_sure = data[at + 4] < 64 and bool(named) and min(named) >= 0x20
    # The method may be forged, and the true one stand in the directory: each is tried.
    return ArchiveStream(start, _inflate_bare, failure, is_sure=is_sure, size=wanted)


def _zip_other(data: bytes, at: int) -> ArchiveStream | None:
    """Return the stream of an entry in bzip2, xz or LZMA, whatever its header says."""
    if len(data) < at + 30:
        return None
    start = at + 30 + sum(struct.unpack_from("<HH", data, at + 26))
    if data.startswith(XZ, start):
        return _xz(data, start)
    if data[start + 2 : start + 4] != b"\5\0":
        return _bzip2(data, start)
    # The head of a `.lzma` file: properties, and that the size is unknown.
    prefix = data[start + 4 : start + 9] + b"\xff" * 8
    return ArchiveStream(start + 9, _lzma_alone, failure="", prefix=prefix)


def _gzip(data: bytes, at: int) -> ArchiveStream | None:
    flags = data[at + 3] if len(data) > at + 10 else 0xFF
    if flags > 31:
        return None
    start = at + 10
    if flags & 4:
        start += 2 + int.from_bytes(data[start : start + 2], "little")
    for flag in (8, 16):  # a name, a comment
        if flags & flag:
            start = data.find(b"\0", start) + 1 or len(data)
    return ArchiveStream(start + flags // 2 % 2 * 2, _inflate_bare)


def _bzip2(data: bytes, at: int) -> ArchiveStream | None:
    known = data.startswith(b"BZh", at) and data.startswith(b"1AY&SY", at + 4)
    return ArchiveStream(at, bz2.BZ2Decompressor) if known else None


def _xz(_data: bytes, at: int) -> ArchiveStream:
    return ArchiveStream(at, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, XZ_MEMORY))


def _zlib(data: bytes, at: int) -> ArchiveStream | None:
    head = int.from_bytes(data[at : at + 2], "big")
    is_one = head >> 8 & 15 == 8 and head >> 12 < 8 and head % 31 == 0 and not head & 32
    return ArchiveStream(at + 2, _inflate_bare, failure="") if is_one else None


def _pdf(data: bytes, at: int) -> ArchiveStream | None:
    found = PDF_STREAM.match(data, at)
    # Pixels are no text, and many.
    is_image = b"/Image" in data[max(at - IMAGE_REACH, 0) : at].rpartition(b"obj")[2]
    return _zlib(data, found.end()) if found and not is_image else None


def _png(data: bytes, at: int) -> ArchiveStream | None:
    found = PNG_TEXT.match(data, at)
    return _zlib(data, found.end()) if found else None


SIGNATURES: tuple[tuple[bytes, Callable[[bytes, int], ArchiveStream | None]], ...] = (
    (ZIP, _zip_entry),
    (ZIP, _zip_other),
    (b"\x1f\x8b\x08", _gzip),
    (b"BZh", _bzip2),
    (XZ, _xz),
    (b"stream", _pdf),
    (b"zTXt", _png),
    (b"iTXt", _png),
)
