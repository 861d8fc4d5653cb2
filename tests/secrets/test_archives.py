"""Compressed streams are found wherever they begin and inflated within bounds; what is left unread is said."""

import bz2
import gzip
import io
import lzma
import marshal
import random
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from functools import cache
from importlib.util import MAGIC_NUMBER

import pytest
from examples import table
from repositories import key

from cli_guard.secrets import archives
from cli_guard.secrets.archives import Archive, ArchiveBudget

SECRET = f'aws_access_key_id = "{key()}"\n'.encode()
NOISE = random.Random(0).randbytes(1_600_000)
# where a local header has the flags and the checksum
PASSWORD = 6
CHECKSUM = 14


def zipped(*members: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for number, data in enumerate(members or (SECRET,)):
            archive.writestr(f"{number}.txt", data)
    return stream.getvalue()


def forged(raw: bytes, change: dict[int, int], at: int = 0) -> bytes:
    """Changes bytes of the local header at a place."""
    edited = bytearray(raw)
    for offset, value in change.items():
        edited[at + offset] = value
    return bytes(edited)


def tarred(mode: str, *members: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=f"w:{mode}") as archive:
        for number, data in enumerate(members or (SECRET,)):
            entry = tarfile.TarInfo(f"{number}.txt")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return stream.getvalue()


def ar(name: bytes, data: bytes) -> bytes:
    return b"!<arch>\n" + name.ljust(48) + str(len(data)).encode().ljust(10) + b"`\n" + data


def png(kind: bytes, data: bytes) -> bytes:
    chunk = (
        struct.pack(">I", len(data))
        + kind
        + data
        + struct.pack(">I", zlib.crc32(kind + data))
    )
    return (
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(17) + chunk + bytes(4) + b"IEND\xaeB`\x82"
    )


def deep(levels: int) -> bytes:
    raw = SECRET
    for _ in range(levels):
        raw = gzip.compress(raw)
    return raw


PYC = MAGIC_NUMBER + bytes(12) + marshal.dumps(compile(SECRET, "k.py", "exec"))


@cache
def forms() -> dict[str, bytes]:
    """What holds the secret, made when it is first asked for."""
    return {
        "zip": zipped(),
        "stored": zipped(gzip.compress(SECRET), method=zipfile.ZIP_STORED),
        "zip bzip2": zipped(method=zipfile.ZIP_BZIP2),
        "zip lzma": zipped(method=zipfile.ZIP_LZMA),
        "gz": gzip.compress(SECRET),
        "gz with a name": b"\x1f\x8b\x08\x18"
        + bytes(6)
        + b"k.py\0by me\0"
        + gzip.compress(SECRET)[10:],
        "zlib": zlib.compress(SECRET),
        "bz2": bz2.compress(SECRET),
        "xz": lzma.compress(SECRET),
        "lzma": lzma.compress(SECRET, lzma.FORMAT_ALONE),
        "tgz": tarred("gz"),
        "gz in tar": tarred("", gzip.compress(SECRET)),
        "zlib in tar": tarred("", zlib.compress(SECRET)),
        "pyc in tar": tarred("", PYC),
        "tar.xz": tarred("xz"),
        "deb": ar(b"data.tar.xz", tarred("xz")),
        "zip in zip": zipped(zipped()),
        "pyc": PYC,
        "pdf": b"%PDF-1.4\n\x80\x81\0\nstream\n" + zlib.compress(SECRET) + b"\nendstream\n",
        "png zTXt": png(b"zTXt", b"Comment\0\0" + zlib.compress(SECRET)),
        "png iTXt": png(b"iTXt", b"Comment\0\1\0en\0\0" + zlib.compress(SECRET)),
        # Bounds that were a way round.
        "1,001 members": zipped(*[b"x"] * 1_001, SECRET),
        "a member of 6 MB": zipped(bytes(6_000_000), SECRET),
        "key behind 6 MB": gzip.compress(bytes(6_000_000) + SECRET),
        "5 members of 4.9 MB": zipped(*[bytes(4_900_000)] * 5, SECRET),
        "4 deep": deep(4),
        "tgz of 9 MB": tarred("gz", bytes(9_000_000), gzip.compress(SECRET)),
        "across a window": gzip.compress(
            bytes(archives.WINDOW - 60) + gzip.compress(NOISE + SECRET)
        ),
        # What other programs forgive.
        "forged password": forged(zipped(), {PASSWORD: 1}),
        "forged password in both": forged(
            forged(zipped(), {PASSWORD: 1}), {8: 1}, zipped().index(b"PK\1\2")
        ),
        "forged checksum": forged(zipped(), {CHECKSUM: 0}),
        "forged method": forged(zipped(), {8: 99}),
        "forged to stored": forged(zipped(), {8: 0}),
        "forged lzma": forged(zipped(method=zipfile.ZIP_LZMA), {8: 8}),
        "wrong gz checksum": gzip.compress(SECRET)[:-8] + bytes(8),
        "wrong zlib checksum": zlib.compress(SECRET)[:-4] + bytes(4),
        "damaged first": forged(
            zipped(b"x = 1\n" * 9, SECRET), {36: 0xFF, 37: 0xFF, 38: 0xFF}
        ),
        "no directory": zipped()[:-60],
        "70 KB behind": zipped() + bytes(70_000),
        "before": b"#!/bin/sh\n" + bytes(90) + zipped(),
        "garbage between": gzip.compress(b"x = 1\n") + b"garbage" + gzip.compress(SECRET),
        "cut": gzip.compress(SECRET + NOISE)[:-900],
        "gz in a deflated entry": zipped(gzip.compress(NOISE + SECRET)),
        "hidden in an entry": zipped(b"x" + zipped(), method=zipfile.ZIP_STORED),
    }


def texts(raw: bytes, limit: int = 30_000_000) -> tuple[bytes, set[str]]:
    archive = Archive(ArchiveBudget(limit))
    return b"\n".join(archive.read(raw)), archive.unread


@table("form", lambda: forms())
def test_a_key_in_it_is_found(form: str) -> None:
    assert key().encode() in texts(forms()[form])[0]


@table(
    "form",
    [
        *(
            "zip",
            "zip bzip2",
            "zip lzma",
            "gz",
            "zlib",
            "bz2",
            "xz",
            "tgz",
            "gz in tar",
            "deb",
            "pdf",
            "4 deep",
        ),
        *(
            "png zTXt",
            "5 members of 4.9 MB",
            "across a window",
            "forged password",
            "70 KB behind",
            "stored",
            "gz in a deflated entry",
        ),
    ],
)
def test_nothing_is_said_of_what_was_read_whole(form: str) -> None:
    assert texts(forms()[form])[1] == set()


def really_encrypted() -> bytes:
    raw = zipped(NOISE[:90], method=zipfile.ZIP_STORED)
    return forged(raw, {PASSWORD: 1, 8: 8})


def overlapping() -> Iterator[bytes]:
    """Local headers one behind another: the stream of each holds those of all that follow, as in the best bombs."""
    body = zlib.compressobj(9, zlib.DEFLATED, -15)
    kernel = body.compress(bytes(2_000_000)) + body.flush()
    for number in range(60):
        size = 31 * (59 - number)
        head = struct.pack(
            "<4s5H3I2H",
            b"PK\3\4",
            20,
            0,
            8,
            0,
            0,
            0,
            len(kernel) + size,
            2_000_000,
            1,
            size,
        )
        yield head + b"x"
    yield kernel


BIG_DICTIONARY = {"id": lzma.FILTER_LZMA2, "dict_size": 1 << 28}


@cache
def bounded() -> dict[str, tuple[bytes, str]]:
    return {
        "gz bomb": (gzip.compress(bytes(20_000_000)), archives.OVER_BUDGET),
        "bz2 bomb": (bz2.compress(bytes(20_000_000)), archives.OVER_BUDGET),
        "xz bomb": (lzma.compress(bytes(20_000_000)), archives.OVER_BUDGET),
        "zip bomb": (zipped(*[zipped(bytes(5_000_000))] * 3), archives.OVER_BUDGET),
        "overlapping": (b"".join(overlapping()), archives.OVER_BUDGET),
        "empty blocks": (
            zipped(b"x")[:35] + bytes.fromhex("000000ffff") * 20,
            archives.DAMAGED,
        ),
        "deep": (deep(12), archives.TOO_DEEP),
        "password": (really_encrypted(), archives.ENCRYPTED),
        "damaged": (forms()["damaged first"], archives.DAMAGED),
        "cut": (forms()["cut"], archives.DAMAGED),
        "method": (
            forged(zipped(NOISE[:900], method=zipfile.ZIP_STORED), {8: 9}),
            "not read: zip method 9",
        ),
        "7z": (b"7z\xbc\xaf\x27\x1c\0\x04", "not read: 7z"),
        "zstd in deb": (ar(b"data.tar.zst", b"\x28\xb5\x2f\xfd\0"), "not read: zstd"),
        "rar in zip": (zipped(b"Rar!\x1a\x07\1\0"), "not read: rar"),
        "lz4 in tar": (tarred("", b"\x04\x22\x4d\x18"), "not read: lz4"),
        "pack": (b"PACK\0\0\0\2", "not read: Git pack"),
        "bundle": (b"# v2 git bundle\n", "not read: Git bundle"),
        "xz that needs memory": (
            lzma.compress(b"x", filters=[BIG_DICTIONARY]),
            archives.DAMAGED,
        ),
    }


@table("form", lambda: bounded())
def test_what_is_left_unread_has_a_reason(form: str) -> None:
    raw, reason = bounded()[form]
    found, unread = texts(raw, 9_000_000)
    assert unread == {reason}
    assert len(found) < 10_000_000


def test_streams_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_STREAMS", 20)
    assert texts(zipped(*[b"x"] * 20))[1] == set()
    assert texts(zipped(*[b"x"] * 21))[1] == {archives.OVER_BUDGET}


def test_one_budget_is_for_several_files() -> None:
    budget = ArchiveBudget(5_000_000)
    unread = []
    for _ in range(4):
        archive = Archive(budget)
        assert sum(map(len, archive.read(zipped(bytes(2_000_000))))) < 3_000_000
        unread.append(archive.unread)
    assert unread == [set(), set(), {archives.OVER_BUDGET}, {archives.OVER_BUDGET}]


@pytest.mark.parametrize(
    "raw",
    [
        *(
            b"",
            b"text",
            bytes(range(256)),
            NOISE,
            b"PK\x03\x04 not one",
            b"ustar",
            b"x\x9c",
            b"x\x9cabc",
        ),
        *(
            b"\0PK\3\4PK\1\2PK\5\6PK\7\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
            b"\0ELF \x1f\x8b\x08\0 BZh9 zTXt stream\n",
        ),
        b"\0a program that reads zips: PK\3\4\xff\xff\1\0\0\0" + bytes(90) + b"BZh91AY&SY",
        b"%PDF-1\n1 0 obj <</Subtype /Image>>\nstream\n" + zlib.compress(bytes(99)),
        png(b"IDAT", zlib.compress(bytes(9_000))),
    ],
)
def test_of_other_files_nothing_is_said(raw: bytes) -> None:
    assert texts(raw)[1] == set()
    assert texts(raw)[0] == b""
