"""Errors in output: each pattern on its own examples, what bounds promise, the output of real programs."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from examples import examples, examples_of, near_misses, table
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_guard.execution import errors
from cli_guard.execution.errors import (
    MAX_ERRORS,
    SHOWN_OF_A_LINE,
    ErrorPattern,
    clip_line,
    patterns,
    pieces,
    plain,
    scan,
)

TYPES = {
    "port_conflict",
    "missing_dependency",
    "compilation",
    "permission",
    "resource",
    "network",
    "test_failure",
    "crash",
    "failure",
}


def fired(text: str) -> list[str]:
    """The patterns that fire on a text, those that another makes needless left out."""
    return [
        hit.pattern.id
        for hit in errors._drop_implied(errors._hits(plain(text).split("\n")))
    ]


# The plugins of this run are not those of the run that is looked at.
OWN_PYTEST = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def run(*command: str, folder: Path | None = None) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=60,
        env={
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", "/"),
            "LC_ALL": "C.UTF-8",
            **OWN_PYTEST,
        },
    )
    return done.stdout.decode("utf-8", "replace")


def types(text: str) -> set[str]:
    return {error.type for error in scan(text)}


@pytest.mark.parametrize("pattern", patterns(), ids=lambda pattern: pattern.id)
@examples(("example", "fires"), lambda pattern: examples_of(pattern), fires="fires")
def test_a_pattern_fires_on_its_examples_and_on_no_near_miss(
    pattern: ErrorPattern, example: str, fires: bool
) -> None:
    if not fires:
        assert scan(example) == ()
        return
    assert set(fired(example)) == {pattern.id}
    assert len(scan(example)) == 1
    assert scan(example)[0].type == pattern.type


@table("pattern", patterns(), ids=lambda pattern: pattern.id)
def test_a_pattern_is_written_as_the_head_of_the_file_says(pattern: ErrorPattern) -> None:
    assert pattern.fires
    assert pattern.silent
    assert pattern.type in TYPES
    assert pattern.keywords
    assert all(keyword == keyword.lower() for keyword in pattern.keywords)
    named = set(re.findall(r"\{(\w+)\}", pattern.message))
    caught: set[str] = set()
    for regex in (pattern.regex, pattern.following, pattern.preceding):
        caught |= {group.rstrip("0123456789") for group in re.compile(regex).groupindex}
    assert named <= caught, "the message names a group that is in no expression"
    known = {each.id for each in patterns()} | {"*"}
    assert set(pattern.unless) <= known


def test_ids_are_unique_and_every_type_has_patterns() -> None:
    ids = [pattern.id for pattern in patterns()]
    assert len(ids) == len(set(ids))
    assert {pattern.type for pattern in patterns()} == TYPES


@table("pattern", patterns(), ids=lambda pattern: pattern.id)
def test_colours_progress_and_windows_line_ends_hide_no_error(
    pattern: ErrorPattern,
) -> None:
    for text in pattern.fires:
        plain_lines = plain(text).split("\n")
        coloured = "\n".join(f"\x1b[1;31m{line}\x1b[0m\x1b[K" for line in plain_lines)
        assert scan(coloured) == scan(plain(text))
        assert [error.message for error in scan("\r\n".join(plain_lines))] == [
            error.message for error in scan(plain(text))
        ]
        [error] = scan(text)
        drawn = plain_lines[error.line - 1]
        plain_lines[error.line - 1] = f" 10% [#    ]\r 90% [#### ]\r{drawn}"
        assert [each.message for each in scan("\n".join(plain_lines))] == [error.message]
        plain_lines[error.line - 1] = f" 10% [#    ]\x1b[2K\x1b[1G{drawn}"
        assert [each.message for each in scan("\n".join(plain_lines))] == [error.message]


@table(
    ("text", "type_", "message"),
    [
        # facts: what a reference misread or missed
        (
            "ModuleNotFoundError: No module named 'ENOTFOUND'",
            "missing_dependency",
            "ENOTFOUND",
        ),
        ("npm: command not found", "missing_dependency", "npm"),
        ("bash: line 1: npm: command not found", "missing_dependency", "npm"),
        ("OSError: [Errno 98] Address already in use", "port_conflict", "address"),
        ("OSError: [Errno 48] Address already in use", "port_conflict", "address"),
        (
            "Error: listen EADDRINUSE: address already in use :::3000",
            "port_conflict",
            "port 3000",
        ),
    ],
)
def test_one_line_gives_one_error_of_the_right_type(
    text: str, type_: str, message: str
) -> None:
    [error] = scan(text)
    assert error.type == type_
    assert message in error.message
    assert (error.line, error.text, error.context) == (1, text, (text,))


@near_misses(
    "text",
    [
        "0 errors, 0 warnings",
        "Found 0 errors. Watching",
        "Found 0 errors. Watching for file changes.",
        "errors: 0",
        "no errors",
        "No errors found",
        "0 error(s), 0 warning(s)",
        "    0 Error(s)",
        "Errors: 0, Failures: 0",
        "tests/test_errors.py::test_error[PermissionError: [Errno 13\\] Permission denied] PASSED  [ 50%]",
        "test permission_denied_is_told ... ok",
        "        raise PermissionError(13, 'Permission denied', path)",
        "    except (ModuleNotFoundError, ImportError):  # No module named 'x'",
        "See PermissionError for what happens when a file may not be read.",
        "src/app.py:12:    raise ValueError('bad')",
        "+ raise KeyError('x')",
        "-        error: 'x is undeclared'",
        "a1b2c3d fix: error: tell the port",
        "    fix the error: the address is already in use",
        "npm warn deprecated x@1.0.0: error: this is old",
        "WARNING: Retrying after connection broken by 'NewConnectionError: Connection refused'",
        "Downloading error-1.0.tar.gz (12 kB)",
        "   Compiling thiserror v1.0.69",
        "[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0",
    ],
)
def test_what_is_no_error_stays_silent(text: str) -> None:
    assert scan(text) == ()


def test_line_and_context_are_those_of_the_output() -> None:
    before = "b" * 500
    after = "a" * 500
    [error] = scan(f"first\n\x1b[1m{before}\x1b[0m\nValueError: bad\n{after}\nnext\nlast\n")
    assert error.line == 3
    assert error.text == "ValueError: bad"
    assert error.context == (
        before[:197] + "...",
        "ValueError: bad",
        after[:197] + "...",
        "next",
    )


def test_the_same_error_is_told_once_with_its_count() -> None:
    found = scan("KeyError: 'a'\nok\nKeyError: 'b'\nKeyError: 'a'\nKeyError: 'a'\n")
    assert [(error.message, error.line) for error in found] == [
        ("KeyError: 'a' (3 times)", 1),
        ("KeyError: 'b'", 3),
    ]


def test_what_the_bound_leaves_out_is_said() -> None:
    at_bound = scan("".join(f"KeyError: {number}\n" for number in range(MAX_ERRORS)))
    assert len(at_bound) == MAX_ERRORS
    assert at_bound[-1].message == f"KeyError: {MAX_ERRORS - 1}"
    beyond = scan("".join(f"KeyError: {number}\n" for number in range(MAX_ERRORS + 7)))
    assert len(beyond) == MAX_ERRORS
    assert beyond[-1].message == f"KeyError: {MAX_ERRORS - 1} [7 more errors left out]"
    assert [error.message for error in beyond[:-1]] == [
        error.message for error in at_bound[:-1]
    ]


def test_a_line_that_says_only_that_it_failed_is_told_where_no_other_says_why() -> None:
    assert types("make: *** [Makefile:2: all] Error 1\n") == {"compilation"}
    [error] = scan("a.c:1:20: error: 'x' undeclared\nmake: *** [Makefile:2: all] Error 1\n")
    assert error.message == "a.c:1:20: 'x' undeclared"


# ------------------------------------------------------------------------------------------------ hostile output

LINES = st.sampled_from(
    [line for pattern in patterns() for text in pattern.fires for line in text.split("\n")]
)
PIECES = st.one_of(
    LINES,
    st.text(),
    st.sampled_from(
        [
            "\n",
            "\r",
            "\r\n",
            "\x1b[31m",
            "\x1b[2K",
            "\x1b]0;title",
            "\x07",
            "\x1b",
            "\0",
            "\ud800",
            "İ",
        ]
    ),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_output_gives_errors_that_keep_the_bounds(text: str) -> None:
    lines = text.split("\n")
    found = scan(text)
    assert found == scan(text)
    assert len(found) <= MAX_ERRORS
    assert [error.line for error in found] == sorted({error.line for error in found})
    assert len({(error.type, error.message) for error in found}) == len(found)
    for error in found:
        assert 1 <= error.line <= len(lines)
        assert error.type in TYPES
        assert error.message
        assert error.text in plain(lines[error.line - 1]) or error.text.endswith("...")
        assert len(error.text) <= SHOWN_OF_A_LINE
        assert 1 <= len(error.context) <= 4
        assert all(
            len(line) <= SHOWN_OF_A_LINE and "\x1b" not in line for line in error.context
        )


@given(
    st.lists(
        st.sampled_from(["ok", "KeyError: 'a'", "Port 80 is already in use", ""]),
        max_size=30,
    )
)
def test_a_line_gives_one_error_at_most(lines: list[str]) -> None:
    hits = errors._hits(lines)
    assert len({hit.index for hit in hits}) == len(hits)
    assert len(hits) == sum(line not in ("ok", "") for line in lines)


@table(
    "text",
    [
        "error: " * 150_000,
        "a" * 250_000,
        " " * 125_000 + "error",
        "x error 5%\r" * 25_000,
        "\x1b[" * 125_000,
        "\x1b]0;error" * 25_000,
        "\x1b[" + "0;" * 125_000,
        "[1] " * 62_500 + "error",
        "a.a:" * 62_500 + " error: x",
        "error: x\n" * 30_000,
        "\n" * 250_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_long_text_of_anything_is_read_to_its_end(text: str) -> None:
    scan(text)
    assert types(text + "\nModuleNotFoundError: No module named 'x'\n") >= {
        "missing_dependency"
    }


@table("pattern", patterns(), ids=lambda pattern: pattern.id)
def test_no_expression_repeats_a_repetition_without_bound(pattern: ErrorPattern) -> None:
    """`(a+)+` and its like take exponential time."""
    tree = re._parser.parse(pattern.regex)  # type: ignore[attr-defined]
    unbounded = int(re._constants.MAXREPEAT)  # type: ignore[attr-defined]

    def walk(node: object, inside: bool) -> None:
        if (
            isinstance(node, tuple)
            and len(node) == 2
            and str(node[0]) in ("MAX_REPEAT", "MIN_REPEAT")
        ):
            _, most, body = node[1]
            endless = int(most) == unbounded
            assert not (inside and endless), pattern.regex
            walk(body, inside or endless)
        elif isinstance(node, list | tuple):
            for each in node:
                walk(each, inside)
        elif hasattr(node, "data"):
            walk(node.data, inside)

    walk(tree, False)


# ------------------------------------------------------------------------------------------------ lines of a terminal


@table(
    ("line", "expected"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;a title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[01m\x1b[Ka.c:1:\x1b[m\x1b[K", "a.c:1:"),
        ("a\x1b[2Kb", "a\rb"),
        ("a\x1b[1Gb", "a\rb"),
        ("a\x1b[Cb", "a b"),
        ("\x1b]never ended\nnext", "\nnext"),
        ("\x1b(Btext\x1b", "text"),
    ],
)
def test_plain_takes_out_what_a_terminal_acts_on(line: str, expected: str) -> None:
    assert plain(line) == expected


@given(st.text(alphabet="ab \n\r\x1b[]0;1mKGP\\\x07"))
def test_plain_leaves_no_escape_and_keeps_lines(text: str) -> None:
    assert "\x1b" not in plain(text)
    assert plain(text).count("\n") == text.count("\n")


def test_pieces_and_what_is_shown_of_a_line() -> None:
    assert pieces("10%\r\r90%\rdone \r") == ("10%", "90%", "done")
    assert pieces("") == ()
    assert clip_line("10%\r90%\rdone\r") == "done"
    assert clip_line("x" * 300) == "x" * 197 + "..."


# ------------------------------------------------------------------------------------------------ real programs


@table("shell", ["bash", "dash", "zsh", "sh"])
def test_the_shells_own_errors_are_told(shell: str, tmp_path: Path) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not here")
    (tmp_path / "script").write_text("echo\n")
    (tmp_path / "script").chmod(0o644)
    assert types(run(shell, "-c", "no-such-program-x start", folder=tmp_path)) == {
        "missing_dependency"
    }
    assert types(run(shell, "-c", "./no-such-script", folder=tmp_path)) == {
        "missing_dependency"
    }
    assert types(run(shell, "-c", "./script", folder=tmp_path)) == {"permission"}
    assert types(run(shell, "-c", "if then", folder=tmp_path)) == {"compilation"}


BIND_TWICE = """
import socket
first = socket.socket(); first.bind(("127.0.0.1", 0)); first.listen()
socket.socket().bind(first.getsockname())
"""
REFUSED = """
import socket
first = socket.socket(); first.bind(("127.0.0.1", 0)); name = first.getsockname(); first.close()
socket.create_connection(name)
"""


@table(
    ("code", "type_"),
    [
        (BIND_TWICE, "port_conflict"),
        (REFUSED, "network"),
        ("import no_such_module_x", "missing_dependency"),
        ("x = (", "compilation"),
        ("raise PermissionError(13, 'Permission denied', '/x')", "permission"),
        ("raise MemoryError", "resource"),
        ("raise OSError(28, 'No space left on device', '/x')", "resource"),
        ("{}['a']", "crash"),
        ("open('no-such-file')", "missing_dependency"),
        ("assert 1 == 2, 'they differ'", "test_failure"),
        ("raise ExceptionGroup('g', [ValueError('a')])", "crash"),
        ("import sys; sys.exit('error: no such option')", "failure"),
    ],
)
def test_what_python_says_is_told(code: str, type_: str) -> None:
    assert types(run(sys.executable, "-c", code)) == {type_}


def test_npm_without_a_package_json(tmp_path: Path) -> None:
    found = scan(run("bash", "-c", "npm start", folder=tmp_path))
    assert [error.type for error in found] == ["missing_dependency"]


SUITE = """
import unittest
class Errors(unittest.TestCase):
    def test_error_permission_denied(self):
        print("error handling: PermissionError is told, 0 errors")
    def test_failure(self):
        self.assertEqual(1, RESULT)
