"""Commands in the foreground: their streams, their end, and what is left of them: nothing."""

import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from watching import DEAF, marked

from cli_guard.execution.processes.manager import ProcessManager
from cli_guard.execution.processes.model import SHOWN_CHARS, ProcessLimits

PYTHON = sys.executable


def test_a_text_is_run_by_bash_and_words_by_nobody(manager: ProcessManager) -> None:
    assert manager.run("x=(a b); echo ${x[1]}").stdout == "b\n"
    assert manager.run(("echo", "$HOME", "a;b", "")).stdout == "$HOME a;b \n"
    assert manager.run("-x").return_code == 127


def test_the_streams_come_apart_and_as_they_are(manager: ProcessManager) -> None:
    seen: list[tuple[str, bytes]] = []
    result = manager.run(
        "printf 'a\\377\\n'; printf 'b\\0\\n' >&2; exit 7",
        on_output=lambda s, d: seen.append((s, d)),
    )
    assert (result.stdout, result.stderr, result.return_code) == ("a\ufffd\n", "b\0\n", 7)
    assert sorted(seen) == [("stderr", b"b\0\n"), ("stdout", b"a\xff\n")]
    assert not result.success
    assert result.as_dict()["status"] == "error"


def test_output_comes_while_the_command_runs(
    manager: ProcessManager, tmp_path: Path
) -> None:
    go_on = tmp_path / "go on"
    result = manager.run(
        f"echo first; while ! test -e '{go_on}'; do sleep 0.01; done; echo second",
        on_output=lambda _, data: go_on.touch(),
        timeout=60,
    )
    assert result.stdout == "first\nsecond\n"


def test_what_is_raised_meanwhile_ends_the_process_tree(
    manager: ProcessManager, mark: str
) -> None:
    def fail(stream: str, data: bytes) -> None:
        raise RuntimeError("in a callback")

    with pytest.raises(RuntimeError, match="in a callback"):
        manager.run(f"sleep {mark} & echo ready; wait", on_output=fail)
    assert not marked(mark)


def test_long_output_is_cut_in_the_middle_and_whole_in_the_log(
    manager: ProcessManager,
) -> None:
    result = manager.run("echo first; seq 100000; echo last")
    assert result.output_truncated
    assert len(result.stdout) <= SHOWN_CHARS
    assert result.stdout.startswith("first\n1\n2\n")
    assert result.stdout.endswith("99999\n100000\nlast\n")
    assert result.log_file is not None
    assert result.log_file in result.stdout
    log = Path(result.log_file).read_text()
    assert len(log.splitlines()) == 100_002


def test_a_megabyte_without_a_line_is_cut_as_well(manager: ProcessManager) -> None:
    result = manager.run("head -c 1000000 /dev/zero | tr '\\0' '\\303'")
    assert result.output_truncated
    assert len(result.stdout) <= SHOWN_CHARS


def test_what_is_not_cut_leaves_no_log(manager: ProcessManager) -> None:
    assert manager.run("echo x").log_file is None
    assert list(manager.folder.iterdir()) == []


@pytest.mark.parametrize(
    "respond, expected", [("y\n", "[y]"), ("yes\nno\n", "[yes]"), (None, "[]"), ("", "[]")]
)
def test_a_prompt_is_answered(
    manager: ProcessManager, respond: str | None, expected: str
) -> None:
    assert (
        manager.run("read answer; echo [$answer]", respond=respond).stdout.strip()
        == expected
    )


def test_an_answer_that_nobody_reads_is_no_reason_to_wait(manager: ProcessManager) -> None:
    assert (
        manager.run("exec <&-; sleep 0.05; echo ok", respond="y\n" * 200_000).stdout
        == "ok\n"
    )


def test_an_answer_longer_than_a_pipe_arrives_whole(manager: ProcessManager) -> None:
    assert manager.run("wc -c", respond="y\n" * 300_000).stdout.strip() == "600000"


def test_a_descriptor_is_read(manager: ProcessManager) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"from the pipe")
    os.close(writing)
    assert manager.run("cat", stdin=reading).stdout == "from the pipe"
    os.close(reading)


@pytest.mark.parametrize(
    "command",
    [
        "sleep {mark}; echo x",
        "sleep {mark} & wait",
        "setsid sleep {mark} & wait",
        "(setsid setsid sleep {mark} &) ; sleep {mark}",
        "trap '' INT TERM; sleep {mark}; sleep {mark}",
        "nohup setsid bash -c 'sleep {mark} & sleep {mark}' & wait",
        "exec >&- 2>&-; sleep {mark}",
    ],
)
def test_a_timeout_ends_the_whole_process_tree(
    manager: ProcessManager, mark: str, command: str
) -> None:
    result = manager.run(command.format(mark=mark), timeout=0.4)
    assert result.timed_out
    assert result.error
    assert "timed out after 0.4 s" in result.error
    assert not marked(mark)


def test_who_hears_neither_request_is_killed(manager: ProcessManager, mark: str) -> None:
    result = manager.run((PYTHON, "-c", DEAF, mark), timeout=1)
    assert result.return_code == -signal.SIGKILL
    assert not marked(mark)


@pytest.mark.parametrize(
    "behind", ["sleep {} &", "setsid sleep {} &", "(sleep {} & sleep {} &);"]
)
def test_nobody_is_left_behind(manager: ProcessManager, mark: str, behind: str) -> None:
    result = manager.run(f"{behind.format(mark, mark)} echo done", timeout=60)
    assert (result.return_code, result.stdout, result.timed_out) == (0, "done\n", False)
    assert result.left_behind == behind.count("sleep")
    assert any("left behind" in note for note in result.notes)
    assert not marked(mark)


