"""What is shown of a call: nothing binary, nothing endless, every error with its next step, one last line."""

import re
from pathlib import Path

from examples import table
from repositories import key
from shell_worlds import kept, world

from cli_guard.assistant import sandbox as shell

PNG = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x00\0\0\0\x80\x08\x06\0\0\0"
    + bytes(range(256)) * 8
)
FOOTER = re.compile(r"\[exit:(\d+) \| (\d+ms|\d+\.\ds)\]\Z")


def shown(command: str, files: dict[str, bytes] | None = None, **more: object) -> str:
    """The text of one call, without its last line."""
    text = shell.run(command, world(files, **more)).shown
    assert FOOTER.search(text), text
    return "\n".join(text.split("\n")[:-1])


@table(
    ("command", "code"),
    [("true", 0), ("false", 1), ("exit 7", 7), ("nosuch", 127), ("echo a |", 2)],
)
def test_the_last_line_is_the_exit_code_and_the_time(command: str, code: int) -> None:
    found = FOOTER.search(shell.run(command, world()).shown)
    assert found and int(found[1]) == code


def test_seconds_are_shown_from_one_on() -> None:
    from cli_guard.assistant.sandbox.presentation import format_duration

    assert [format_duration(s) for s in (0.0004, 0.012, 0.9994, 1.24, 61.0)] == [
        "0ms",
        "12ms",
        "999ms",
        "1.2s",
        "61.0s",
    ]


@table(
    ("raw", "binary"),
    [
        (b"text\n", False),
        ("é 日本 \U0001f600\n".encode(), False),
        (b"a\0b", True),
        (b"\xff\xfe", True),
        (b"\x1b" * 10 + b"x" * 90, False),
        (b"\x1b" * 11 + b"x" * 89, True),
        (b"a\tb\r\n" * 10, False),
        (b"", False),
    ],
)
def test_what_counts_as_binary(raw: bytes, binary: bool) -> None:
    assert ("[error] binary" in shown("cat f", {"f": raw})) is binary


def test_an_image_is_named_with_the_command_that_reads_it() -> None:
    size = f"{len(PNG) / 1024:.1f}".removesuffix(".0")
    assert shown("cat img/photo.png", {"img/photo.png": PNG}) == (
        f"[error] binary image ({size}KB). Use: see img/photo.png"
    )
    assert "Use: see img/photo.png" in shown(
        "cd img; cat photo.png", {"img/photo.png": PNG}
    )
    assert "Use: see img/photo.png" in shown("cat < img/photo.png", {"img/photo.png": PNG})
    assert "Use: cat -b file.bin" in shown("cat file.bin", {"file.bin": b"\0" * 1_200_000})
    assert "(1.1MB)" in shown("cat file.bin", {"file.bin": b"\0" * 1_200_000})
    assert shown("cat img/photo.png | wc -c", {"img/photo.png": PNG}) == str(len(PNG))


def test_what_is_advised_for_a_binary_file_works(tmp_path: Path) -> None:
    files = {"file.bin": bytes(range(256)), "text": b"a\n\nb\n"}
    assert (
        shown("cat file.bin", files) == "[error] binary file (256B). Use: cat -b file.bin"
    )
    assert shown("cat -b file.bin", files).startswith(
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygp"
    )
    assert shown("cat -b text", files) == "     1\ta\n\n     2\tb"


def test_the_pipe_is_never_cut_or_marked() -> None:
    many = b"".join(b"line %d\n" % n for n in range(5_000))
    files = {"big.txt": many, "photo.png": PNG}
    assert shown("cat big.txt | tail -1", files) == "line 4999"
    assert shown("cat big.txt | grep -c line", files) == "5000"
    assert (
        shown("cat missing 2>/dev/null | wc -l; cat big.txt | grep -c exit", files)
        == "0\n0"
    )