"""


@table("runner", ["unittest", "pytest"])
def test_a_run_of_tests_is_silent_when_it_passes_and_told_when_not(
    runner: str, tmp_path: Path
) -> None:
    options = (
        ("-v",)
        if runner == "unittest"
        else ("-v", "-rA", "-p", "no:cacheprovider", "--rootdir=.")
    )
    for result, expected in (("1", set()), ("2", {"test_failure"})):
        file = tmp_path / f"test_suite_{result}.py"
        file.write_text(SUITE.replace("RESULT", result))
        output = run(
            sys.executable, "-B", "-m", runner, *options, file.name, folder=tmp_path
        )
        assert types(output) == expected, output


def test_git_at_work_is_silent_and_git_that_fails_is_told(tmp_path: Path) -> None:
    commit = "git -c user.name=a -c user.email=a@b commit -m 'fix: error: x'"
    script = f"git init -q . && echo 'error: x' > a && git add a && {commit}"
    assert (
        scan(run("bash", "-c", f"{script} && git log -p && git status", folder=tmp_path))
        == ()
    )
    assert types(run("git", "checkout", "no-such-branch", folder=tmp_path)) == {"failure"}


@near_misses(
    "module",
    ["subprocess", "socket", "unittest/case", "http/client", "asyncio/base_events"],
)
def test_source_code_that_is_shown_is_no_error(module: str) -> None:
    source = (Path(ast.__file__).parent / f"{module}.py").read_text("utf-8")
    assert "Error" in source
    assert scan(source) == ()
