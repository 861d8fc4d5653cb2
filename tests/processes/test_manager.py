"""Commands in the foreground and the background, and what is left of them: nothing."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from watching import eventually, marked, written

from cli_guard.errors import CliGuardError
from cli_guard.processes.manager import ProcessManager
from cli_guard.processes.model import SHOWN_CHARS, Limits

STARTUP = 0.3
PYTHON = sys.executable
DEAF = """
import signal
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
print("deaf", flush=True)
while True:
    signal.pause()
"""


def test_a_text_is_run_by_bash_and_words_by_nobody(manager: ProcessManager) -> None:
    assert manager.run("x=(a b); echo ${x[1]}").stdout == "b\n"
    assert manager.run(("echo", "$HOME", "a;b", "")).stdout == "$HOME a;b \n"
    assert manager.run("-x").return_code == 127


def test_the_streams_come_apart_and_as_they_are(manager: ProcessManager) -> None:
    seen: list[tuple[str, bytes]] = []
    result = manager.run(
        "printf 'a\\377\\n'; printf 'b\\0\\n' >&2; exit 7", on_output=lambda s, d: seen.append((s, d))
    )
    assert (result.stdout, result.stderr, result.return_code) == ("a\ufffd\n", "b\0\n", 7)
    assert sorted(seen) == [("stderr", b"b\0\n"), ("stdout", b"a\xff\n")]
    assert not result.success
    assert result.as_dict()["status"] == "error"


def test_output_comes_while_the_command_runs(manager: ProcessManager, tmp_path: Path) -> None:
    go_on = tmp_path / "go on"
    result = manager.run(
        f"echo first; while ! test -e '{go_on}'; do sleep 0.01; done; echo second",
        on_output=lambda _, data: go_on.touch(),
        timeout=60,
    )
    assert result.stdout == "first\nsecond\n"


def test_what_is_raised_meanwhile_ends_the_family(manager: ProcessManager, mark: str) -> None:
    def fail(stream: str, data: bytes) -> None:
        raise RuntimeError("in a callback")

    with pytest.raises(RuntimeError, match="in a callback"):
        manager.run(f"sleep {mark} & echo ready; wait", on_output=fail)
    assert not marked(mark)


def test_long_output_is_cut_in_the_middle_and_whole_in_the_log(manager: ProcessManager) -> None:
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
def test_a_prompt_is_answered(manager: ProcessManager, respond: str | None, expected: str) -> None:
    assert manager.run("read answer; echo [$answer]", respond=respond).stdout.strip() == expected


def test_an_answer_that_nobody_reads_is_no_reason_to_wait(manager: ProcessManager) -> None:
    assert manager.run("exec <&-; sleep 0.05; echo ok", respond="y\n" * 200_000).stdout == "ok\n"


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
def test_a_timeout_ends_the_whole_family(manager: ProcessManager, mark: str, command: str) -> None:
    result = manager.run(command.format(mark=mark), timeout=0.4)
    assert result.timed_out
    assert result.error
    assert "timed out after 0.4 s" in result.error
    assert not marked(mark)


def test_who_hears_neither_request_is_killed(manager: ProcessManager, mark: str) -> None:
    result = manager.run((PYTHON, "-c", DEAF, mark), timeout=1)
    assert result.return_code == -signal.SIGKILL
    assert not marked(mark)


@pytest.mark.parametrize("behind", ["sleep {} &", "setsid sleep {} &", "(sleep {} & sleep {} &);"])
def test_nobody_is_left_behind(manager: ProcessManager, mark: str, behind: str) -> None:
    result = manager.run(f"{behind.format(mark, mark)} echo done", timeout=60)
    assert (result.return_code, result.stdout, result.timed_out) == (0, "done\n", False)
    assert result.left_behind == behind.count("sleep")
    assert any("left behind" in note for note in result.notes)
    assert not marked(mark)


def test_a_terminal_is_a_terminal(manager: ProcessManager) -> None:
    result = manager.run("test -t 0 && test -t 1 && stty size; echo >/dev/tty spoken", terminal=(33, 77))
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
        ("while :; do :; done", Limits(cpu_seconds=1), -signal.SIGKILL),
        ("head -c 2000000 /dev/zero > big", Limits(file_bytes=1_000_000), 128 + signal.SIGXFSZ),
        ((PYTHON, "-c", "x = bytearray(2_000_000_000)"), Limits(memory_bytes=500_000_000), 1),
    ],
)
def test_limits_hold(
    manager: ProcessManager, tmp_path: Path, command: str | tuple[str, ...], limits: Limits, code: int
) -> None:
    result = manager.run(command, limits=limits, cwd=tmp_path)
    assert result.return_code in (code, -signal.SIGXFSZ, -signal.SIGXCPU)
    assert not result.success


@pytest.mark.parametrize(
    "command, settings, error",
    [
        ("true", {"cwd": "/no/such/folder"}, "Working directory not found: /no/such/folder"),
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
        (("echo", "x" * 5_000_000), {}, "longer than the system takes"),
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


def test_a_script_without_a_first_line_is_no_program(manager: ProcessManager, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("echo hello\n")
    script.chmod(0o755)
    assert "is no program" in (manager.run((str(script),)).error or "")
    assert manager.run(str(script)).stdout == "hello\n"


def test_the_environment_is_what_is_given(manager: ProcessManager) -> None:
    assert manager.run("echo $GIVEN", env={"GIVEN": "this", "PATH": os.environ["PATH"]}).stdout == "this\n"
    os.environ["NOT_NAMED_ANYWHERE"] = "1"
    assert manager.run("echo [$NOT_NAMED_ANYWHERE]").stdout == "[]\n"


def test_what_is_taken_out_of_the_environment_is_told(
    manager: ProcessManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert manager.run("true").notes == ()
    monkeypatch.setenv("PATH", f"bin:{os.environ['PATH']}")
    assert manager.run("true").notes == ("PATH was passed without its relative folders",)
    assert manager.start("true").notes == ("PATH was passed without its relative folders",)


def test_names_that_are_no_text_come_through(manager: ProcessManager, tmp_path: Path) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    os.mkdir(folder)
    result = manager.run(("printf", "%s", "\udcfe"), cwd=folder)
    assert result.stdout == "\ufffd"
    assert manager.run("pwd", cwd=folder).return_code == 0


def test_a_command_holds_its_own_streams_and_nothing_of_ours(manager: ProcessManager) -> None:
    reading, writing = os.pipe()
    held = manager.run("ls -l /proc/$$/fd; true", stdin=reading).stdout
    os.close(reading)
    os.close(writing)
    # 255 is bash's own.
    assert {line.split()[-3] for line in held.splitlines() if "->" in line} <= {"0", "1", "2", "255"}
    assert "socket" not in held


def test_a_reader_that_is_done_is_told_to_the_writer(manager: ProcessManager) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"abcdef")
    assert manager.run("head -c 3", stdin=reading).stdout == "abc"
    os.close(reading)
    with pytest.raises(BrokenPipeError):
        os.write(writing, b"x")
    os.close(writing)


def test_signals_that_the_owner_has_blocked_are_not_blocked(manager: ProcessManager) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGCHLD))
    try:
        assert manager.run("kill -TERM $$; echo alive", timeout=60).return_code == -signal.SIGTERM
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


# In the background.


def test_a_background_process_is_listed_logged_and_stopped(manager: ProcessManager, mark: str) -> None:
    begun = manager.start(f"echo begun; sleep {mark}", startup_timeout=STARTUP)
    assert (begun.state, begun.success, begun.stdout) == ("ready", True, "begun\n")
    assert begun.pid is not None
    [process] = manager.processes()
    assert (process.pid, process.running, process.command) == (begun.pid, True, f"echo begun; sleep {mark}")
    assert manager.logs(begun.pid) == "begun\n"
    stopped = manager.stop(begun.pid)
    assert (stopped.success, stopped.method) == (True, "graceful")
    assert not marked(mark)
    [process] = manager.processes()
    assert (process.running, process.return_code) == (False, -signal.SIGINT)
    assert manager.logs(begun.pid) == "begun\n"
    assert "had ended before" in manager.stop(begun.pid).message


@pytest.mark.parametrize("force", [False, True])
def test_stopping_ends_those_who_started_sessions_of_their_own(
    manager: ProcessManager, mark: str, force: bool
) -> None:
    begun = manager.start(f"setsid sleep {mark} & (sleep {mark} &); sleep {mark}", startup_timeout=STARTUP)
    assert begun.pid is not None
    assert eventually(lambda: len(marked(mark)) >= 3)
    assert manager.stop(begun.pid, force=force).method == ("forced" if force else "graceful")
    assert not marked(mark)


def test_who_does_not_hear_is_forced(manager: ProcessManager, mark: str) -> None:
    begun = manager.start((PYTHON, "-u", "-c", DEAF, mark), startup_timeout=STARTUP)
    assert begun.pid is not None
    assert eventually(lambda: manager.logs(begun.pid or 0) == "deaf\n")
    stopped = manager.stop(begun.pid, force=True)
    assert stopped.return_code == -signal.SIGKILL
    assert not marked(mark)


def test_all_are_stopped_at_the_same_time(manager: ProcessManager, mark: str) -> None:
    pids = {manager.start((PYTHON, "-c", DEAF, mark), startup_timeout=STARTUP).pid for _ in range(3)}
    begun = time.monotonic()
    assert {each.pid for each in manager.stop_all() if each.success} == pids
    # One after the other would take three times the deadline of five seconds.
    assert time.monotonic() - begun < 12
    assert not marked(mark)


@pytest.mark.parametrize(
    "command, state, code", [("echo done", "exited", 0), ("echo no; exit 4", "failed", 4)]
)
def test_one_that_ends_at_once_is_told(manager: ProcessManager, command: str, state: str, code: int) -> None:
    begun = manager.start(command, startup_timeout=20)
    assert (begun.state, begun.return_code, begun.success) == (state, code, False)
    assert begun.error
    assert begun.stdout == command.split()[1].strip(";") + "\n"
    data = begun.as_dict()
    assert {"status", "success", "error", "output", "errors", "has_errors", "log_file"} <= data.keys()


def test_one_whose_child_goes_on_goes_on(manager: ProcessManager, mark: str) -> None:
    begun = manager.start(f"(sleep {mark} &); echo parent", startup_timeout=STARTUP)
    assert begun.state == "ready"
    assert begun.pid is not None
    assert manager.processes()[0].running
    assert manager.stop(begun.pid).success
    assert not marked(mark)


def test_a_process_that_is_not_ours_is_left_alone(manager: ProcessManager) -> None:
    with subprocess.Popen(("sleep", "60")) as other:
        stopped = manager.stop(other.pid)
        assert not stopped.success
        assert "was not started here" in (stopped.error or "")
        assert other.poll() is None
        other.kill()
    assert not manager.stop(2**22 + 1).success
    with pytest.raises(CliGuardError, match="was not started here"):
        manager.logs(1)
    with pytest.raises(CliGuardError, match="was not started here"):
        manager.follow(1)


def test_a_later_process_of_the_same_number_is_not_ours(tmp_path: Path, mark: str) -> None:
    with ProcessManager(tmp_path / "runs") as manager, subprocess.Popen(("sleep", "60")) as other:
        begun = manager.start(f"sleep {mark}", startup_timeout=STARTUP)
        assert begun.pid and begun.log_file
        record = Path(begun.log_file).with_name("run.json")
        text = record.read_text()
        guardian = next(p for p in psutil.Process(begun.pid).parents())
        for pid in (begun.pid, guardian.pid):
            record.write_text(record.read_text().replace(f": {pid}", f": {other.pid}"))
        [process] = manager.processes()
        assert (process.pid, process.running) == (other.pid, False)
        assert manager.stop(other.pid).success
        assert other.poll() is None
        other.kill()
        record.write_text(text)
        assert manager.stop(begun.pid, force=True).success


def test_one_that_is_killed_from_outside_is_reaped(manager: ProcessManager, mark: str) -> None:
    begun = manager.start(f"sleep {mark}", startup_timeout=STARTUP)
    assert begun.pid
    os.kill(begun.pid, signal.SIGKILL)
    assert eventually(lambda: not manager.processes()[0].running)
    assert manager.processes()[0].return_code == -signal.SIGKILL
    assert not psutil.pid_exists(begun.pid)


def test_a_guardian_that_is_killed_takes_the_family_with_it(manager: ProcessManager, mark: str) -> None:
    begun = manager.start(f"setsid sleep {mark} & sleep {mark}", startup_timeout=STARTUP)
    assert begun.pid
    psutil.Process(begun.pid).parent().kill()  # type: ignore[union-attr]
    assert eventually(lambda: not marked(mark))
    assert eventually(lambda: not manager.processes()[0].running)
    assert manager.stop(begun.pid).success


def test_a_foreground_command_whose_guardian_is_killed_is_told(manager: ProcessManager, mark: str) -> None:
    def kill(stream: str, data: bytes) -> None:
        psutil.Process(int(data)).parent().kill()  # type: ignore[union-attr]

    result = manager.run(f"echo $$; sleep {mark}", on_output=kill)
    assert "watched over it was killed" in (result.error or "")
    assert eventually(lambda: not marked(mark))


def test_a_keeper_that_is_killed_is_started_anew(manager: ProcessManager, mark: str) -> None:
    begun = manager.start(f"sleep {mark}", startup_timeout=STARTUP)
    assert begun.pid
    keeper = psutil.Process(begun.pid).parent().parent()  # type: ignore[union-attr]
    assert keeper
    keeper.kill()
    assert eventually(lambda: not keeper.is_running() or keeper.status() == psutil.STATUS_ZOMBIE)
    assert manager.run("echo again").stdout == "again\n"
    assert manager.stop(begun.pid).success
    assert not marked(mark)


OWNER = """
import sys, time
from pathlib import Path
from cli_guard.processes.manager import ProcessManager
folder, mark, keep = sys.argv[1:4]
manager = ProcessManager(Path(folder) if folder else None, keep=keep == "keep")
begun = manager.start(f"setsid sleep {mark} & sleep {mark}", startup_timeout=0.3)
print(manager.folder, begun.pid, flush=True)
if sys.argv[4] == "foreground":
    manager.run(f"setsid sleep {mark} & sleep {mark}")
