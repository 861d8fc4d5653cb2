"""Open compressed files in memory: zip (jar, whl, docx), tar, gzip, bzip2, xz, ar (deb), and the streams of a PDF.

Nothing is written to disk. Entries, depth and bytes are bounded; what a bound, a password or damage leaves closed makes
the archive incomplete, which the report says.
"""

import bz2
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

DEEPEST = 3
MOST_MEMBERS = 1_000
MEMBER_BYTES = 5_000_000
TOTAL_BYTES = 20_000_000
# A PDF is no archive, but its texts are in streams of zlib.
PDF_STREAM = re.compile(rb"stream\r?\n")
# Formats that the standard library does not open: 7z, rar, zstd, lz4, compress, Git packs.
CLOSED = (
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a\x07",
    b"\x28\xb5\x2f\xfd",
    b"\x04\x22\x4d\x18",
    b"\x1f\x9d",
    b"PACK",
)
BUNDLE = b"# v"
# A `.pyc` begins with a magic number, of which the last two bytes stay the same; a short text with its type and length.
BYTECODE = re.compile(rb".[\x0c-\x0f]\r\n", re.DOTALL)
SHORT_TEXT = re.compile(rb"[zZ\xda\xfa](.)", re.DOTALL)
AR = b"!<arch>\n"
AR_HEADER = 60
ZLIB = (b"x\x01", b"x\x9c", b"x\xda")
GZIP = 31  # zlib's number for its largest window, with the header of gzip


@dataclass
class Opened:
    """The members of an archive, at any depth. `complete`: all of it was opened."""

    members: list[bytes] = field(default_factory=list)
    complete: bool = True
    total: int = 0

    def add(self, data: bytes) -> bool:
        """Add a member if the bounds allow it."""
        self.total += len(data)
        if len(data) > MEMBER_BYTES or self.total > TOTAL_BYTES or len(self.members) >= MOST_MEMBERS:
            self.complete = False
            return False
        self.members.append(data)
        return True


# The last two: a password, a method that zipfile does not know.
DAMAGED = (
    *(OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError),
    *(RuntimeError, NotImplementedError),
)


def open_archive(raw: bytes) -> Opened | None:
    """Return what a compressed file holds, None if it is no compressed file."""
    opened = Opened()
    return opened if _open(raw, opened, 1) else None


def _open(raw: bytes, opened: Opened, depth: int) -> bool:
    """Add the members of an archive and of those inside it; return whether it is one."""
    if raw.startswith(CLOSED) or (raw.startswith(BUNDLE) and b" git bundle\n" in raw[:20]):
        opened.complete = False
        return True
    reader = _reader_of(raw)
    if reader is None:
        return False
    if depth > DEEPEST:
        opened.complete = False
        return True
    try:
        for member in reader(raw):
            if not opened.add(member):
                return True
            _open(member, opened, depth + 1)
    except DAMAGED:
        opened.complete = False
    return True


def _reader_of(raw: bytes) -> Callable[[bytes], Iterator[bytes]] | None:
    starts: tuple[tuple[bytes, Callable[[bytes], Iterator[bytes]]], ...] = (
        (b"\x1f\x8b", lambda raw: _inflate(raw, lambda: zlib.decompressobj(GZIP))),
        *((start, lambda raw: _inflate(raw, zlib.decompressobj)) for start in ZLIB),
        (b"BZh", lambda raw: _inflate(raw, bz2.BZ2Decompressor)),
        (b"\xfd7zXZ\0", lambda raw: _inflate(raw, lzma.LZMADecompressor)),
        (AR, _ar),
        (b"%PDF-", _pdf),
    )
    found = next((reader for start, reader in starts if raw.startswith(start)), None)
    if found is None and raw[257:262] == b"ustar":
        return _tar
    if BYTECODE.match(raw):
        return _bytecode
    # The directory of a zip is at its end, whatever stands before it.
    return found or (_zip if b"PK\x05\x06" in raw[-66_000:] else None)


def _inflate(raw: bytes, begin: Callable[[], Any]) -> Iterator[bytes]:
    """Yield each part: such files may be joined, and a program that opens them reads all."""
    while raw.strip(b"\0"):
        decompressor = begin()
        yield decompressor.decompress(raw, MEMBER_BYTES + 1)
        if not decompressor.eof:
            raise EOFError
        raw = decompressor.unused_data


def _zip(raw: bytes) -> Iterator[bytes]:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        for entry in archive.infolist():
            if not entry.is_dir():
                with archive.open(entry) as member:
                    yield member.read(MEMBER_BYTES + 1)


def _tar(raw: bytes) -> Iterator[bytes]:
    with tarfile.open(fileobj=io.BytesIO(raw), mode="r:") as archive:
        for entry in archive:
            member = archive.extractfile(entry) if entry.isreg() else None
            if member:
                yield member.read(MEMBER_BYTES + 1)


def _bytecode(raw: bytes) -> Iterator[bytes]:
    """Yield the short texts of Python bytecode, each on its line: there, the next byte may be a letter."""
    yield b"\n".join(raw[found.end() : found.end() + found[1][0]] for found in SHORT_TEXT.finditer(raw))


def _ar(raw: bytes) -> Iterator[bytes]:
    position = len(AR)
    while position + AR_HEADER <= len(raw):
        size = int(raw[position + 48 : position + 58])
        position += AR_HEADER
        yield raw[position : position + size]
        position += size + size % 2


def _pdf(raw: bytes) -> Iterator[bytes]:
    for found in PDF_STREAM.finditer(raw):
        try:
            yield zlib.decompressobj().decompress(raw[found.end() :], MEMBER_BYTES + 1)
        except zlib.error:
            continue  # an image, or a stream of another form