def test_long_output_is_cut_kept_and_readable_again(tmp_path: Path) -> None:
    many = b"".join(b"line %d of the log\n" % n for n in range(5_000))
    here = world({"big.txt": many}, state_folder=tmp_path)
    text = shell.run("cat big.txt", here).shown
    lines = text.split("\n")
    assert lines[:200] == [f"line {n} of the log" for n in range(200)]
    assert lines[200:205] == [
        "",
        f"--- output truncated (5000 lines, {len(many) / 1024:.1f}KB) ---",
        "Full output: /tmp/cmd-output/cmd-1.txt",
        "Explore: cat /tmp/cmd-output/cmd-1.txt | grep <pattern>",
        "         cat /tmp/cmd-output/cmd-1.txt | tail -n 100",
    ]
    assert len(lines) == 206
    again = shell.run(
        "cat /tmp/cmd-output/cmd-1.txt | tail -n 1; wc -l < /tmp/cmd-output/cmd-1.txt", here
    )
    assert again.stdout == b"line 4999 of the log\n5000\n"
    assert shell.run("cat /tmp/cmd-output/cmd-1.txt | tail -n 100", here).exit_code == 0
    assert "cmd-2.txt" in shell.run("cat big.txt", here).shown


@table(
    ("raw", "cut"),
    [
        (b"x\n" * 200, False),
        (b"x\n" * 201, True),
        (b"x" * 51_200, False),
        (b"x" * 51_201, True),
    ],
)
def test_the_bounds_are_exact(raw: bytes, cut: bool, tmp_path: Path) -> None:
    assert (
        "--- output truncated" in shown("cat f", {"f": raw}, state_folder=tmp_path)
    ) is cut


def test_a_cut_never_splits_a_character(tmp_path: Path) -> None:
    text = shown("cat f", {"f": b"a" + "日".encode() * 30_000}, state_folder=tmp_path)
    first = text.split("\n")[0]
    assert set(first) == {"a", "日"} and 51_190 < len(first.encode()) <= 51_200


def test_one_endless_line_stays_bounded(tmp_path: Path) -> None:
    ran = shell.run(
        "cat f f f f f",
        world(
            {"f": b"y" * 900_000},
            state_folder=tmp_path,
            limits=shell.RunLimits(output_bytes=2_000_000),
        ),
    )
    assert len(ran.shown) < 60_000
    assert ran.limits and "bytes of output" in ran.shown


def test_overflow_files_are_bounded_in_number_bytes_and_age(tmp_path: Path) -> None:
    import os

    limits = shell.RunLimits(kept_files=3, kept_bytes=3_000)
    here = world(
        {"f": b"x\n" * 300, "g": b"y\n" * 700}, state_folder=tmp_path, limits=limits
    )
    for _ in range(5):
        shell.run("cat f", here)
    assert kept(tmp_path) == ["cmd-3.txt", "cmd-4.txt", "cmd-5.txt"]
    shell.run("cat g", here)
    assert kept(tmp_path) == ["cmd-4.txt", "cmd-5.txt", "cmd-6.txt"]
    shell.run("cat g", here)
    assert kept(tmp_path) == ["cmd-6.txt", "cmd-7.txt"]
    os.utime(tmp_path / "cmd-output" / "cmd-6.txt", (0, 0))
    assert shell.run("ls /tmp/cmd-output", here).stdout == b"cmd-7.txt\n"
    assert kept(tmp_path) == ["cmd-7.txt"]


def test_without_a_state_folder_nothing_is_kept_and_that_is_said() -> None:
    assert "Full output: not kept" in shown("cat f", {"f": b"x\n" * 300})


def test_the_error_stream_is_shown_whenever_a_command_fails() -> None:
    assert shown("echo out; echo why >&2; false") == "out\n[stderr] why"
    assert shown("echo why >&2; false") == "[stderr] why"
    assert shown("echo out; echo chatter >&2") == "out"
    assert shown("ls nope; exit 3").startswith("[stderr] ls: cannot access 'nope'")


