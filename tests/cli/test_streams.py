"""What a command prints, on our streams: what a terminal gets, what a file gets, and a line that does not end."""

import io
from pathlib import Path

from in_process import Terminal
from terminals import waited_for

from cli_guard.cli.io import Io
from cli_guard.cli.streams import Streams


def test_a_character_in_two_pieces_is_one_on_a_terminal_and_what_acts_on_it_is_seen() -> (
    None
):
    out = Terminal()
    with Streams(Io(io.StringIO(), out, Terminal(), Path(), {}), raw=True) as streams:
        for piece in (b"caf\xc3", b"\xa9 \x1b[2J \xff\n", b"\xe2\x82"):
            streams("stdout", piece)
    assert out.getvalue() == "caf\u00e9 \\x1b[2J \\xff\n\\xe2\\x82"


def test_raw_bytes_reach_a_file_as_they_are(tmp_path: Path) -> None:
    with (
        (tmp_path / "out").open("w") as out,
        (tmp_path / "err").open("w") as err,
        Streams(Io(io.StringIO(), out, err, Path(), {}), raw=True) as streams,
    ):
        streams("stdout", b"\xc3")
        streams("stderr", b"\xff\r\0")
        streams("stdout", b"\xa9")
    assert (tmp_path / "out").read_bytes() == b"\xc3\xa9"
    assert (tmp_path / "err").read_bytes() == b"\xff\r\0"


def test_a_line_that_does_not_end_is_shown_all_the_same_on_its_own_stream() -> None:
    out, err = io.StringIO(), io.StringIO()
    with Streams(Io(io.StringIO(), out, err, Path(), {}), raw=False) as streams:
        streams("stderr", b"Go on? ")
        assert waited_for(lambda: err.getvalue() == "Go on? ")
        streams("stderr", b"yes\n")
        streams("stdout", b"half")
    assert (out.getvalue(), err.getvalue()) == ("half", "Go on? yes\n")


def test_a_stream_that_cannot_show_a_character_escapes_it(tmp_path: Path) -> None:
    with (
        (tmp_path / "out").open("w", encoding="ascii") as out,
        Streams(Io(io.StringIO(), out, out, Path(), {}), raw=False) as streams,
    ):
        streams("stdout", "caf\u00e9\n".encode())
    assert (tmp_path / "out").read_bytes() == b"caf\\xe9\n"
