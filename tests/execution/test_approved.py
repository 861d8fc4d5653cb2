"""The output of a command that runs under an approval: whole lines, without secrets, bounded, whatever comes."""

from itertools import pairwise

from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st
from repositories import key

from cli_guard.execution.approved import (
    SHOWN_BYTES,
    SHOWN_LINE_CHARS,
    ApprovedOutput,
    summarize,
)
from cli_guard.execution.errors import ERROR_LINES, LAST_LINES
from cli_guard.execution.processes.model import Result
from cli_guard.secrets.masked_stream import LONGEST
from cli_guard.secrets.printable import printable

PEM = (
    b"-----BEGIN EC PRIVATE KEY-----\n"
    + b"MHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04fSeQ6tF1aY/PuoAoGCCqGSM49\n" * 3
)
END = b"-----END EC PRIVATE KEY-----\n"


def shown(*chunks: bytes, stream: str = "stdout") -> list[str]:
    said: list[str] = []
    output = ApprovedOutput(said.append)
    for chunk in chunks:
        output.add(stream, chunk)
    output.end()
    return said


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[a:b] for a, b in pairwise(places)]


LINES = st.lists(
    st.sampled_from(
        (
            b"ok",
            b"",
            b"\t1 passed",
            b"caf\xc3\xa9",
            b"\xff\xfe",
            b"\x1b[31mred\x1b[0m",
            b"10%\r99%",
            PEM + END,
        )
    ),
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(lines=LINES, cuts=st.lists(st.integers(0, 10_000), max_size=12), ends=st.booleans())
def test_lines_are_the_same_however_they_come(
    lines: list[bytes], cuts: list[int], ends: bool
) -> None:
    data = b"\n".join(lines) + (b"\n" if ends else b"")
    whole = shown(data)
    parts = shown(*pieces(data, cuts))
    assert parts == whole
    assert all(line.isprintable() for line in whole)
    assert "MHcCAQ" not in "\n".join(whole)


@settings(max_examples=60, deadline=None)
@given(chunks=st.lists(st.binary(max_size=200), max_size=10))
def test_nothing_in_it_acts_on_a_terminal(chunks: list[bytes]) -> None:
    assert all(line == printable(line) for line in shown(*chunks))


def test_two_streams_are_two() -> None:
    said: list[str] = []
    output = ApprovedOutput(said.append)
    output.add("stdout", b"one, ")
    output.add("stderr", b"wrong\n")
    output.add("stdout", b"two\n")
    output.end()
    assert said == ["wrong", "one, two"]


def test_a_key_without_an_end_is_held_back_for_so_long() -> None:
    assert shown(PEM, b"more\n") == ["-----BEGIN EC PRIVATE KEY-----****more"]
    lines = [b"plain %d\n" % number for number in range(2_000)]
    assert shown(b"-----BEGIN OF WHAT\n", *lines)[-1] == f"plain {len(lines) - 1}"


@table("step", [1_000, 65_536, 3_000_000])
def test_a_line_of_a_megabyte(step: int) -> None:
    data = b"x" * 1_000_000
    said = shown(
        *(data[at : at + step] for at in range(0, len(data), step)), b"\nbehind it\n"
    )
    assert all(len(line) <= SHOWN_LINE_CHARS for line in said)
    assert len(said) <= len(data) // LONGEST + 2
    assert said[-1] == "behind it"


def test_more_than_one_reads_is_left_to_the_log() -> None:
    said = shown(*[b"a line of output\n" * 4_000] * 100)
    assert sum(map(len, said)) < SHOWN_BYTES + 100_000
    assert "in the log alone" in said[-1]
    assert len([line for line in said if "in the log alone" in line]) == 1


def ended(**fields: object) -> Result:
    return Result(
        "make test", "/shop", **{"return_code": 1, "error": "exit code 1", **fields}
    )  # type: ignore[arg-type]


def test_what_is_told_is_bounded_and_holds_no_secret() -> None:
    output = b"".join(
        b"E   AssertionError: %d %s\n" % (number, b"x" * 5_000) for number in range(300)
    )
    data = summarize(
        ended(error=f"token {key()} is wrong"),
        output + f"E   KeyError: {key()}\n".encode(),
        60,
    )
    lines = data["failing_lines"]
    assert isinstance(lines, list)
    assert 0 < len(lines) <= ERROR_LINES + 1 + LAST_LINES
    assert len(str(data)) < 10_000
    assert key() not in str(data)


def test_of_what_went_well_no_line_is_cited() -> None:
    data = summarize(
        ended(return_code=0, error=None), b"0 errors\nE   AssertionError: expected\n", 60
    )
    assert (data["failing_lines"], data["problem"]) == ([], "")


def test_a_time_out_says_what_to_do() -> None:
    data = summarize(ended(return_code=-2, timed_out=True, error="timed out"), b"", 2.5)
    assert (
        data["problem"]
        == "not done within 2.5 s and ended, with all that it had started: run less, or run it yourself"
    )