@table(
    ("command", "first", "named"),
    [
        ("nosuchcmd | wc -l", "0", "[stderr] bash: line 1: nosuchcmd: command not found"),
        ('echo "[$(nosuchcmd)]"', "[]", "[error] unknown command: nosuchcmd"),
        (
            "for i in 1 2; do nosuchcmd $i; done; echo end",
            "end",
            "[error] unknown command: nosuchcmd",
        ),
        ("nosuchcmd 2>/dev/null | wc -l", "0", "[error] unknown command: nosuchcmd"),
        (
            "npm test &>/dev/null || echo failed",
            "failed",
            "[error] npm: nothing can be installed",
        ),
        (
            "x=$(nosuchcmd 2>/dev/null); echo ${x:-none}",
            "none",
            "[error] unknown command: nosuchcmd",
        ),
        ("cat nope | wc -l", "0", "[stderr] cat: nope: No such file"),
        ("symbols nope | wc -l", "0", "[error] symbols: no definition in nope"),
        ("command -v nosuchcmd 2>/dev/null || echo none", "none", ""),
        ("command -v uv >/dev/null 2>&1 && uv sync || echo none", "none", ""),
        ("grep x nope 2>/dev/null | wc -l", "0", ""),
        ("f() { echo in f; }; f 2>/dev/null", "in f", ""),
        ("echo nosuchcmd 2>/dev/null", "nosuchcmd", ""),
        ("echo 'a 2> b'; [ -f f ] && :; true", "a 2> b", ""),
    ],
)
def test_a_stage_that_failed_is_named_whatever_the_last_exit_code(
    command: str, first: str, named: str
) -> None:
    ran = shell.run(command, world({"f": b"x\n"}))
    lines = ran.shown.splitlines()
    assert ran.exit_code == 0 and ran.stdout.decode().strip() == first == lines[0]
    assert (
        any(line.startswith(named) for line in lines[1:-1]) if named else len(lines) == 2
    ), ran.shown


def test_an_unknown_command_lists_what_there_is_sorted() -> None:
    lines = shown("foo bar").split("\n")
    assert lines[:2] == [
        "[stderr] bash: line 1: foo: command not found",
        "[error] unknown command: foo",
    ]
    names = lines[2].removeprefix("Available: ").split(", ")
    assert names == sorted(names) and {"cat", "grep", "see", "memory", "log"} <= set(names)


@table(
    ("command", "advice"),
    [
        ("echo 1 + 2 | bc", "awk 'BEGIN {print 10 / 3}'"),
        ("git log", "held in memory; read its files with cat, grep"),
        ("python x.py", "cli-guard check-command"),
        ("pip install x", "nothing can be installed"),
        ("curl http://example.org", "no network"),
        ("wget http://example.org", "no network"),
        ("ag foo", "grep -rn"),
        ("make test", "no program runs here"),
        ("cat nowhere.txt", "look with ls, or find"),
        ("echo 'a", "nothing was run"),
        ("sudo ls", "cli-guard check-command"),
        ("docker ps", "cli-guard check-command"),
        ("cat /etc/passwd", "only memory is here, in /repo: a.txt, src/"),
        ("cat ../../x", "only memory is here"),
        ("cat A.TXT", "near: a.txt"),
        ("cat main.py", "near: src/main.py"),
        ("cat src/mian.py", "near: src/main.py"),
    ],
)
def test_every_error_has_its_next_step(command: str, advice: str) -> None:
    text = shown(command, {"a.txt": b"x\n", "src/main.py": b"x\n"})
    assert advice in text and "[error]" in text


def test_no_guess_of_the_interpreter_is_passed_on() -> None:
    assert "Did you mean" not in shown("gti status")


def test_nothing_acts_on_a_terminal() -> None:
    text = shown(
        "cat f; cat f >&2; false",
        {"f": b"plain text \x1b[31mred\x1b]0;t\x07 \xe2\x80\xae end of it\n"},
    )
    assert "\x1b" not in text and "\x07" not in text and "\u202e" not in text
    assert r"\x1b[31mred" in text and r"\u202e" in text


def test_no_secret_is_shown_or_kept(tmp_path: Path) -> None:
    secret = key("github")
    files = {
        "env": f"token = '{secret}'\n".encode(),
        "many": f"token = '{secret}'\n".encode() * 300,
    }
    here = world(files, state_folder=tmp_path)
    for command in (
        "cat env",
        "cat env >&2; false",
        "cat many",
        f"nosuch-{secret}",
        f"cat {secret}",
    ):
        assert secret not in shell.run(command, here).shown, command
    assert kept(tmp_path) == ["cmd-1.txt"]
    assert secret not in (tmp_path / "cmd-output" / "cmd-1.txt").read_text()
    assert secret.encode() in shell.run("cat env", here).stdout
