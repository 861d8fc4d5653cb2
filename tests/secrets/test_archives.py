"""Compressed files are opened in memory within bounds, or named as not searched."""

import bz2
import gzip
import io
import lzma
import marshal
import tarfile
import zipfile
import zlib
from importlib.util import MAGIC_NUMBER

import pytest
from repositories import Repo, key, placed

from cli_guard.secrets import archives
from cli_guard.secrets.archives import open_archive

SECRET = f'aws_access_key_id = "{key()}"\n'.encode()


def zipped(data: bytes = SECRET, name: str = "k.py", **options: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data, **options)
    return stream.getvalue()


def tarred(mode: str, data: bytes = SECRET) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=f"w:{mode}") as archive:
        entry = tarfile.TarInfo("k.py")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return stream.getvalue()


def ar(data: bytes) -> bytes:
    return b"!<arch>\n" + b"data.tar.xz".ljust(48) + str(len(data)).encode().ljust(10) + b"`\n" + data


FORMS = {
    "a.zip": zipped(),
    "a.jar": zipped(),
    "a-1.0-py3-none-any.whl": zipped(),
    "a.docx": zipped(name="word/document.xml"),
    "k.py.gz": gzip.compress(SECRET),
    "k.gz": gzip.compress(gzip.compress(SECRET)),
    "joined.gz": gzip.compress(b"x = 1\n") + gzip.compress(SECRET),
    "a.svgz": gzip.compress(SECRET),
    "k.bin": zlib.compress(SECRET),
    "k.bz2": bz2.compress(SECRET),
    "k.xz": lzma.compress(SECRET),
    "a.tgz": tarred("gz"),
    "a.tar": tarred(""),
    "a.tar.xz": tarred("xz"),
    "a.deb": ar(tarred("xz")),
    "a.bin": b"readme\n" + zipped(),
    "zip.zip": zipped(zipped(), "b.zip"),
    "k.pyc": MAGIC_NUMBER + bytes(12) + marshal.dumps(compile(SECRET, "k.py", "exec")),
    "a.pdf": b"%PDF-1.4\n\x80\x81\0\nstream\n" + zlib.compress(SECRET) + b"\nendstream\n",
}


@pytest.mark.parametrize("path", list(FORMS))
def test_a_key_in_it_is_found(committed: Repo, path: str) -> None:
    committed.write(path, FORMS[path])
    committed.git("add", "-A")
    review = committed.look()
    assert [found for found, _ in placed(review)] == [path]


def test_it_is_named_by_what_was_searched(committed: Repo) -> None:
    committed.write("clean.zip", zipped(b"x = 1\n"))
    committed.write("a.7z", b"7z\xbc\xaf\x27\x1c\0\x04" + bytes(range(256)))
    committed.write("b.zip", zipped(b"x = 1\n")[:-40] + b"PK\x05\x06" + b"\0" * 18)
    committed.git("add", "-A")
    review = committed.look()
    reasons = {(each.path, each.reason) for each in review.skipped if "compressed" in each.reason}
    assert reasons == {("a.7z", "compressed: not searched")}
    assert review.reviewed == 0


def test_a_key_that_was_in_it_before_is_not_new(committed: Repo) -> None:
    committed.commit("Old", {"a.zip": zipped()})
    committed.write("a.zip", zipped(SECRET + b"x = 1\n"))
    committed.git("add", "-A")
    assert placed(committed.look()) == []


@pytest.mark.parametrize(
    "raw",
    [
        gzip.compress(b"\0" * 60_000_000),
        zipped(b"\0" * 60_000_000),
        FORMS["a.zip"][:-30] + b"PK\x05\x06",
        FORMS["k.py.gz"][:-12] + b"garbage",
        b"!<arch>\n" + b"x" * 60,
        gzip.compress(gzip.compress(gzip.compress(gzip.compress(SECRET)))),
    ],
    ids=["bomb", "zip bomb", "cut", "damaged", "no size", "deep"],
)
def test_bounds_and_damage_leave_it_incomplete(raw: bytes) -> None:
    opened = open_archive(raw)
    assert opened is not None
    assert sum(map(len, opened.members)) <= archives.TOTAL_BYTES
    assert not opened.complete or raw[:2] == b"PK"


@pytest.mark.parametrize("raw", [b"", b"text", bytes(range(256)), b"PK\x03\x04 not one", b"ustar"])
def test_other_files_are_none(raw: bytes) -> None:
    assert open_archive(raw) is None
