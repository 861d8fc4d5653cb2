"""What is compressed in a change: keys in it are denied; what was not read is listed or asks, within one budget."""

import gzip
import io
import lzma
import os
import zipfile
import zlib
from hashlib import sha512

import pytest
from in_process import guard, stage
from repositories import Repo, key, placed

from cli_guard.model import Decision
from cli_guard.reviewers.shard import Shard

SECRET = f'aws_access_key_id = "{key()}"\n'.encode()
LISTED = Decision.ALLOW
ASKS = Decision.REVIEW
RANGE = ("review", "--range", "HEAD~1..HEAD", "--format", "json")
SMALL = "[limits]\ntotal_chars = 3_000_000\n"


def zipped(*members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, data in enumerate(members):
            archive.writestr(f"{number}.txt", data)
    return stream.getvalue()


LONG = zipped(bytes(2_000_000), bytes(2_000_000))
SHORT = zipped(bytes(2_000_000))
CLEAN = zipped(b"x = 1\n")
ENCRYPTED = bytearray(zipped(os.urandom(90)))
ENCRYPTED[6] = 1
# The first byte of a stream: a block of no known kind.
ENCRYPTED[35] = 7
SEVEN = b"7z\xbc\xaf\x27\x1c\0\x04" + bytes(range(256))
PYZ = b"#!/usr/bin/env python3\n" + CLEAN


def without_zeros(data: bytes) -> bytes:
    """Compresses so that no byte is NUL: Git and we take it for text."""
    return next(
        raw
        for n in range(100)
        if b"\0"
        not in (raw := zlib.compress(data + sha512(b"%d" % n).hexdigest().encode()))
    )


def test_keys_in_it_are_found_once_a_file(committed: Repo) -> None:
    files = {
        "a.zip": zipped(SECRET),
        "a.docx": zipped(*[b"x"] * 1_100, SECRET),
        "k.bin": gzip.compress(SECRET),
        "k.zz": without_zeros(SECRET),
        "long.gz": gzip.compress(SECRET + bytes(6_000_000) + SECRET),
    }
    stage(committed, files)
    assert sorted(path for path, _ in placed(committed.look())) == sorted(files)


@pytest.mark.parametrize(
    ("before", "path", "after", "reason", "decision"),
    [
        (
            b"",
            "a.zip",
            LONG,
            "over the limit of 3,000,000 bytes in all (limits.total_chars)",
            ASKS,
        ),
        (b"", "a.zip", SHORT, "", LISTED),
        (CLEAN, "a.zip", LONG, "over the limit", ASKS),
        (LONG, "a.zip", LONG + b"more", "over the limit", LISTED),
        (SHORT, "a.zip", CLEAN, "", LISTED),
        (b"", "a.zip", bytes(ENCRYPTED), "not read: encrypted", ASKS),
        (bytes(ENCRYPTED), "a.zip", bytes(ENCRYPTED) + b"x", "not read: encrypted", LISTED),
        (b"", "a.7z", SEVEN, "not read: 7z", ASKS),
        (SEVEN, "a.7z", SEVEN + b"x", "not read: 7z", LISTED),
        (b"", "Makefile", SEVEN, "not read: 7z", ASKS),
        (b"", "a.gz", gzip.compress(os.urandom(900))[:-90], "damaged", LISTED),
        (b"", "a.pyz", PYZ, "the programs in it", ASKS),
        (b"", "run", PYZ, "the programs in it", ASKS),
        (PYZ, "a.pyz", PYZ + b"x", "the programs in it", LISTED),
        (b"", "a.jar", CLEAN, "", LISTED),
    ],
)
def test_what_was_not_read_asks_or_is_listed(
    committed: Repo, before: bytes, path: str, after: bytes, reason: str, decision: Decision
) -> None:
    committed.commit(
        "Before", {"cli-guard.toml": SMALL, **({path: before} if before else {})}
    )
    stage(committed, {path: after})
    review = committed.look()
    said = [
        each.reason
        for each in review.skipped
        if not each.reason.endswith("binary: searched only for keys")
    ]
    assert [reason in each for each in said] == [True] * bool(reason)
    assert review.decision is decision


def test_all_archives_of_a_change_share_one_budget(committed: Repo) -> None:
    """In the order of the files, however the work is divided."""
    committed.commit("Limit", {"cli-guard.toml": SMALL})
    committed.commit(
        "wip",
        {f"{number}.zip": SHORT for number in range(4)} | {"4.gz": lzma.compress(SECRET)},
    )
    report = guard(committed, *RANGE).json
    asking = [each for each in report["coverage"]["skipped"] if each["asks"]]
    assert [each["path"] for each in asking] == ["1.zip", "2.zip", "3.zip", "4.gz"]
    parts = [guard(committed, *RANGE, "--shard", f"{part}/2").json for part in (1, 2)]
    assert [
        each for part in parts for each in part["coverage"]["skipped"] if each["asks"]
    ] == asking


def test_what_may_be_packed_is_in_the_first_part() -> None:
    for path in ("a.zip", "b.zip", "c.zip"):
        assert [
            Shard(part, 3).has_file("secrets", path, is_packed=True) for part in (1, 2, 3)
        ] == [
            True,
            False,
            False,
        ]
        assert (
            sum(Shard(part, 3).has_file("code", path, is_packed=True) for part in (1, 2, 3))
            == 1
        )


def test_a_key_that_was_in_it_before_is_not_new(committed: Repo) -> None:
    committed.commit("Old", {"a.zip": zipped(SECRET)})
    stage(committed, {"a.zip": zipped(SECRET + b"x = 1\n")})
    assert placed(committed.look()) == []


def test_a_commit_with_a_hidden_member_is_stopped(forked: Repo) -> None:
    stage(forked, {"a.zip": zipped(*[b"x"] * 1_001, SECRET) + bytes(70_000)})
    done = forked.try_git("commit", "-q", "-m", "Add the archive")
    assert done.code != 0 and "compressed file" in done.all and key() not in done.all


def test_a_key_that_a_later_commit_takes_out_is_found(committed: Repo) -> None:
    committed.commit("Add the archive", {"a.zip": zipped(SECRET)})
    committed.commit("Remove the member", {"a.zip": CLEAN})
    done = guard(committed, "review", "--range", "HEAD~2..HEAD")
    assert done.code == 1 and "a.zip in " in done.out
