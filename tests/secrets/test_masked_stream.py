"""The output of a program as it comes: the same wherever it is cut, no secrets, nothing that acts on a terminal."""

import base64
import hashlib

import pytest
from examples import table
from hypothesis import given
from hypothesis import strategies as st
from repositories import key

from cli_guard.secrets.masked_stream import LONGEST, MaskedStream

SECRET = key("github")
# Made here, so that no key stands in this repository.
BODY = base64.encodebytes(
    b"".join(hashlib.sha256(bytes([i])).digest() for i in range(24))
).decode()
PEM = f"-----BEGIN RSA {'PRIVATE'} KEY-----\n{BODY}-----END RSA {'PRIVATE'} KEY-----\n"


def shown(*parts: bytes) -> str:
    passing = MaskedStream()
    return "".join([*(passing.feed(part) for part in parts), passing.end()])


@table(
    ("data", "expected"),
    [
        (b"plain\n\ttab\n", "plain\n\ttab\n"),
        (b"no line end", "no line end"),
        (b"dos\r\nlines\r\n", "dos\nlines\n"),
        (b"10%\r20%\rdone\nnext\n", "done\nnext\n"),
        (b"\x1b[1;31mred\x1b[0m\x1b[K\n", "red\n"),
        (b"\x1b[2J\x07\n", "\\x1b[2J\\x07\n"),
        (b"\xff\xc3\xa9\n", "\\xff\u00e9\n"),
        ("\u202eabc\n".encode(), "\\u202eabc\n"),
        (b"", ""),
    ],
)
def test_what_is_shown(data: bytes, expected: str) -> None:
    assert shown(data) == expected


@given(
    st.lists(
        st.sampled_from(
            [b"a", b"\xc3\xa9", b"\xff", b" ", b"\n", b"\r\n", b"\x1b[0m", b"\x1b"]
        )
    ),
    st.data(),
)
def test_it_is_the_same_wherever_it_is_cut(
    pieces: list[bytes], data: st.DataObject
) -> None:
    whole = b"".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=5)))
    parts = [
        whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)
    ]
    assert shown(*parts) == shown(whole)


@given(st.integers(1, 80))
def test_a_secret_is_masked_wherever_it_is_cut(size: int) -> None:
    whole = f"token {SECRET} here\n{PEM}after\n".encode()
    text = shown(*(whole[at : at + size] for at in range(0, len(whole), size)))
    assert SECRET not in text
    assert BODY.splitlines()[3] not in text
    assert text.startswith("token ghp_**** here\n-----BEGIN") and text.endswith("\nafter\n")


@pytest.mark.parametrize("style", ["\x1b[31m", "\x1b[0m", "\x1b[K", "\x1b[?2004h"])
def test_a_colour_inside_a_secret_hides_nothing(style: str) -> None:
    cut = f"{SECRET[:12]}{style}{SECRET[12:]}"
    whole = f"token {cut} here\n".encode()
    assert shown(whole) == "token ghp_**** here\n"
    assert (
        shown(*(whole[at : at + 3] for at in range(0, len(whole), 3)))
        == "token ghp_**** here\n"
    )


def test_a_question_is_shown_before_its_line_ends_and_once() -> None:
    passing = MaskedStream()
    assert passing.feed(b"Go on? [y/N] ") == ""
    assert passing.idle() == "Go on? [y/N] "
    assert passing.idle() == ""
    assert passing.feed(b"yes\nmore\n") == "yes\nmore\n"
    assert passing.end() == ""
    passing.feed(b"\x1b[?2004h\x1b[1m>>> \x1b[0m")
    assert passing.idle() == ">>> "


@table(
    "beginning",
    [SECRET[:20], f"password = {SECRET}", "10%\r20%", PEM[:200], "\x1b[3", "a \x1b"],
    ids=repr,
)
def test_what_may_be_half_of_something_is_held_back(beginning: str) -> None:
    passing = MaskedStream()
    assert passing.feed(beginning.encode()) == "" or "\n" in beginning
    assert passing.idle() == ""


def test_a_secret_that_is_half_shown_is_not_shown_whole() -> None:
    passing = MaskedStream()
    passing.feed(b"token ghp_x7Kq")
    first = passing.idle()
    rest = passing.feed(SECRET[8:].encode() + b"\n")
    assert SECRET[8:] not in first + rest and "****" in rest


def test_a_header_that_is_only_named_holds_nothing_up() -> None:
    passing = MaskedStream()
    passing.feed(
        PEM.splitlines()[0].encode() + b"\nis how a key begins,\nas everybody knows.\n"
    )
    assert passing.feed(b"next\n").endswith("next\n")


def test_a_line_without_an_end_comes_in_pieces_and_is_not_kept() -> None:
    passing = MaskedStream()
    pieces = [passing.feed(b"word " * 2_000) for _ in range(40)]
    assert sum(map(len, pieces)) > 40 * 10_000 - 2 * LONGEST
    assert "".join([*pieces, passing.end()]) == "word " * 80_000
    assert len(shown(*[b"x" * 10_000] * 100)) == 1_000_000
