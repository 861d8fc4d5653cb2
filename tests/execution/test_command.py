"""One wanted command: what is run is what is judged, and what the trail keeps of it."""

import shlex
import subprocess
from pathlib import Path

from examples import table
from hypothesis import given
from hypothesis import strategies as st

from cli_guard.commands import judge
from cli_guard.execution.command import CommandRequest

HERE = Path("/r")
WORDS = st.lists(
    st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1), min_size=2
)


@given(WORDS)
def test_several_words_are_typed_as_these_words(words: list[str]) -> None:
    assert shlex.split(CommandRequest(tuple(words), HERE).text) == words


@table(
    "words",
    [
        ("FOO=bar", "x"),
        ("if", "true"),
        ("while", "x"),
        ("~", "a"),
        ("a b", "$(x)"),
        ("!", "x"),
        ("[[", "x"),
        ("{", "x"),
        ("it's=1", "x"),
        ("time", "-p"),
        ("#", "x"),
        ("x", ""),
    ],
)
def test_bash_reads_the_same_words(words: tuple[str, ...]) -> None:
    # A function of every name: which words does bash hand to it?
    script = (
        'command_not_found_handle() { printf "%s\\0" "$@"; }; PATH=/nowhere; '
        + CommandRequest(words, HERE).text
    )
    done = subprocess.run(("bash", "-c", script), capture_output=True, timeout=60)
    assert done.stdout.decode().split("\0")[:-1] == list(words), done.stderr


@table(
    ("wanted", "judged"),
    [
        (CommandRequest(("ls | wc",), HERE), "ls | wc"),
        (CommandRequest(("echo", "a b"), HERE), "echo 'a b'"),
        (CommandRequest(("sh",), HERE, stdin="rm x\n"), "bash -c sh <<< 'rm x'"),
        (CommandRequest(("cat", "-"), HERE, stdin="y\n"), "cat - <<< y"),
        (
            CommandRequest(("make", "it"), HERE, {"COLOUR": "red", "PYTHONPATH": "a b"}),
            "PYTHONPATH='a b' make it",
        ),
        (
            CommandRequest(("a; b",), HERE, {"LD_PRELOAD": "x.so"}),
            "LD_PRELOAD=x.so bash -c 'a; b'",
        ),
    ],
)
def test_what_is_judged_holds_input_and_variables(
    wanted: CommandRequest, judged: str
) -> None:
    assert wanted.text_to_judge == judged


def test_bytes_that_are_no_text_are_asked_about() -> None:
    assert judge(CommandRequest(("cat", "a\udcff"), HERE).text_to_judge).verdict == "review"
