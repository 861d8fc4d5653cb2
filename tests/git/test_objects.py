"""Commit and tag objects as bytes: whatever a header says, all of their text is searched."""

import pytest
from examples import table
from in_process import guard
from repositories import Repo, key, secrets

from cli_guard.git.objects import read_object
from cli_guard.review.request import Commit, Range

KEY = key("github")
RAW = KEY.encode()
WHO = b"Ada <ada@example.org> 1700000000 +0000"
START = (
    b"tree "
    + b"a" * 40
    + b"\nparent "
    + b"b" * 40
    + b"\nauthor "
    + WHO
    + b"\ncommitter "
    + WHO
    + b"\n"
)
SIGNATURE = b"gpgsig -----BEGIN PGP SIGNATURE-----\n \n %s\n -----END PGP SIGNATURE-----\n"


def write(repo: Repo, headers: bytes, message: bytes, kind: str = "commit") -> str:
    """Writes an object as no porcelain would, and gives its id."""
    tree, parent = repo.git("rev-parse", "HEAD^{tree}", "HEAD").encode().split()
    start = (
        START.replace(b"a" * 40, tree).replace(b"b" * 40, parent)
        if kind == "commit"
        else b""
    )
    raw = start + headers + b"\n" + message
    return repo.git("hash-object", "-t", kind, "-w", "--literally", "--stdin", stdin=raw)


@table(
    ("headers", "message", "shown"),
    [
        (b"", "Café", "Café"),
        (b"encoding ISO-8859-1\n", "Café".encode("latin-1"), "Café"),
        (b"encoding cp1251\n", "Привет".encode("cp1251"), "Привет"),
        (b"encoding Shift_JIS\n", "日本語".encode("sjis"), "日本語"),
        (b"encoding UTF-7\n", KEY.replace("_", "+AF8-").encode(), KEY),
        (b"encoding ISO-2022-JP\n", RAW[:9] + b"\x1b(J" + RAW[9:], KEY),
    ],
)
def test_a_message_is_decoded_as_git_shows_it(
    headers: bytes, message: bytes | str, shown: str
) -> None:
    body = message if isinstance(message, bytes) else message.encode()
    read = read_object(START + headers + b"\n" + body)
    assert (read.message, read.unread) == (shown, False)
    assert [each.partition(" <")[0] for each in read.people] == [
        "author Ada",
        "committer Ada",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "idna",
        "undefined",
        "punycode",
        "utf-16",
        "hex",
        "rot13",
        "a\0b",
        "\xff",
        "IBM037",
        "../x",
        "",
    ],
)
def test_an_encoding_that_is_not_read_is_said_and_the_bytes_are_searched(name: str) -> None:
    read = read_object(START + b"encoding " + name.encode("latin-1") + b"\n\nAdd x\n" + RAW)
    assert (read.message, read.unread) == (f"Add x\n{KEY}", True)


@table(
    ("headers", "message"),
    [
        (b"note " + RAW + b"\n", b""),
        (b"note a\n " + RAW + b"\n", b""),
        (b" " + RAW + b"\n", b""),
        (b"tree " + RAW + b"\n", b""),
        (SIGNATURE % RAW, b""),
        # A packet by its form, in whose base64 a key is spelled.
        (SIGNATURE % (b"iQEzBAABCAAdFiEE" + RAW), b""),
        (
            b"mergetag object "
            + b"c" * 40
            + b"\n type commit\n tag v1\n tagger "
            + WHO
            + b"\n \n "
            + RAW
            + b"\n",
            b"",
        ),
        (b"encoding ISO-2022-JP\n", b"\x1b$B" + RAW),
        (b"", KEY.encode("utf-16-le")),
        (b"", b"\0" + KEY.encode("utf-16-be")),
    ],
)
def test_text_beside_the_message(headers: bytes, message: bytes) -> None:
    assert KEY in read_object(START + headers + b"\nAdd x\n\n" + message).others


def test_a_plain_commit_has_no_other_text() -> None:
    assert read_object(START + b"\nAdd x\n").others == ""
    assert read_object(START + b"encoding UTF-8\n\nAdd x\n").others == "encoding UTF-8"


def test_no_header_hides_a_key_or_ends_a_review(committed: Repo) -> None:
    base = committed.git("rev-parse", "HEAD")
    hidden = write(committed, SIGNATURE % RAW, b"Sign x\n")
    found = secrets(committed.look(Range(base, hidden)))
    assert [(each.commit, each.line) for each in found] == [(hidden, None)]
    assert "in a header of the commit" in found[0].message
    assert [each.commit for each in secrets(committed.look(Commit(hidden)))] == [hidden]
    odd = write(committed, b"encoding idna\n", b"Add x\n")
    done = guard(committed, "verify", "--range", f"{base}..{odd}")
    assert (done.code, "names an encoding that is not read here" in done.all) == (3, True)
    committed.git("update-ref", "refs/heads/odd", odd)
    committed.git("update-ref", "refs/heads/hidden", hidden)
    scanned = guard(committed, "scan", "--history")
    assert (
        f"commit {hidden[:10]}" in scanned.out and f"message of {odd[:10]}" in scanned.out
    )
    assert "ended, twice" not in scanned.all and KEY not in scanned.all + done.all


def test_signed_commits_and_latin_messages_are_silent(committed: Repo) -> None:
    base = committed.git("rev-parse", "HEAD")
    signature = b"iQIzBAABCAAdFiEE" + b"wNs8Kq3x/Tz5" * 4
    for headers, message in (
        (SIGNATURE % signature, b"Sign x\n"),
        (b"encoding latin1\n", b"Add caf\xe9\n"),
    ):
        review = committed.look(Range(base, write(committed, headers, message)))
        assert (secrets(review), review.skipped, review.decision.value) == ([], (), "allow")


def test_a_tag_in_a_tag_is_read_however_deep(committed: Repo) -> None:
    head = committed.git("rev-parse", "HEAD")
    form = "object {}\ntype {}\ntag v{}\ntagger Ada <a@example.org> 1700000000 +0000\nnote a\n {}\n"
    tag = write(committed, form.format(head, "commit", 0, KEY).encode(), b"Inner\n", "tag")
    for number in range(1, 12):  # more than the eight that were read once
        tag = write(
            committed, form.format(tag, "tag", number, "b").encode(), b"Outer\n", "tag"
        )
    committed.git("update-ref", "refs/tags/v11", tag)
    line = f"refs/tags/v11 {tag} refs/tags/v11 {'0' * 40}\n"
    done = guard(
        committed, "hook", "pre-push", "origin", "https://example.test/r", stdin=line
    )
    assert done.code == 3 and "GitHub token in the commit message" in done.all
    assert KEY not in done.all


def test_notes_that_are_pushed_are_read(committed: Repo) -> None:
    committed.git("notes", "add", "-m", f"token {KEY}", "HEAD")
    oid = committed.git("rev-parse", "refs/notes/commits")
    line = f"refs/notes/commits {oid} refs/notes/commits {'0' * 40}\n"
    done = guard(
        committed, "hook", "pre-push", "origin", "https://example.test/r", stdin=line
    )
    assert done.code == 3 and "GitHub token" in done.all