def test_a_terminal_is_a_terminal(manager: ProcessManager) -> None:
    result = manager.run(
        "test -t 0 && test -t 1 && stty size; echo >/dev/tty spoken", terminal=(33, 77)
    )
    assert "33 77" in result.stdout
    assert "spoken" in result.stdout


def test_what_is_typed_reaches_the_terminal(manager: ProcessManager) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"typed\n")
    result = manager.run("read -r x; echo [$x]", terminal=True, stdin=reading)
    assert "[typed]" in result.stdout
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize(
    "command, limits, code",
    [
        ("while :; do :; done", ProcessLimits(cpu_seconds=1), -signal.SIGKILL),
        (
            "head -c 2000000 /dev/zero > big",
            ProcessLimits(file_bytes=1_000_000),
            128 + signal.SIGXFSZ,
        ),
        (
            (PYTHON, "-c", "x = bytearray(2_000_000_000)"),
            ProcessLimits(memory_bytes=500_000_000),
            1,
        ),
    ],
)
def test_limits_hold(
    manager: ProcessManager,
    tmp_path: Path,
    command: str | tuple[str, ...],
    limits: ProcessLimits,
    code: int,
) -> None:
    result = manager.run(command, limits=limits, cwd=tmp_path)
    assert result.return_code in (code, -signal.SIGXFSZ, -signal.SIGXCPU)
    assert not result.success


@pytest.mark.parametrize(
    "command, settings, error",
    [
        (
            "true",
            {"cwd": "/no/such/folder"},
            "Working directory not found: /no/such/folder",
        ),
        ("true", {"cwd": "/etc/passwd"}, "Path is not a directory: /etc/passwd"),
        ("true", {"timeout": 0}, "more than 0 seconds"),
        ("true", {"timeout": -3}, "more than 0 seconds"),
        ("true", {"timeout": float("nan")}, "more than 0 seconds"),
        ("true", {"timeout": float("inf")}, "more than 0 seconds"),
        ("", {}, "there is no command"),
        ("  \n", {}, "there is no command"),
        ((), {}, "there is no command"),
        ("echo \0", {}, "NUL"),
        (("no-such-program-here",), {}, "no-such-program-here: not found"),
        (("/no/such",), {}, "/no/such: not found"),
        (("/etc/passwd",), {}, "not executable"),
        (("/etc/passwd/x",), {}, "not found"),
        (("/tmp",), {}, "not executable"),
        (("echo", "x" * 5_000_000), {}, "too long for the system"),
        ("no-such-program-here", {}, "(exit code 127)"),
        ("/etc/passwd", {}, "(exit code 126)"),
        ("kill -9 $$", {}, "ended by SIGKILL"),
        ("echo hm >&2; exit 3", {}, "exit code 3"),
        ("if true; then", {}, "syntax error"),
    ],
)
def test_what_went_wrong_is_said(
    manager: ProcessManager, command: str, settings: dict[str, float], error: str
) -> None:
    result = manager.run(command, **settings)  # type: ignore[arg-type]
    assert not result.success
    assert result.error
    assert error in result.error
    assert "\n" not in result.error
    assert result.as_dict()["has_errors"]


def test_a_script_without_a_first_line_is_no_program(
    manager: ProcessManager, tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text("echo hello\n")
    script.chmod(0o755)
    assert "not a program" in (manager.run((str(script),)).error or "")
    assert manager.run(str(script)).stdout == "hello\n"


def test_the_environment_is_what_is_given(manager: ProcessManager) -> None:
    assert (
        manager.run("echo $GIVEN", env={"GIVEN": "this", "PATH": os.environ["PATH"]}).stdout
        == "this\n"
    )
    os.environ["NOT_NAMED_ANYWHERE"] = "1"
    assert manager.run("echo [$NOT_NAMED_ANYWHERE]").stdout == "[]\n"


def test_what_is_taken_out_of_the_environment_is_told(
    manager: ProcessManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert manager.run("true").notes == ()
    monkeypatch.setenv("PATH", f"bin:{os.environ['PATH']}")
    assert manager.run("true").notes == ("PATH was passed without its relative folders",)
    assert manager.start("true").notes == ("PATH was passed without its relative folders",)


def test_names_that_are_no_text_come_through(
    manager: ProcessManager, tmp_path: Path
) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    os.mkdir(folder)
    result = manager.run(("printf", "%s", "\udcfe"), cwd=folder)
    assert result.stdout == "\ufffd"
    assert manager.run("pwd", cwd=folder).return_code == 0


def test_a_command_holds_its_own_streams_and_nothing_of_ours(
    manager: ProcessManager,
) -> None:
    reading, writing = os.pipe()
    held = manager.run("ls -l /proc/$$/fd; true", stdin=reading).stdout
    os.close(reading)
    os.close(writing)
    # 255 is bash's own.
    assert {line.split()[-3] for line in held.splitlines() if "->" in line} <= {
        "0",
        "1",
        "2",
        "255",
    }
    assert "socket" not in held


def test_a_reader_that_is_done_is_told_to_the_writer(manager: ProcessManager) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"abcdef")
    assert manager.run("head -c 3", stdin=reading).stdout == "abc"
    os.close(reading)
    with pytest.raises(BrokenPipeError):
        os.write(writing, b"x")
    os.close(writing)


def test_signals_that_the_owner_has_blocked_are_not_blocked(
    manager: ProcessManager,
) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGCHLD))
    try:
        assert (
            manager.run("kill -TERM $$; echo alive", timeout=60).return_code
            == -signal.SIGTERM
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def test_many_at_once(manager: ProcessManager) -> None:
    results: dict[int, str] = {}

    def run(number: int) -> None:
        results[number] = manager.run(f"sleep 0.05; echo {number}").stdout

    threads = [threading.Thread(target=run, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: f"{number}\n" for number in range(20)}