elif sys.argv[4] == "wait":
    time.sleep(600)
"""


def owner(*arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen((PYTHON, "-c", OWNER, *arguments), stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("doing, least", [("wait", 2), ("foreground", 4)])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_outlives_its_owner(mark: str, doing: str, least: int, number: int) -> None:
    with owner("", mark, "", doing) as process:
        assert process.stdout
        folder, _ = process.stdout.readline().split()
        assert eventually(
            lambda: len([p for p in marked(mark) if psutil.Process(p).name() == "sleep"]) >= least
        )
        process.send_signal(number)
        process.wait(30)
        assert eventually(lambda: not marked(mark))
        assert eventually(lambda: not Path(folder).exists())


def test_what_is_kept_outlives_its_owner_and_is_found_again(mark: str, tmp_path: Path) -> None:
    with owner(str(tmp_path / "runs"), mark, "keep", "end") as process:
        assert process.stdout
        pid = int(process.stdout.readline().split()[1])
        process.wait(30)
    with ProcessManager(tmp_path / "runs", keep=True) as manager:
        [found] = manager.processes()
        assert (found.pid, found.running) == (pid, True)
        assert manager.stop(pid).success
        assert not marked(mark)


def test_one_that_is_let_go_of_ends_nothing_that_is_kept(mark: str, tmp_path: Path) -> None:
    with ProcessManager(tmp_path / "runs", keep=True) as first:
        pid = first.start(f"sleep {mark}", startup_timeout=STARTUP).pid
    with ProcessManager(tmp_path / "runs") as second:
        assert pid and second.processes()[0].running
        assert second.stop(pid, force=True).success


def test_ten_managers_on_one_registry(mark: str, tmp_path: Path) -> None:
    managers = [ProcessManager(tmp_path / "runs") for _ in range(10)]
    threads = [
        threading.Thread(target=each.start, args=(f"sleep {mark}",), kwargs={"startup_timeout": STARTUP})
        for each in managers
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([each for each in managers[0].processes() if each.running]) == 10
    assert all(each.success for each in managers[3].stop_all())
    assert not marked(mark)
    for each in managers:
        each.close()


def test_a_log_is_followed_to_the_end(manager: ProcessManager) -> None:
    begun = manager.start("for i in 1 2 3; do echo $i; sleep 0.2; done", startup_timeout=0.05)
    assert begun.pid
    assert b"".join(manager.follow(begun.pid)) == b"1\n2\n3\n"


def test_the_last_lines_of_a_log(manager: ProcessManager) -> None:
    pid = manager.start("seq 100000; echo -n end", startup_timeout=20).pid
    assert pid
    assert manager.logs(pid, 3) == "99999\n100000\nend"
    assert manager.logs(pid, 0) == ""
    assert len(manager.logs(pid, 90_000).splitlines()) == 90_000


def test_a_record_that_is_broken_is_none(tmp_path: Path, mark: str) -> None:
    with ProcessManager(tmp_path) as manager:
        begun = manager.start(f"sleep {mark}", startup_timeout=STARTUP)
        for number, text in enumerate(("", "{", "[]", '{"pid": "x"}', '{"pid": 1}', "\0" * 100)):
            (tmp_path / f"broken{number}").mkdir()
            (tmp_path / f"broken{number}" / "run.json").write_text(text)
        assert [each.pid for each in manager.processes()] == [begun.pid]


def test_a_folder_that_takes_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with ProcessManager(tmp_path / "file") as manager:
        assert "no log can be written" in (manager.run("true").error or "")
        assert "no log can be written" in (manager.start("true").error or "")


def test_a_port_that_is_taken_is_told(manager: ProcessManager) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        data = manager.start("sleep 60", port=port).as_dict()
    assert data["error"] == f"Port {port} is already in use"
    assert (data["port"], data["success"], data["blocking_pid"]) == (port, False, os.getpid())


def test_a_server_is_ready_when_it_answers(manager: ProcessManager) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = f"sleep 0.5; exec {PYTHON} -m http.server {port} --bind 127.0.0.1"
    begun = manager.start(command, port=port, startup_timeout=60)
    assert (begun.state, begun.port) == ("ready", port)
    socket.create_connection(("127.0.0.1", port)).close()
    assert begun.pid
    assert manager.stop(begun.pid).success


def test_a_server_that_does_not_answer_goes_on_starting(manager: ProcessManager, mark: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    begun = manager.start(f"sleep {mark}", port=port, startup_timeout=STARTUP)
    assert (begun.state, begun.success) == ("starting", False)
    assert "does not answer yet" in (begun.error or "")
    assert len(marked(mark)) > 0


def test_secrets_of_a_command_are_not_written_down(manager: ProcessManager, mark: str) -> None:
    key = "AKIA" + "Q3EGRI4ZVXNP7K2W"
    manager.start(f"AWS_ACCESS_KEY_ID={key} sleep {mark}", startup_timeout=STARTUP)
    assert key not in manager.processes()[0].command
    assert all(key not in written(file) for file in manager.folder.rglob("*.json"))


def test_a_log_that_has_lost_its_beginning_is_told(manager: ProcessManager) -> None:
    begun = manager.start("head -c 60000000 /dev/zero", startup_timeout=60)
    assert begun.state == "exited"
    assert begun.notes == ("the log has outgrown its limit: its beginning was let go",)
