"""A diff that is read piece by piece says what it says when it is read whole."""

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from cli_guard.errors import InternalError
from cli_guard.git.plumbing import (
    END_OF_RAW,
    Bounded,
    join_sections,
    parse_pieces,
    read_raw,
    read_sections,
)
from cli_guard.model import FileChange
from cli_guard.repository.entries import change_of

NAMES = st.sampled_from(["a", "b c", "diff --git a", "\u00e4"])
LINES = st.lists(
    st.sampled_from(
        ["", "x", "diff --git a/x b/x", "@@ -1 +1 @@", "Binary files", "\u00e9"]
    ),
    max_size=4,
)


@st.composite
def diffs(draw: st.DrawFn) -> bytes:
    """What `git diff --raw -z -p -U0` prints of some new and changed files."""
    raw = b""
    patch = b""
    for number, (name, removed, added) in enumerate(
        draw(st.lists(st.tuples(NAMES, LINES, LINES), max_size=5))
    ):
        path = f"{number}{name}".encode()
        raw += b":100644 100644 " + b"1" * 40 + b" " + b"2" * 40 + b" M\0" + path + b"\0"
        patch += b"diff --git a/x b/x\n"
        if removed or added:
            patch += f"@@ -1,{len(removed)} +1,{len(added)} @@\n".encode()
            patch += "".join(f"-{line}\n" for line in removed).encode()
            patch += "".join(f"+{line}\n" for line in added).encode()
    return raw + b"\0" + patch if raw else b""


def parse(output: bytes, *, cut: bool = False) -> tuple[list[FileChange], list[FileChange]]:
    """The changes of a diff that is there as a whole, and those whose patch a cut left out."""
    entries, start = read_raw(output)
    changes = join_sections(entries, read_sections(output[start:], cut=cut), cut=cut)
    return changes, [change_of(entry, []) for entry in entries[len(changes) :]]


@settings(deadline=None)
@given(output=diffs(), sizes=st.lists(st.integers(1, 40), min_size=1, max_size=200))
def test_pieces_of_any_size_say_what_the_whole_says(
    output: bytes, sizes: list[int]
) -> None:
    assert parse_pieces(cut_up(output, sizes), len(output)) == parse(output)


@settings(deadline=None)
@given(
    output=diffs(),
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=50),
    limit=st.integers(0, 400),
)
def test_what_a_limit_leaves_is_what_it_leaves_of_the_whole(
    output: bytes, sizes: list[int], limit: int
) -> None:
    part = output[:limit]
    expected = (
        parse(part, cut=len(part) < len(output))
        if END_OF_RAW in part or part == output
        else None
    )
    assert parse_pieces(cut_up(output, sizes), limit) == expected


@given(st.lists(st.binary(max_size=60), max_size=6), st.integers(0, 120))
def test_anything_else_is_read_or_refused_as_ours(pieces: list[bytes], limit: int) -> None:
    with suppress(InternalError):
        parse_pieces((b":100644 100644 1 2 M\0a\0\0", *pieces), limit)


def test_the_limit_is_a_number_of_bytes() -> None:
    bounded = Bounded([b"abc", b"def"], 5)
    assert (list(bounded), bounded.cut) == ([b"abc", b"de"], True)
    bounded = Bounded([b"abc", b"def"], 6)
    assert (list(bounded), bounded.cut) == ([b"abc", b"def"], False)


def cut_up(output: bytes, sizes: list[int]) -> list[bytes]:
    """The output in pieces of some sizes, in turn."""
    pieces = []
    at = 0
    number = 0
    while at < len(output):
        size = sizes[number % len(sizes)]
        pieces.append(output[at : at + size])
        at = at + size
        number = number + 1
    return pieces
